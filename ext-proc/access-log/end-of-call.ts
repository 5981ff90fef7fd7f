import type { Reason } from '../../core/reasons.ts'
import type { FinishedCall } from './read-access-log.ts'

type CallOutcome = 'answered' | 'caller_left' | 'timeout' | 'unreachable' | 'reset' | 'cut'

/** How an allowed call has ended. */
export interface CallEnd {
  readonly decision: 'allowed' | 'terminated'
  /** The error code that the gateway sent; null if the response of the upstream was forwarded. */
  readonly reason: Reason | null
  readonly outcome: CallOutcome
  /** JSON of `data.upstream`. */
  readonly upstream: string
}

/** Fields of ResponseFlags, by what they say of the upstream; the first that is set counts. */
const FLAGS: readonly (readonly [outcome: CallOutcome, fields: readonly number[]])[] = [
  ['caller_left', [15, 28, 19]],
  ['timeout', [3, 17, 20, 23]],
  ['unreachable', [2, 6, 8, 9, 25, 27]],
  ['reset', [4, 5, 7, 16, 24]],
]

const ANSWERED: CallEnd = {
  decision: 'allowed',
  reason: null,
  outcome: 'answered',
  upstream: '{"outcome":"answered"}',
}
const FAILURE_TEXT_LIMIT = 200

export function endOfCall(call: FinishedCall): CallEnd {
  const { flags, details, upstream_failure, status } = call
  if (flags.length === 0 && details === 'via_upstream') return ANSWERED
  // Envoy ends a call with these if its processor is unavailable or overloaded.
  const isOurs = details.startsWith('ext_proc') || details.startsWith('overload')
  const outcome = isOurs
    ? 'cut'
    : (FLAGS.find(([, fields]) => fields.some((field) => flags.includes(field)))?.[0] ?? 'answered')
  const upstream = {
    outcome,
    details: details.slice(0, FAILURE_TEXT_LIMIT),
    ...(upstream_failure === '' ? {} : { failure: upstream_failure.slice(0, FAILURE_TEXT_LIMIT) }),
  }
  return {
    decision: isOurs ? 'terminated' : 'allowed',
    reason: isOurs ? 'gateway_unavailable' : reasonOf(outcome, details, status),
    outcome,
    upstream: JSON.stringify(upstream),
  }
}

/** Matches envoy/local-replies.ts. After the first byte of the upstream, the gateway sends no response of its own. */
function reasonOf(outcome: string, details: string, status: number): Reason | null {
  if (details === 'via_upstream' || outcome === 'caller_left' || status < 400) return null
  if (status === 504) return 'upstream_timeout'
  if (status === 413) return 'request_too_large'
  if (status === 408) return 'request_timeout'
  if (status === 501) return 'bad_request'
  if (
    /^upstream_reset_before_response_started\{(connection_termination|protocol_error|remote_reset)/.test(
      details,
    )
  )
    return 'upstream_reset'
  if (/^(dns_|upstream_|no_healthy_upstream)/.test(details)) return 'upstream_unreachable'
  return status >= 500 ? 'gateway_unavailable' : 'bad_request'
}
