import { rateHeaders } from '../rate/rate-headers.ts'
import type { RateTaken } from '../rate/take-rate.ts'
import { type Call, deny } from './call.ts'
import type { Answer } from './call-stream.ts'
import type { AllowedScope, AskedCall } from './check-scope.ts'

/**
 * The rate limit: null when there is none, else a promise of the refusal, or of null where the call may go on. It asks
 * the store at once, so that the answer and the body can be on their way together.
 */
export function checkRate(
  call: Call,
  asked: AskedCall,
  { settings }: AllowedScope,
): Promise<Answer | null> | null {
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
): Promise<Answer | null> {
  const { record, parts, io } = call
  const taken = await taking.catch(() => null)
  if (taken === null) return deny(record, 'rate', 'gateway_unavailable')
  if (taken.kind === 'allowed') {
    record.mark('rate', 'pass')
    return null
  }
  record.mark('rate', 'deny')
  const { retry_after_s, violation_minutes, current_rpm } = taken
  let action_taken: 'blocked' | 'killed' = 'blocked'
  if (rate.auto_kill_on_sustained_violation && violation_minutes >= rate.violation_window_minutes) {
    io.letGo()
    const isKilled = await parts.autoKill(identity.agent, {
      kill_method: 'auto_rate_limit',
      reason: `more than ${limit} requests a minute in each of ${violation_minutes} consecutive minutes`,
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
  const headers = rateHeaders(limit, retry_after_s)
  return { kind: 'deny', denial: { reason: 'rate_limit_exceeded', details, headers, data } }
}
