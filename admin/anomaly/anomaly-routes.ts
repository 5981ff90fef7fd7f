import { Type } from 'typebox'
import { LEARNING_MS, scopeKey } from '../../core/anomaly/anomaly-model.ts'
import { ANOMALY_TYPES } from '../../core/anomaly/anomaly-type.ts'
import { LEARNING_CALLS, ScopeModel } from '../../core/anomaly/scope-model.ts'
import type { Agent, Scope } from '../../core/catalogue/model.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { scopeTextsOf } from '../labels/selected.ts'
import { readRecord } from '../resources/records.ts'
import { AgentParams, Nullable, Strict, Timestamp } from '../http/common-schemas.ts'
import { defineRoute, type Route } from '../http/define-route.ts'
import { answer, notFound } from '../http/outcome.ts'
import { readStored, type StoredScope } from './stored-scope.ts'
import { parseRecord } from '../../core/store/stored-record.ts'

const HOUR_MS = 3_600_000
const LEARNING_HOURS = LEARNING_MS / HOUR_MS
const DAY_HOURS = 24

const Rate = Type.Number({ minimum: 0, description: 'Calls per minute' })

const ScopeBaseline = Strict({
  scope_id: Type.String(),
  name: Type.String(),
  enabled: Type.Boolean({ description: 'Whether anomalies of the scope raise alerts' }),
  learning: Type.Boolean({ description: 'Still learning, no verdict yet' }),
  learned_hours: Type.Integer({ minimum: 0 }),
  learned_calls: Type.Integer({ minimum: 0 }),
  needed_hours: Type.Integer(),
  needed_calls: Type.Integer(),
  as_of: Nullable(Timestamp),
  score: Type.Number({ minimum: 0, maximum: 1 }),
  anomaly_types: Type.Array(Type.Enum([...ANOMALY_TYPES])),
  normal_rpm: Rate,
  current_rpm: Rate,
  normal_rpm_by_hour: Type.Array(Rate, {
    description: 'For the 24 hours that start with the hour of as_of',
  }),
  failed_share: Type.Number({ minimum: 0, description: 'Normal share of all calls' }),
  denied_share: Type.Number({ minimum: 0, description: 'Normal share of all calls' }),
  usual_bytes_in: Nullable(Type.Number({ description: 'Normal maximum size of requests' })),
  usual_bytes_out: Nullable(Type.Number({ description: 'Normal maximum size of responses' })),
  endpoints: Type.Array(Type.String(), { description: 'Identifiers are replaced by *' }),
  source_ips: Type.Array(Type.String()),
})

export const Baseline = Strict({
  agent_id: Type.String(),
  learning: Type.Boolean({ description: 'True if any scope is still learning' }),
  scopes: Type.Array(ScopeBaseline),
})

export const anomalyRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: '/admin/agents/:agent_id/baseline',
    role: 'viewer',
    tag: 'anomaly',
    summary: 'The learned baseline of an agent, per scope',
    params: AgentParams,
    answers: { 200: Baseline },
    handle: async ({ context: { redis }, actor: { organization_id: org }, params }) => {
      const { agent_id } = params
      const found = await readRecord<Agent>(redis, REDIS_KEYS.agents(org), agent_id)
      if (found === null) return notFound()
      const scopes = (await scopeTextsOf(redis, org, agent_id, found.record.labels))
        .map((text) => parseRecord<Scope>(text))
        .sort((a, b) => a.priority - b.priority || (a.scope_id < b.scope_id ? -1 : 1))
      const fields = scopes.map(({ scope_id }) => scopeKey(agent_id, scope_id))
      const texts =
        fields.length === 0 ? [] : await redis.hmget(REDIS_KEYS.anomalyState(org), ...fields)
      const views = scopes.map((scope, n) => scopeBaseline(scope, readStored(texts[n] ?? null)))
      const learning = views.some((view) => view.learning)
      return answer(200, { agent_id, learning, scopes: views })
    },
  }),
]

function scopeBaseline({ scope_id, name, anomaly_detection }: Scope, stored: StoredScope | null) {
  const model = stored === null ? null : new ScopeModel(0, LEARNING_MS, stored.model)
  const as_of_ms = model?.tick_ms ?? 0
  // The tick that a scope's first call falls into began before it.
  const age_ms = model === null ? 0 : Math.max(0, as_of_ms - model.first_ms)
  return {
    scope_id,
    name,
    enabled: anomaly_detection.enabled,
    learning: model?.learning ?? true,
    learned_hours: Math.floor(age_ms / HOUR_MS),
    learned_calls: model?.calls ?? 0,
    needed_hours: LEARNING_HOURS,
    needed_calls: LEARNING_CALLS,
    as_of: model === null ? null : new Date(as_of_ms).toISOString(),
    score: model?.score ?? 0,
    anomaly_types: model?.types ?? [],
    normal_rpm: rounded(model?.usualRpm(as_of_ms) ?? 0),
    current_rpm: rounded(model?.current_rpm ?? 0),
    normal_rpm_by_hour:
      model === null
        ? []
        : Array.from({ length: DAY_HOURS }, (_, n) =>
            rounded(model.usualRpm(as_of_ms + n * HOUR_MS)),
          ),
    failed_share: rounded(model?.usual_shares.failed ?? 0),
    denied_share: rounded(model?.usual_shares.denied ?? 0),
    usual_bytes_in: model?.usual_bytes_in ?? null,
    usual_bytes_out: model?.usual_bytes_out ?? null,
    endpoints: model?.endpoints ?? [],
    source_ips: model?.addresses ?? [],
  }
}

const rounded = (value: number): number => Math.round(Math.max(value, 0) * 10_000) / 10_000
