import { type Static, Type } from 'typebox'
import {
  ALERT_CONCERNS,
  ALERT_KINDS,
  ALERT_SEVERITIES,
  type AlertConcern,
  type AlertKind,
  type AlertSeverity,
  concernOf,
} from '../../core/alerts/alert.ts'
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
  concern: Type.Enum([...ALERT_CONCERNS], {
    description:
      'What it is about: the gateway itself, what agents did and the gateway let pass or an operator has to follow up, or what the gateway has refused',
  }),
  cause: Type.String({ description: 'Alerts with the same text have the same cause' }),
  title: Type.String(),
  count: Type.Integer({ description: 'Number of occurrences while the alert is open' }),
  hours: Type.Array(Type.Integer(), {
    description: 'Occurrences in each of the last 24 hours, the oldest first',
  }),
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

export function alertView(stored: StoredAlert, now: Date): Static<typeof AlertView> {
  const text = (name: string): string => stored[name] ?? ''
  const kind = text('kind') as AlertKind
  const last = JSON.parse(stored['last'] ?? '{}') as Readonly<Record<string, unknown>>
  const concern = (stored['concern'] ??
    concernOf(kind, last['decision'] === 'blocked')) as AlertConcern
  return {
    alert_id: text('alert_id'),
    status: text('status') as (typeof ALERT_STATUSES)[number],
    kind,
    severity: text('severity') as AlertSeverity,
    group: typeof last['agent_id'] === 'string' ? last['agent_id'] : kind,
    concern,
    cause: causeOf(kind, concern, last),
    title: text('title'),
    count: Number(stored['count']),
    hours: hoursOf(stored, now),
    first_at: text('first_at'),
    last_at: text('last_at'),
    last,
    acknowledged_at: stored['acknowledged_at'] ?? null,
    acknowledged_by: stored['acknowledged_by'] ?? null,
    comment: stored['comment'] ?? null,
    resolved_at: stored['resolved_at'] ?? null,
    resolution: stored['resolution'] ?? null,
  }
}

/** One campaign is one cause, however many agents take part in it. */
function causeOf(
  kind: AlertKind,
  concern: AlertConcern,
  last: Readonly<Record<string, unknown>>,
): string {
  if (kind === 'injection') return `injection ${concern} ${String(last['pattern_name'])}`
  return kind === 'agent_killed' ? `agent_killed ${String(last['kill_method'])}` : kind
}

const HOUR_MS = 3_600_000
const HOURS = 24

/** As core/lua/include/raise-alert.lua counts them. */
function hoursOf(stored: StoredAlert, now: Date): number[] {
  const hour = Math.floor(now.getTime() / HOUR_MS)
  return Array.from({ length: HOURS }, (_, at) => {
    const wanted = hour - HOURS + 1 + at
    const [of, count] = (stored[`hour ${wanted % HOURS}`] ?? '').split(' ')
    return Number(of) === wanted ? Number(count) : 0
  })
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
