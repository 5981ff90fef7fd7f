import { ACTIVITY_FIELD, type ActivityEntry } from '../../core/activity/activity-entry.ts'
import { indexesOf } from '../../core/activity/activity-index.ts'
import { alertKeys } from '../../core/alerts/alert-keys.ts'
import { writeAlert } from '../../core/alerts/write-alert.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { type RedisClient, runScript } from '../../core/redis/run-script.ts'
import { alertOfEntry } from '../alerts/alert-of-entry.ts'
import type { AdminMetrics } from '../metrics/admin-metrics.ts'
import type { RequestLoad } from '../context/request-load.ts'
import { msOfPlace } from '../../core/activity/log-place.ts'

/**
 * Entries per script; the store needs about two milliseconds for them. At least this many are indexed between two requests,
 * that is 2,000 a second however many requests come.
 */
const BATCH = 400

export type Digested =
  | { readonly kind: 'digested'; readonly position: string; readonly has_more: boolean }
  /** Another process has already indexed this part. */
  | { readonly kind: 'overtaken' }

export interface DigestParts {
  readonly redis: RedisClient
  readonly metrics: Pick<AdminMetrics, 'killed'>
  readonly load: RequestLoad
}

/** Indexes the next entries of an organization's log and raises their alerts. */
export async function digestLog(
  { redis, metrics, load }: DigestParts,
  organization_id: string,
  position: string,
): Promise<Digested> {
  const key = REDIS_KEYS.activity(organization_id)
  const rows = await redis.xrange(key, `(${position}`, '+', 'COUNT', BATCH)
  const last = rows.at(-1)?.[0]
  if (last === undefined) return { kind: 'digested', position, has_more: false }
  const alerts: object[] = []
  const kills: { readonly method: string; readonly propagation_ms: number }[] = []
  let lines = ''
  await load.each(rows, ([id, fields]) => {
    const entry = readEntry(fields)
    if (entry === null) return
    const names = indexesOf(entry).filter(isPlain)
    lines += `${id}${names.map((name) => `\t${name}`).join('')}\n`
    if (entry.event === 'agent_killed')
      kills.push({
        method: String(entry.data['kill_method']),
        propagation_ms: Number(entry.data['propagation_ms']) || 0,
      })
    const alert = alertOfEntry(entry)
    if (alert !== null) alerts.push(writeAlert(alert, timeOf(entry, id)))
  })
  const digested = await runScript(
    redis,
    'digest-activity',
    [
      key,
      REDIS_KEYS.activityDigest(organization_id),
      REDIS_KEYS.activityIndexes(organization_id),
      REDIS_KEYS.activityIndex(organization_id, ''),
      ...alertKeys(organization_id),
    ],
    [position, last, organization_id, lines, alerts.length > 0 ? JSON.stringify(alerts) : ''],
  )
  if (digested === 1)
    for (const { method, propagation_ms } of kills) metrics.killed(method, propagation_ms)
  return digested === 1
    ? { kind: 'digested', position: last, has_more: rows.length === BATCH }
    : { kind: 'overtaken' }
}

export const readPosition = async (redis: RedisClient, organization_id: string): Promise<string> =>
  (await redis.hget(REDIS_KEYS.activityDigest(organization_id), 'position')) ?? '0-0'

const timeOf = ({ timestamp }: ActivityEntry, id: string): Date => {
  const ms = Date.parse(timestamp)
  return new Date(Number.isNaN(ms) ? msOfPlace(id) : ms)
}

/** Ids hold neither; an entry that no one of ours wrote must not break the line of another. */
const isPlain = (name: string): boolean => !/[\t\n]/.test(name)

function readEntry(fields: readonly string[]): ActivityEntry | null {
  try {
    return JSON.parse(fields[fields.indexOf(ACTIVITY_FIELD) + 1] ?? '') as ActivityEntry
  } catch {
    return null
  }
}
