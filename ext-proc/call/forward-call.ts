import { credentialTypeOf } from '../../core/credential/catalogue.ts'
import {
  applyCredential,
  type CredentialEffect,
  echoedSecret,
  withHeaders,
} from '../../core/policy/apply-credential.ts'
import type { CompiledIntegration } from '../../core/policy/compile-integrations.ts'
import { appendVia } from '../../core/policy/request-headers.ts'
import type { Header } from '../../core/policy/header.ts'
import type { EffectiveSettings } from '../../core/policy/merge-settings.ts'
import { type Quota, rateValues } from '../rate/rate-headers.ts'
import { inspectResponse } from '../response/inspect-response.ts'
import { type Call, deny } from './call.ts'
import type { SentBody } from './hold-body.ts'
import { denyCredential, type ReadyCredential } from './ready-credential.ts'
import type { Answer } from './call-stream.ts'
import type { AskedCall } from './check-scope.ts'

export interface PassedSteps {
  /** Null where nobody looked at it. */
  readonly body: SentBody | null
  readonly credential: ReadyCredential
  readonly installation: string
  readonly settings: EffectiveSettings
  /** What is left of the rate limit; null where there is none. */
  readonly quota: Quota | null
  readonly lists_tools: boolean
}

/** The last steps: the credential, and the changes that make Envoy forward the call. */
export function forwardCall(
  call: Call,
  asked: AskedCall,
  { body, credential, installation, settings, quota, lists_tools }: PassedSteps,
): Answer {
  const { parts, head, record } = call
  const { identity, integration, target, outgoing } = asked
  const { cookie, remove } = outgoing
  const effect =
    credential.kind === 'plain'
      ? applyCredential(credential.auth, outgoing.raw_query)
      : signCall(call, asked, credential)
  if (effect.kind !== 'applied') return denyCredential(call, asked, { cause: 'not_a_header' })
  // The last look before the verdict: nothing is awaited between here and the answer.
  const { agent } = identity
  const killed_at = parts.killBoard.killedAt(agent.organization_id, agent.agent_id)
  if (killed_at !== null)
    return { kind: 'deny', denial: { reason: 'agent_killed', details: { killed_at }, status: 503 } }
  if (!parts.mayServe()) return deny(record, 'lease', 'gateway_unavailable')
  record.mark('credential', 'pass')
  const plain = credential.kind === 'plain' ? credential : null
  const inspector = inspectResponse({
    place: {
      target,
      base_url: integration.base.base_url,
      path: head.path,
      called: head,
      gateway: parts.settings.gateway,
    },
    settings,
    pool: parts.pool,
    limit_bytes: parts.settings.max_body_bytes,
    query_secret: plain === null ? null : echoedSecret(plain.auth),
    onUnauthorized: plain?.onUnauthorized ?? null,
    lists_tools,
    onFinding: (data) => record.foundInResponse(data),
  })
  return {
    kind: 'pass',
    inspector,
    rate: quota === null ? null : rateValues(quota),
    changes: {
      set: [
        {
          name: ':path',
          value:
            effect.raw_query === null ? target.raw_path : `${target.raw_path}?${effect.raw_query}`,
        },
        { name: 'x-agw-host', value: authorityOf(integration) },
        {
          name: 'x-agw-up',
          value: integration.base.origin === parts.settings.echo_origin ? 'echo' : target.scheme,
        },
        { name: 'x-agw-pass', value: parts.settings.verdict_secret },
        { name: 'x-agw-base-url', value: integration.base.base_url },
        // Before the credential, which may be a cookie of its own.
        ...(cookie === null ? [] : [{ name: 'cookie', value: cookie }]),
        ...effect.headers,
        ...(inspector.may_read_body ? readableEncodings(outgoing.headers, lists_tools) : []),
        ...(installation === ''
          ? []
          : [{ name: 'via', value: appendVia(outgoing.headers, installation) }]),
        ...(body?.is_cut && head.content_length !== null
          ? [{ name: 'content-length', value: String(body.bytes.length) }]
          : []),
      ],
      remove: remove.filter(isOursToRemove),
      body: body?.is_cut ? body.bytes : null,
    },
  }
}

/** Signs the request as the API will see it. */
function signCall(
  { parts, head }: Call,
  { integration, target, outgoing }: AskedCall,
  { auth, payload }: Extract<ReadyCredential, { readonly kind: 'signature' }>,
): CredentialEffect {
  const { application } = credentialTypeOf(auth.type)
  if (application.kind !== 'signature') throw new Error(`${auth.type} does not sign`)
  const { raw_query } = outgoing
  const kept = outgoing.headers.filter(({ name }) => application.signs(name))
  const signed = application.sign(
    auth,
    {
      method: head.method,
      raw_path: target.raw_path,
      raw_query,
      headers: [{ name: 'host', value: authorityOf(integration) }, ...kept],
      payload,
    },
    parts.nowMs(),
  )
  return withHeaders(signed, raw_query)
}

/**
 * What Envoy keeps from the upstream by itself: a processor may not touch `x-envoy-…`, and without
 * `x-forwarded-proto` no route matches.
 */
const isOursToRemove = (name: string): boolean =>
  !name.startsWith('x-envoy-') && name !== 'x-forwarded-proto'

/** Host and port come from the integration, never from the caller's text (threats.md 4). */
const authorityOf = ({ base }: CompiledIntegration): string =>
  base.origin.slice(base.origin.indexOf('//') + 2)

const READABLE = ['gzip', 'deflate', 'br', 'identity']

/** The response must come in an encoding that can be undone (threats.md 13); a list of tools is cut in the clear. */
function readableEncodings(headers: readonly Header[], lists_tools: boolean): readonly Header[] {
  const asked = headers.find(({ name }) => name === 'accept-encoding')
  if (asked === undefined) return []
  const kept = lists_tools
    ? []
    : asked.value
        .split(',')
        .map((item) => item.trim())
        .filter((item) => READABLE.includes(item.split(';', 1)[0]?.trim().toLowerCase() ?? ''))
  return [{ name: 'accept-encoding', value: kept.length === 0 ? 'identity' : kept.join(', ') }]
}
