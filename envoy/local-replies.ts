import { writeJsonRpcError } from '../core/catalogue/write-json-rpc-error.ts'
import { NO_RETRY } from '../core/catalogue/no-retry.ts'
import { REASONS } from '../core/catalogue/reasons.ts'
import type { Reason } from '../core/catalogue/reasons.ts'
import { OTHER_ROUTE_DETAILS } from '../core/catalogue/other-route-details.ts'

/** Which of Envoy's own answers a reason stands for: a CEL expression over the finished call. */
interface Mapping {
  readonly reason: Reason
  readonly when: string
  /** Overrides the status of the catalogue. */
  readonly status?: number
  readonly details?: Readonly<Record<string, unknown>>
  /** Instead of that of the reason. */
  readonly message?: string
  /** Only where the processor has noted this. */
  readonly if_noted?: string
  /** Whether the API may have processed the call, so that no SDK should repeat it. */
  readonly was_called?: true
}

/** Envoy had a connection and sent the request, and no valid response came; its other resets are failures to connect. */
const RESET_DETAILS = ['connection_termination', 'protocol_error', 'remote_reset'].map(
  (cause) => `upstream_reset_before_response_started{${cause}`,
)

/** The processor sets it with its pass; it holds no character that JSON escapes. */
const BASE_URL = '%FILTER_STATE(agw.base_url:PLAIN)%'

const OTHER_FILTER =
  'Another filter of Envoy refused the call, so another attempt does not help. An operator must remove it from the listener of the gateway.'

const HTTP_10 =
  'HTTP/1.0 is not supported. Use HTTP/1.1 or HTTP/2; in a proxy in front of the gateway, such as nginx (proxy_http_version 1.1), too.'

/**
 * Envoy's own answers as the error body of the gateway. The first mapper that matches decides; the very first leaves the
 * processor's refusals (their code details begin with `agw_`) as they are, since a format would overwrite them.
 * @param opensTunnels whether CONNECT is served
 */
export function localReplies(
  limits: { readonly body_bytes: number },
  requestId: string,
  opensTunnels = false,
): object {
  return {
    mappers: [
      {
        filter: cel("response.code_details.startsWith('agw_')"),
        headers_to_add: [header('x-agw-request-id', requestId)],
      },
      ...mappings(limits, opensTunnels).flatMap((mapping) => [
        mapper(mapping, requestId, JSON_RPC_ID),
        mapper(mapping, requestId, null),
      ]),
    ],
  }
}

const mappings = (
  limits: { readonly body_bytes: number },
  opensTunnels: boolean,
): readonly Mapping[] => [
  // The admin service is a part of this gateway; its absence is no error of an upstream.
  {
    reason: 'gateway_unavailable',
    when: "(xds.route_name == 'admin' || xds.route_name == 'agents-door') && response.code >= 500",
  },
  {
    reason: 'upgrade_not_supported',
    status: 400,
    when: `response.code_details == 'upgrade_failed'${opensTunnels ? '' : " || request.method == 'CONNECT'"}`,
  },
  ...bodyTooLarge(limits.body_bytes),
  {
    reason: 'response_too_large',
    when: detailsBeginWith('response_payload_too_large'),
    details: { limit_bytes: limits.body_bytes },
    was_called: true,
  },
  { reason: 'request_timeout', when: 'response.code == 408' },
  { reason: 'headers_too_large', when: 'response.code == 431' },
  // An allowed call whose new path matches a route of somebody else: envoy/only-own-routes.ts.
  {
    reason: 'gateway_unavailable',
    when: detailsBeginWith(OTHER_ROUTE_DETAILS),
  },
  // Envoy itself refuses no allowed call with these: another filter stands behind the processor.
  {
    reason: 'gateway_unavailable',
    when: "'x-agw-pass' in request.headers && response.code in [401, 403, 429]",
    details: { cause: OTHER_FILTER },
  },
  {
    reason: 'bad_request',
    when: "response.code_details == 'low_version'",
    message: HTTP_10,
    details: { reason: 'http_version' },
  },
  // 501 is Envoy's answer to a Transfer-Encoding other than `chunked`.
  {
    reason: 'bad_request',
    when: '(response.code >= 400 && response.code < 500) || response.code == 501',
  },
  // No verdict, in three shapes: the processor failed, it ended without one, or nothing can be admitted at all.
  {
    reason: 'gateway_unavailable',
    when: `xds.route_name == 'no-verdict' || ${detailsBeginWith('ext_proc', 'overload')}`,
  },
  {
    reason: 'upstream_timeout',
    when: 'response.code == 504',
    details: { base_url: BASE_URL },
    was_called: true,
  },
  {
    reason: 'upstream_reset',
    when: detailsBeginWith(...RESET_DETAILS),
    details: { base_url: BASE_URL },
    was_called: true,
  },
  {
    reason: 'upstream_unreachable',
    when: detailsBeginWith('dns_', 'upstream_', 'no_healthy_upstream'),
    details: { base_url: BASE_URL },
  },
  { reason: 'gateway_unavailable', when: 'response.code >= 500' },
]

