import type { ActivityEntry } from '../../core/activity/activity-entry.ts'
import { INDEX_FORM, indexesOf } from '../../core/activity/activity-index.ts'
import type { LogRow } from '../../core/activity/log-row.ts'
import { readLog } from '../../core/activity/read-log.ts'
import { requestHash } from '../../core/activity/request-hash.ts'
import { alertKeys } from '../../core/alerts/alert-keys.ts'
import { writeAlert } from '../../core/alerts/write-alert.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { type RedisClient, runScript } from '../../core/redis/run-script.ts'
import { alertOfEntry } from '../alerts/alert-of-entry.ts'
import type { AdminMetrics } from '../metrics/admin-metrics.ts'
import type { RequestLoad } from '../context/request-load.ts'
import { ActivityTally } from './activity-tally.ts'
import {
  COMBINATIONS_PER_BUCKET,
  COMBINATIONS_PER_DAY,
  COMBINATIONS_PER_TWO_HOURS,
} from './count-buckets.ts'
import { comparePlaces, msOfPlace } from '../../core/activity/log-place.ts'

/**
 * Rows per script at most; the store needs about two milliseconds for small ones. However many requests come, one script runs
 * between two of them.
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

/** Where indexing goes on, and up to where a version with other indexes has raised alerts already. */
export interface DigestPlace {
  readonly position: string
  readonly reported: string
}

/** What the entries of a piece of the log lead to. */
interface Findings {
  readonly alerts: object[]
  readonly kills: { readonly method: string; readonly propagation_ms: number }[]
}

/** Indexes the next rows of an organization's log and raises their alerts. */
export async function digestLog(
  { redis, metrics, load }: DigestParts,
  organization_id: string,
  { position, reported }: DigestPlace,
): Promise<Digested> {
  const { rows, has_more } = await readLog(redis, organization_id, position, BATCH)
  const last = rows.at(-1)?.place
  if (last === undefined) return { kind: 'digested', position, has_more: false }
  const findings: Findings = { alerts: [], kills: [] }
  const counts = new ActivityTally()
  let lines = ''
  await load.each(rows, (row) => {
    const isNew = comparePlaces(row.place, reported) > 0
    lines += row.isBlock
      ? lineOfBlock(row, counts)
      : lineOfEntry(row, isNew ? findings : null, counts)
  })
  const { alerts, kills } = findings
  const digested = await runScript(
    redis,
    'digest-activity',
    [
      REDIS_KEYS.activity(organization_id),
      ...indexKeys(organization_id),
      ...alertKeys(organization_id),
    ],
    [
      position,
      last,
      organization_id,
      lines,
      alerts.length > 0 ? JSON.stringify(alerts) : '',
      counts.lines(),
      COMBINATIONS_PER_BUCKET,
      COMBINATIONS_PER_TWO_HOURS,
      COMBINATIONS_PER_DAY,
    ],
  )
  if (digested === 1)
    for (const { method, propagation_ms } of kills) metrics.killed(method, propagation_ms)
  return digested === 1 ? { kind: 'digested', position: last, has_more } : { kind: 'overtaken' }
}

const indexKeys = (organization_id: string) =>
  [
    REDIS_KEYS.activityDigest(organization_id),
    REDIS_KEYS.activityIndexes(organization_id),
    REDIS_KEYS.activityIndex(organization_id, ''),
    REDIS_KEYS.activityCounts(organization_id, ''),
    REDIS_KEYS.activityCountBuckets(organization_id),
  ] as const

/** Indexes of another form are removed by this. */
export async function readDigestPlace(
  redis: RedisClient,
  organization_id: string,
): Promise<DigestPlace> {
  const keys = indexKeys(organization_id)
  const answer = await runScript(redis, 'renew-activity-index', keys, [INDEX_FORM])
  const [position = '0-0', reported = '0-0'] = answer as string[]
  return { position, reported }
}

/** Its writer has computed what the indexes need, and a block has no entry that anybody is alerted of. */
function lineOfBlock(row: LogRow, counts: ActivityTally): string {
  const { names, alike, requests } = row.summary
  if (alike === '')
    for (const { text } of row.entries())
      counts.addEntry(msOfPlace(row.place), JSON.parse(text) as ActivityEntry)
  else counts.addBlock(msOfPlace(row.place), names, alike)
  return `${row.place}${names === '' ? '' : `\t${names}`}${requests === '' ? '' : `\t=${requests}`}\n`
}

function lineOfEntry(row: LogRow, findings: Findings | null, counts: ActivityTally): string {
  const entry = readEntry(row)
  if (entry === null) return ''
  counts.addEntry(msOfPlace(row.place), entry)
  const names = indexesOf(entry).filter(isPlain)
  const { request_id } = entry
  if (findings !== null) report(entry, row.place, findings)
  return (
    row.place +
    names.map((name) => `\t1:${name}`).join('') +
    (typeof request_id === 'string' ? `\t=${requestHash(request_id)}` : '') +
    '\n'
  )
}

function report(entry: ActivityEntry, place: string, { alerts, kills }: Findings): void {
  if (entry.event === 'agent_killed')
    kills.push({
      method: String(entry.data['kill_method']),
      propagation_ms: Number(entry.data['propagation_ms']) || 0,
    })
  const alert = alertOfEntry(entry)
  if (alert !== null) alerts.push(writeAlert(alert, timeOf(entry, place)))
}

const timeOf = ({ timestamp }: ActivityEntry, place: string): Date => {
  const ms = Date.parse(timestamp)
  return new Date(Number.isNaN(ms) ? msOfPlace(place) : ms)
}

/** Ids hold neither; an entry that no one of ours wrote must not break the line of another. */
const isPlain = (name: string): boolean => !/[\t\n]/.test(name)

function readEntry(row: LogRow): ActivityEntry | null {
  try {
    return JSON.parse(row.entries()[0]?.text ?? '') as ActivityEntry
  } catch {
    return null
  }
}
