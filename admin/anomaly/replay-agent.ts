import { setImmediate as turn } from 'node:timers/promises'
import type { ActivityEntry } from '../../core/activity/activity-entry.ts'
import { LEARNING_MS } from '../../core/anomaly/anomaly-model.ts'
import { Replay, type ReplayedScope } from '../../core/anomaly/replay.ts'
import { SCOPE_DEFAULTS } from '../../core/model.ts'
import { type SearchParts, searchActivity } from '../activity/search-activity.ts'

/** Calls that one replay scores, and the time for reading them: the newest are read first. */
const CALLS_MAX = 50_000
const BUDGET_MS = 3_000
const PAGE = 200
export const REPLAY_STEP_MS = 3_600_000
/** From a signal every ten days to one in 30 million; no score reaches 1. */
const REPLAY_THRESHOLDS = [
  0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 1,
] as const

/** Per step of the range, in order. */
interface ScopeCourse {
  /** The highest score. */
  readonly scores: number[]
  readonly calls_by_step: number[]
  /** Calls that are usual for the step; 0 while nothing is known. */
  readonly usual_calls_by_step: number[]
}

export interface AgentReplay {
  readonly calls: number
  /** Whether all calls of the range were read; if not, those since `since` were. */
  readonly complete: boolean
  readonly since: string | null
  readonly scopes: readonly (ReplayedScope & ScopeCourse)[]
}

/** Scores the stored calls of an agent again, as the analyser would have, and counts what each alert threshold would have raised. */
export async function replayAgent(
  parts: SearchParts,
  organization_id: string,
  agent_id: string,
  range: { readonly from_ms: number; readonly to_ms: number },
): Promise<AgentReplay> {
  const courses = new Map<string, ScopeCourse>()
  const steps = Math.ceil((range.to_ms - range.from_ms) / REPLAY_STEP_MS)
  const zeros = (): number[] => Array.from({ length: steps }, () => 0)
  const courseOf = (scope_id: string): ScopeCourse => {
    const course = courses.get(scope_id) ?? {
      scores: zeros(),
      calls_by_step: zeros(),
      usual_calls_by_step: zeros(),
    }
    courses.set(scope_id, course)
    return course
  }
  const stepOf = (at_ms: number): number =>
    Math.max(0, Math.min(steps - 1, Math.floor((at_ms - range.from_ms) / REPLAY_STEP_MS)))
  const raise = (list: number[], step: number, value: number): void => {
    list[step] = Math.max(list[step] ?? 0, value)
  }
  const replay = new Replay({
    ...SCOPE_DEFAULTS.anomaly_detection,
    learning_ms: LEARNING_MS,
    compared: REPLAY_THRESHOLDS,
    onCall: ({ scope_id }, at_ms) => {
      const { calls_by_step } = courseOf(scope_id)
      const step = stepOf(at_ms)
      calls_by_step[step] = (calls_by_step[step] ?? 0) + 1
    },
    onScore: ({ scope_id, at_ms, score, normal_rpm }) => {
      const { scores, usual_calls_by_step } = courseOf(scope_id)
      raise(scores, stepOf(at_ms), score)
      raise(usual_calls_by_step, stepOf(at_ms), normal_rpm * (REPLAY_STEP_MS / 60_000))
    },
  })
  const read = await readCalls(parts, organization_id, agent_id, range, replay)
  const scopes = await replay.runWithPauses(() => turn())
  return {
    calls: replay.calls,
    ...read,
    scopes: scopes.map((scope) => ({ ...scope, ...courseOf(scope.scope_id) })),
  }
}

async function readCalls(
  parts: SearchParts,
  organization_id: string,
  agent_id: string,
  range: { readonly from_ms: number; readonly to_ms: number },
  replay: { readonly calls: number; readonly add: (entry: ActivityEntry) => boolean },
): Promise<{ readonly complete: boolean; readonly since: string | null }> {
  const equal = [['agent_id', agent_id]] as const
  const filter = { equal, request_id: null, q: null, ...range }
  const started_ms = parts.nowMs()
  let since: string | null = null
  for (let before: string | null = null; ; ) {
    const page = await searchActivity(parts, organization_id, filter, { before, limit: PAGE })
    for (const { entry } of page.found) {
      since = entry.timestamp
      replay.add(entry)
    }
    if (page.next === null) return { complete: true, since }
    if (replay.calls >= CALLS_MAX || parts.nowMs() - started_ms > BUDGET_MS)
      return { complete: false, since }
    before = page.next
  }
}
