import { setImmediate as turn } from 'node:timers/promises'
import type { ActivityEntry } from '../../core/activity/activity-entry.ts'
import { LEARNING_MS } from '../../core/anomaly/anomaly-model.ts'
import { Replay, type ReplayedScope } from '../../core/anomaly/replay.ts'
import { SCOPE_DEFAULTS } from '../../core/catalogue/model.ts'
import { type SearchParts, searchActivity } from '../activity/search-activity.ts'

/** Calls that one replay scores, and the time for reading them: the newest are read first. */
const CALLS_MAX = 20_000
const BUDGET_MS = 3_000
const PAGE = 200
export const REPLAY_STEP_MS = 3_600_000
/** Of one agent: each has three numbers for each of up to 744 steps. */
const SCOPES_MAX = 100
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
  /** Whether all calls of the range were read, of all scopes; if not, those since `since`, of the first scopes. */
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
  const courseOf = (scope_id: string): ScopeCourse | undefined => {
    if (!courses.has(scope_id) && courses.size < SCOPES_MAX)
      courses.set(scope_id, {
        scores: zeros(),
        calls_by_step: zeros(),
        usual_calls_by_step: zeros(),
      })
    return courses.get(scope_id)
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
      const course = courseOf(scope_id)
      const step = stepOf(at_ms)
      if (course !== undefined) course.calls_by_step[step] = (course.calls_by_step[step] ?? 0) + 1
    },
    onScore: ({ scope_id, at_ms, score, normal_rpm }) => {
      const course = courseOf(scope_id)
      if (course === undefined) return
      raise(course.scores, stepOf(at_ms), score)
      raise(course.usual_calls_by_step, stepOf(at_ms), normal_rpm * (REPLAY_STEP_MS / 60_000))
    },
  })
  const read = await readCalls(parts, organization_id, agent_id, range, replay)
  const replayed = await replay.runWithPauses(() => turn())
  const scopes = replayed.flatMap((scope) => {
    const course = courses.get(scope.scope_id)
    return course === undefined ? [] : [{ ...scope, ...course }]
  })
  const complete = read.complete && scopes.length === replayed.length
  return { calls: replay.calls, since: read.since, complete, scopes }
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
