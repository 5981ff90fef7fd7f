import type { JobOwner } from '../../core/inspection/job-owner.ts'
import { raiseAlert } from '../../core/alerts/raise-alert.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import type { ExpressionProblem } from '../../core/scanner/compile-settings.ts'
import { shortText } from '../../core/system/short-text.ts'

/** Every call of the scope finds it again. */
const EVERY_MS = 60_000
/** Patterns that were reported; when there are more, all are forgotten and reported again. */
const REPORTED_MAX = 1_000
const SHOWN_LENGTH = 100

export interface ReporterParts {
  readonly redis: RedisClient
  readonly log: { readonly error: (data: object, message: string) => void }
  readonly nowMs: () => number
}

/** Raises an alert of the organization whose stored patterns cannot be used, at most once a minute for each pattern. */
export function patternReporter({ redis, log, nowMs }: ReporterParts) {
  const reported_ms = new Map<string, number>()
  return ({ pattern, reason }: ExpressionProblem, owner: JobOwner | null): void => {
    if (owner === null) return
    const { organization_id, agent_id } = owner
    const about = `patterns_unusable ${pattern}`
    const key = `${organization_id} ${about}`
    const now_ms = nowMs()
    if (now_ms - (reported_ms.get(key) ?? Number.NEGATIVE_INFINITY) < EVERY_MS) return
    if (reported_ms.size >= REPORTED_MAX) reported_ms.clear()
    reported_ms.set(key, now_ms)
    log.error({ organization_id, agent_id, reason }, 'the patterns of a scope cannot be used')
    const shown = shortText(pattern, SHOWN_LENGTH)
    raiseAlert(
      redis,
      organization_id,
      {
        about,
        kind: 'patterns_unusable',
        severity: 'critical',
        title: `A pattern of a scope ${reason}. Calls that are scanned with it are refused.`,
        occurrence: { pattern: shown, agent_id },
      },
      new Date(now_ms),
    ).catch((error: unknown) => log.error({ error: String(error) }, 'an alert was not raised'))
  }
}
