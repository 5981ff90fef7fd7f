import type { Admitted } from '../../core/decision/admission.ts'
import type { AutoKiller } from '../kill/make-auto-killer.ts'
import { rateValues, type RateValues, refusalHeaders } from '../rate/rate-headers.ts'
import type { RateCounter, RateTaken } from '../rate/rate-taker.ts'
import { type Deny, deny, pass, type Step } from '../verdict/step.ts'
import type { CallIo } from './call-io.ts'
import { causeOf } from './cause-of.ts'

export interface RateServices {
  readonly takeRate: (counter: RateCounter) => Promise<RateTaken>
  /** Why no decision can be made now, for the caller; null if that is not known. */
  readonly whyUnavailable: (error: unknown) => string | null
  /** Kills an agent automatically. The call that caused the kill is no longer registered as in flight. */
  readonly autoKill: AutoKiller
}

/**
 * The rate limit: null if there is none, otherwise a promise of the refusal or of what the response says of the quota that is left. The request to the store
 * is sent immediately, so that it overlaps with receiving the body.
 * @param endpoint for the event
 */
export function checkRate(
  services: RateServices,
  admitted: Admitted,
  endpoint: string | null,
  io: CallIo,
): Promise<Step<RateValues>> | null {
  const { agent, settings } = admitted
  const { rate, rate_scope_id: scope_id, rate_per } = settings
  const limit = rate.requests_per_minute
  if (limit === null) return null
  const { organization_id, agent_id } = agent
  const taken = services.takeRate({
    organization_id,
    agent_id,
    is_shared: rate_per === 'scope',
    scope_id,
    limit,
  })
  return judge(services, admitted, limit, taken, endpoint, io)
}

async function judge(
  services: RateServices,
  admitted: Admitted,
  limit: number,
  taking: Promise<RateTaken>,
  endpoint: string | null,
  io: CallIo,
): Promise<Step<RateValues>> {
  const taken = await taking.catch((error: unknown) => ({ kind: 'failed', error }) as const)
  if (taken.kind === 'failed')
    return deny('rate', 'gateway_unavailable', causeOf(services.whyUnavailable(taken.error)))
  return taken.kind === 'allowed'
    ? pass(rateValues({ limit, left: taken.left, reset_s: taken.reset_s }))
    : refuse(services, admitted, limit, taken, endpoint, io)
}

async function refuse(
  { autoKill }: RateServices,
  { agent, integration, settings }: Admitted,
  limit: number,
  taken: Extract<RateTaken, { readonly kind: 'refused' }>,
  endpoint: string | null,
  io: CallIo,
): Promise<Deny> {
  const { auto_kill_on_sustained_violation, violation_window_minutes } = settings.rate
  const { retry_after_s, violation_minutes, current_rpm } = taken
  let isKilled = false
  if (auto_kill_on_sustained_violation && violation_minutes >= violation_window_minutes) {
    io.leaveInFlight()
    isKilled = await autoKill(agent, {
      kill_method: 'auto_rate_limit',
      reason: `more than ${limit} requests per minute for ${violation_minutes} minutes`,
    })
  }
  const details = { limit, retry_after_seconds: retry_after_s }
  const data = {
    ...details,
    service: integration.integration.name,
    endpoint,
    current_rpm,
    violation_minutes,
    action_taken: isKilled ? 'killed' : 'blocked',
  }
  const headers = refusalHeaders(limit, retry_after_s)
  return deny('rate', 'rate_limit_exceeded', details, { headers, data })
}
