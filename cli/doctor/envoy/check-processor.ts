import { type CheckResult, failed, warning } from '../check-result.ts'
import { at, messages, type Message, textAt } from './message.ts'
import type { Gateway } from './read-envoy-dump.ts'

/** Long enough for the scan of a large body behind others; the default of Envoy is 0.2 s. */
const MESSAGE_TIMEOUT_MIN_S = 5

export function checkProcessor({ config, filters, index, listener }: Gateway): CheckResult[] {
  const check = `envoy ${listener}: ext_proc`
  const found: CheckResult[] = []
  const fail = (says: string, advice: string): void => void found.push(failed(check, says, advice))
  const warn = (says: string, advice: string): void => void found.push(warning(check, says, advice))
  const mode = (name: string): string => textAt(config, 'processing_mode', name) || 'DEFAULT'
  const overrides = config['allow_mode_override'] === true
  if (config['failure_mode_allow'] === true)
    fail('calls go on without a decision when a processor fails', 'Set failure_mode_allow: false.')
  if (at(config, 'mutation_rules', 'disallow_is_error') !== true)
    fail(
      'a change that Envoy does not apply is ignored, so a call could be forwarded half changed',
      'Set mutation_rules: { disallow_is_error: true }.',
    )
  if (!overrides)
    fail(
      'processors cannot ask for bodies and responses, which then are not inspected',
      'Set allow_mode_override: true.',
    )
  if (!overrides && mode('response_trailer_mode') !== 'SEND')
    fail(
      'Envoy closes the stream after the decision, so a kill cannot cut a call',
      'Set processing_mode.response_trailer_mode: SEND and allow_mode_override: true.',
    )
  if (mode('request_header_mode') === 'SKIP')
    fail('processors get no calls', 'Set processing_mode.request_header_mode: SEND.')
  if (mode('request_trailer_mode') !== 'SEND')
    warn(
      'request trailers are forwarded without inspection',
      'Set processing_mode.request_trailer_mode: SEND.',
    )
  if (seconds(textAt(config, 'message_timeout')) < MESSAGE_TIMEOUT_MIN_S)
    warn(
      'the scan of a large body may take longer than message_timeout; its call is then refused',
      'Set message_timeout: 20s.',
    )
  if (textAt(config, 'max_message_timeout') === '')
    warn(
      'a call that waits for an approval is refused after message_timeout',
      'Set max_message_timeout: 320s, or AGW_APPROVAL_MAX_WAIT: 0s for the processors.',
    )
  if (!JSON.stringify(config['metadata_options'] ?? '').includes('"agw"'))
    warn(
      'the access log and rate limit headers lack what processors note of a call',
      'Set metadata_options: { receiving_namespaces: { untyped: [agw] } }.',
    )
  // Only among filters of others is it needed: see envoy/as-parts.ts.
  const isAmongOthers = filters[index]?.['disabled'] === true
  if (isAmongOthers && !listOf(config['response_attributes']).includes('response.code_details'))
    warn(
      'responses of other filters cannot be distinguished from those of APIs: a redirect to a sign-in page is withheld, and the activity log attributes it to the API',
      'Set response_attributes: [response.code_details].',
    )
  return found
}

/** Whether the log of allowed calls arrives, which their entries wait for. */
export function checkAccessLog({ config, listener, manager }: Gateway): CheckResult[] {
  const check = `envoy ${listener}: access log`
  const logs = messages(manager['access_log'])
  const isSent = logs.some(
    (log) => textAt(log, 'typed_config', 'common_config', 'log_name') === 'calls',
  )
  const isAwaited =
    textAt(config, 'grpc_service', 'envoy_grpc', 'authority') === 'agw-with-access-log'
  return isAwaited && !isSent
    ? [
        failed(
          check,
          'the filter announces an access log, but none is sent: allowed calls are missing in the activity log',
          'Add the access_log part of agw envoy-config, or remove grpc_service.envoy_grpc.authority.',
        ),
      ]
    : logs.flatMap((log) => printed(check, log))
}

/** Headers that hold credentials once a call has passed. */
const SECRET_HEADERS =
  /^(?:authorization|proxy-authorization|cookie|x-agw-pass|[a-z0-9-]*(?:api-?key|token|secret)[a-z0-9-]*)$/

function printed(check: string, log: Message): CheckResult[] {
  const text = JSON.stringify(log)
  const headers = [
    ...text.matchAll(/%(?:REQ|REQUEST_HEADER)\(([^)?:]+)(?:\?([^)]+))?\)/gi),
  ].flatMap(([, first = '', second = '']) => [first, second])
  const sent = at(log, 'typed_config', 'additional_request_headers_to_log')
  const all = [...headers, ...(Array.isArray(sent) ? sent.map(String) : [])]
  const secret = all.find((name) => SECRET_HEADERS.test(name.toLowerCase()))
  return secret === undefined
    ? []
    : [
        failed(
          check,
          `an access log prints the request header ${secret.toLowerCase()}, which holds the credential of the API after a call has passed`,
          'Remove it from the format.',
        ),
      ]
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
const seconds = (duration: string): number => (duration === '' ? 0.2 : Number.parseFloat(duration))