/** With the check that reads the body, where the processor has noted it. */
function bodyTooLarge(limit_bytes: number): readonly Mapping[] {
  const when = `response.code == 413 || (response.code == 408 && request.size > ${limit_bytes})`
  const held_by = '%DYNAMIC_METADATA(agw:h)%'
  return [
    { reason: 'request_too_large', when, details: { limit_bytes, held_by }, if_noted: 'h' },
    { reason: 'request_too_large', when, details: { limit_bytes } },
  ]
}

const detailsBeginWith = (...texts: readonly string[]): string =>
  texts.map((text) => `response.code_details.startsWith('${text}')`).join(' || ')

/** The processor notes it for calls of MCP: JSON text in ASCII. */
const JSON_RPC_ID = '%DYNAMIC_METADATA(agw:j)%'
const noted = (key: string): object => ({
  metadata_filter: {
    matcher: { filter: 'agw', path: [{ key }], value: { present_match: true } },
    match_if_key_not_found: false,
  },
})

/** @param json_rpc_id null for calls that are not MCP */
function mapper(
  {
    reason,
    when,
    details = {},
    status = REASONS[reason].status,
    message,
    if_noted,
    was_called,
  }: Mapping,
  requestId: string,
  json_rpc_id: string | null,
): object {
  const error = {
    error: reason,
    message: message ?? REASONS[reason].message,
    details,
    request_id: '',
  }
  const text =
    json_rpc_id === null ? JSON.stringify(error) : writeJsonRpcError(error, json_rpc_id, status)
  const notes = [if_noted, json_rpc_id === null ? undefined : 'j'].flatMap((key) =>
    key === undefined ? [] : [noted(key)],
  )
  return {
    filter: notes.length === 0 ? cel(when) : { and_filter: { filters: [...notes, cel(when)] } },
    status_code: status,
    body_format_override: {
      // The id of the call is not escaped: it is a command of Envoy, whose text has quotes in it.
      text_format_source: {
        inline_string: text.replaceAll('"request_id":""', `"request_id":"${requestId}"`),
      },
      content_type: 'application/json',
    },
    headers_to_add: [
      header('x-agw-reason', reason),
      header('x-agw-request-id', requestId),
      ...(was_called === true ? NO_RETRY.map(({ name, value }) => header(name, value)) : []),
    ],
  }
}

const header = (key: string, value: string) => ({
  header: { key, value },
  append_action: 'OVERWRITE_IF_EXISTS_OR_ADD',
})

const cel = (expression: string) => ({
  extension_filter: {
    name: 'envoy.access_loggers.extension_filters.cel',
    typed_config: {
      '@type':
        'type.googleapis.com/envoy.extensions.access_loggers.filters.cel.v3.ExpressionFilter',
      expression,
    },
  },
})
