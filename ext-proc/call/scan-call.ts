import type { BodyFacts } from '../../core/inspection/read-body.ts'
import type { Admitted } from '../../core/decision/admission.ts'
import type { AutoKiller } from '../kill/make-auto-killer.ts'
import { judgeDecision } from '../record/judge-decision.ts'
import { type Deny, deny, pass, type Step } from '../verdict/step.ts'
import type { CallIo } from './call-io.ts'

export interface ScanServices {
  readonly autoKill: AutoKiller
  /** The hash of a text of the organization as the log shows it. */
  readonly keyedHash: (organization_id: string, hash: string) => string
}

/** Detections in an allowed call, for the log; null if there are none. */
export type ScanNote = Readonly<Record<string, unknown>> | null

/** Evaluates the injection scan, which was made together with the other checks of the body. */
export function scanCall(
  { autoKill, keyedHash }: ScanServices,
  { agent, settings }: Admitted,
  facts: BodyFacts | null,
  io: Pick<CallIo, 'leaveInFlight'>,
): Step<ScanNote> | Promise<Deny> {
  const { injection } = settings
  const result = facts?.scan ?? null
  if (result === null) throw new Error('a call that must be scanned was not')
  switch (result.kind) {
    case 'unsupported_encoding': {
      const { content_encoding } = result
      return deny('scan', 'unsupported_content_encoding', { content_encoding })
    }
    case 'too_large':
      return deny('scan', 'request_too_large', { limit_bytes: result.limit_bytes })
    case 'scanned':
      break
  }
  const { decision } = result
  const text_hash = decision.reported?.text_hash ?? null
  const hash = text_hash === null ? null : keyedHash(agent.organization_id, text_hash)
  const judged = judgeDecision(decision, hash)
  if (judged === null) return pass(null)
  if (judged.kind === 'note') return pass(judged.data)
  const { details, data } = judged.denial
  const { pattern_name, location } = judged.found
  const refusal = deny('scan', 'security_block', details, data === undefined ? {} : { data })
  if (!decision.may_kill || !injection.auto_kill_on_critical) return refusal
  io.leaveInFlight()
  return autoKill(agent, {
    kill_method: 'auto_injection',
    reason: `critical injection: ${pattern_name} in ${location}`,
  }).then(() => refusal)
}
