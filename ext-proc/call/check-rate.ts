import { type Quota, refusalHeaders } from '../rate/rate-headers.ts'
import type { RateTaken } from '../rate/take-rate.ts'
import { type Call, given, refuse, type Step } from './call.ts'
import type { AllowedScope, AskedCall } from './check-scope.ts'

/**
 * The rate limit: null when there is none, else a promise of the refusal or of what is left of it. It asks the store at
 * once, so that its answer and the body can be on their way at the same time.
 */
export function checkRate(
  call: Call,
  asked: AskedCall,
  { settings }: AllowedScope,
): Promise<Step<Quota>> | null {
  const { rate, rate_scope_id } = settings
  const limit = rate.requests_per_minute
  if (limit === null) return null
  const { organization_id, agent_id } = asked.identity.agent
  const taken = call.parts.takeRate({ organization_id, agent_id, scope_id: rate_scope_id, limit })
  return judge(call, asked, settings.rate, limit, taken)
}

async function judge(
  call: Call,
  { identity, integration }: AskedCall,
  rate: AllowedScope['settings']['rate'],
  limit: number,
  taking: Promise<RateTaken>,
): Promise<Step<Quota>> {
  const { record, parts, io } = call
  const taken = await taking.catch(() => null)
  if (taken === null) return refuse(record, 'rate', 'gateway_unavailable')
  if (taken.kind === 'allowed') {
    record.mark('rate', 'pass')
    return given({ limit, left: taken.left, reset_s: taken.reset_s })
  }
  record.mark('rate', 'deny')
  const { retry_after_s, violation_minutes, current_rpm } = taken
  let action_taken: 'blocked' | 'killed' = 'blocked'
  if (rate.auto_kill_on_sustained_violation && violation_minutes >= rate.violation_window_minutes) {
    io.letGo()
    const isKilled = await parts.autoKill(identity.agent, {
      kill_method: 'auto_rate_limit',
      reason: `more than ${limit} requests a minute for ${violation_minutes} minutes`,
    })
    if (isKilled) action_taken = 'killed'
  }
  const details = { limit, retry_after_seconds: retry_after_s }
  const data = {
    ...details,
    service: integration.integration.name,
    endpoint: record.facts.endpoint,
    current_rpm,
    violation_minutes,
    action_taken,
  }
  const headers = refusalHeaders(limit, retry_after_s)
  const denial = { reason: 'rate_limit_exceeded', details, headers, data } as const
  return { ok: false, answer: { kind: 'deny', denial } }
}
