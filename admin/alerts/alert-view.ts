import { Type } from 'typebox'
import { ALERT_KINDS, ALERT_SEVERITIES } from '../../core/alerts/alert.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { Nullable, Strict, Timestamp } from '../http/common-schemas.ts'

export const ALERT_STATUSES = ['open', 'acknowledged', 'resolved'] as const

export const AlertView = Strict({
  alert_id: Type.String(),
  status: Type.Enum([...ALERT_STATUSES]),
  kind: Type.Enum([...ALERT_KINDS]),
  severity: Type.Enum([...ALERT_SEVERITIES]),
  group: Type.String({
    description: 'What alerts have in common that belong together: the agent, else the kind',
  }),
  title: Type.String(),
  count: Type.Integer({ description: 'Number of occurrences while the alert is open' }),
  first_at: Timestamp,
  last_at: Timestamp,
  last: Type.Record(Type.String(), Type.Unknown(), { description: 'The last occurrence' }),
  acknowledged_at: Nullable(Timestamp),
  acknowledged_by: Nullable(Type.String()),
  comment: Nullable(Type.String({ description: 'Of the operator who acknowledged it' })),
  resolved_at: Nullable(Timestamp),
  resolution: Nullable(Type.String({ description: 'Why it was closed by the gateway' })),
})

export type StoredAlert = Readonly<Record<string, string>>

export const alertView = (stored: StoredAlert): object => ({
  alert_id: stored['alert_id'],
  status: stored['status'],
  kind: stored['kind'],
  severity: stored['severity'],
  group: groupOf(stored),
  title: stored['title'],
  count: Number(stored['count']),
  first_at: stored['first_at'],
  last_at: stored['last_at'],
  last: lastOf(stored),
  acknowledged_at: stored['acknowledged_at'] ?? null,
  acknowledged_by: stored['acknowledged_by'] ?? null,
  comment: stored['comment'] ?? null,
  resolved_at: stored['resolved_at'] ?? null,
  resolution: stored['resolution'] ?? null,
})

const lastOf = (stored: StoredAlert): Readonly<Record<string, unknown>> =>
  JSON.parse(stored['last'] ?? '{}') as Readonly<Record<string, unknown>>

function groupOf(stored: StoredAlert): string {
  const { agent_id } = lastOf(stored)
  return typeof agent_id === 'string' ? agent_id : (stored['kind'] ?? '')
}

/** In the order of the ids; null for a missing record. */
export const readAlerts = async (
  redis: RedisClient,
  organization_id: string,
  alert_ids: readonly string[],
): Promise<(StoredAlert | null)[]> =>
  Promise.all(
    alert_ids.map(async (alert_id) => {
      const stored = await redis.hgetall(REDIS_KEYS.alert(organization_id, alert_id))
      return stored['alert_id'] === undefined ? null : stored
    }),
  )
