import { OTHER_ROUTE_DETAILS } from '../../core/catalogue/other-route-details.ts'
import type { Reason } from '../../core/catalogue/reasons.ts'
import type { FinishedCall } from './read-access-log.ts'

type CallOutcome =
  | 'answered'
  | 'caller_left'
  | 'timeout'
  | 'unreachable'
  | 'reset'
  | 'cut'
  /** Something in Envoy other than the gateway answered the call in place of the API. */
  | 'not_sent'

/** How an allowed call has ended. */
export interface CallEnd {
  /** `blocked`: the API has answered, and Envoy withheld the response. */
  readonly decision: 'allowed' | 'blocked' | 'terminated'
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
  const lacksRoute = isWithoutRoute(call)
  const outcome = isOurs ? 'cut' : lacksRoute ? 'not_sent' : outcomeOf(call)
  const upstream = {
    outcome,
    details: details.slice(0, FAILURE_TEXT_LIMIT),
    ...(upstream_failure === '' ? {} : { failure: upstream_failure.slice(0, FAILURE_TEXT_LIMIT) }),
    ...(lacksRoute ? { cause: NO_ROUTE } : {}),
  }
  return {
    decision: isOurs ? 'terminated' : details === TOO_LARGE ? 'blocked' : 'allowed',
    reason: isOurs || lacksRoute ? 'gateway_unavailable' : reasonOf(outcome, details, status),
    outcome,
    upstream: JSON.stringify(upstream),
  }
}

/** A response that had to be buffered for inspection, and was longer than Envoy's buffer. */
const TOO_LARGE = 'response_payload_too_large'

const NO_ROUTE =
  'No route of the gateway in Envoy matched the allowed call: the verdict secret of Envoy is not AGW_VERDICT_SECRET, a route is missing, or one of another part of Envoy stands before it. See agw doctor --envoy-admin.'

/** The routes that take calls without a verdict, by their names in envoy/bootstrap.yaml and what it is rendered to. */
const NO_VERDICT = /(?:^|-)no-verdict(?:-|$)/

const isWithoutRoute = ({ route_name, details }: FinishedCall): boolean =>
  details === 'route_not_found' ||
  details.startsWith(OTHER_ROUTE_DETAILS) ||
  (NO_VERDICT.test(route_name) && /^(?:no_healthy_upstream|direct_response)$/.test(details))

/** How Envoy's own details begin for a call that a processor has allowed. Any others are those of another filter or route. */
const OF_ENVOY =
  /^(?:$|via_upstream|upstream_|downstream_|dns_|no_healthy_upstream|cluster_not_found|http[123]\.|codec_error|request_(?:payload_too_large|header_timeout|overall_timeout)|response_payload_too_large|stream_idle_timeout|max_duration_timeout|duration_timeout|upgrade_failed|filter_removed_required|internal_redirect)/

function outcomeOf({ flags, details }: FinishedCall): CallOutcome {
  const found = FLAGS.find(([, fields]) => fields.some((field) => flags.includes(field)))?.[0]
  return found ?? (OF_ENVOY.test(details) ? 'answered' : 'not_sent')
}

/** Matches envoy/local-replies.ts. After the first byte of the upstream, the gateway sends no response of its own. */
function reasonOf(outcome: CallOutcome, details: string, status: number): Reason | null {
  if (details === 'via_upstream' || status < 400) return null
  if (outcome === 'caller_left' || outcome === 'not_sent') return null
  if (details === TOO_LARGE) return 'response_too_large'
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
