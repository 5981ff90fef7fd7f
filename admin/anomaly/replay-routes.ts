import { type Static, Type } from 'typebox'
import { ANOMALY_TYPES } from '../../core/anomaly/anomaly-type.ts'
import type { Agent, Scope } from '../../core/catalogue/model.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import {
  AgentParams,
  Count,
  Nullable,
  Strict,
  Timestamp,
  TimeText,
} from '../http/common-schemas.ts'
import { type AdminCall, defineRoute, type Route } from '../http/define-route.ts'
import { answer, invalid, notFound, type Outcome } from '../http/outcome.ts'
import { readTime, TIME_MESSAGE } from '../http/read-time.ts'
import { scopeTextsOf } from '../labels/selected.ts'
import { readRecord } from '../resources/records.ts'
import { type AgentReplay, REPLAY_STEP_MS, replayAgent } from './replay-agent.ts'
import { parseRecord } from '../../core/store/stored-record.ts'

const DAY_MS = 24 * 3_600_000
/** Two weeks show each day of the week twice. */
const DEFAULT_RANGE_MS = 14 * DAY_MS
const RANGE_MAX_MS = 31 * DAY_MS

const Score = Type.Number({ minimum: 0, maximum: 1 })

const ReplayedScopeView = Strict({
  scope_id: Type.String(),
  name: Nullable(Type.String({ description: 'null: the scope no longer exists' })),
  calls: Count,
  learning: Type.Boolean({ description: 'The calls of the range were too few for a verdict' }),
  highest_score: Score,
  highest_at: Nullable(Timestamp),
  highest_types: Type.Array(Type.Enum([...ANOMALY_TYPES])),
  alerts_at: Type.Array(Strict({ threshold: Score, alerts: Count }), {
    description:
      'The number of alerts with each alert threshold; as many kills with it as auto_kill_threshold',
  }),
  scores: Type.Array(Score, { description: 'The highest score of each step' }),
  calls_by_step: Type.Array(Count),
  usual_calls_by_step: Type.Array(Type.Number({ minimum: 0 }), {
    description: 'The baseline of each step; 0 where there is none',
  }),
})

export const AnomalyReplayView = Strict({
  agent_id: Type.String(),
  from: Timestamp,
  to: Timestamp,
  step_s: Type.Integer(),
  calls: Count,
  complete: Type.Boolean({
    description:
      'All calls of the range were scored; at most 20,000 calls of 100 scopes, or as many as can be read in three seconds, are. `agw anomaly replay` scores more',
  }),
  since: Nullable(
    Type.String({ format: 'date-time', description: 'Time of the oldest entry that was read' }),
  ),
  scopes: Type.Array(ReplayedScopeView),
})

const Range = Strict({
  from: Type.Optional(TimeText('Not before; default: 14 days ago; at most 31 days before to')),
  to: Type.Optional(TimeText('Before; default: now')),
})

export const replayRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: '/admin/agents/:agent_id/anomaly-replay',
    role: 'viewer',
    costly: 'replay',
    tag: 'anomaly',
    summary:
      'Score the stored calls of an agent again: the score over time, and the number of alerts at each threshold',
    params: AgentParams,
    query: Range,
    answers: { 200: AnomalyReplayView },
    handle: replay,
  }),
]

async function replay({
  context,
  actor: { organization_id: org },
  params: { agent_id },
  query,
}: AdminCall<Static<typeof AgentParams>, Static<typeof Range>>): Promise<Outcome> {
  const now_ms = context.now().getTime()
  const to_ms = query.to === undefined ? now_ms : readTime(query.to)
  if (to_ms === null) return invalid([{ path: 'query/to', message: TIME_MESSAGE }])
  const before_ms = Math.max(0, to_ms - DEFAULT_RANGE_MS)
  const from_ms = query.from === undefined ? before_ms : readTime(query.from)
  if (from_ms === null) return invalid([{ path: 'query/from', message: TIME_MESSAGE }])
  // The log has no entries from before 1970.
  if (from_ms < 0 || from_ms >= to_ms || to_ms - from_ms > RANGE_MAX_MS)
    return invalid([
      { path: 'query/from', message: 'must be before to by at most 31 days, and not before 1970' },
    ])
  const found = await readRecord<Agent>(context.redis, REDIS_KEYS.agents(org), agent_id)
  if (found === null) return notFound()
  const stored = await scopeTextsOf(context.redis, org, agent_id, found.record.labels)
  const scopes = stored.map((text) => parseRecord<Scope>(text))
  const replayed = await replayAgent(context, org, agent_id, { from_ms, to_ms })
  return answer(200, {
    agent_id,
    from: new Date(from_ms).toISOString(),
    to: new Date(to_ms).toISOString(),
    step_s: REPLAY_STEP_MS / 1000,
    calls: replayed.calls,
    complete: replayed.complete,
    since: replayed.since,
    scopes: replayed.scopes.map((scope) => scopeView(scope, scopes)),
  })
}

const scopeView = (scope: AgentReplay['scopes'][number], stored: readonly Scope[]) => ({
  scope_id: scope.scope_id,
  name: stored.find(({ scope_id }) => scope_id === scope.scope_id)?.name ?? null,
  calls: scope.calls,
  learning: scope.learning,
  highest_score: scope.highest_score,
  highest_at: scope.highest_at,
  highest_types: scope.highest_types,
  alerts_at: scope.incidents_at.map(({ threshold, incidents }) => ({
    threshold,
    alerts: incidents,
  })),
  scores: scope.scores.map(rounded),
  calls_by_step: scope.calls_by_step,
  usual_calls_by_step: scope.usual_calls_by_step.map(rounded),
})

const rounded = (value: number): number => Math.round(Math.max(value, 0) * 1000) / 1000
