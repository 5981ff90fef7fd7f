import { ALERT_SEVERITIES } from '../../core/alerts/alert.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { LIST_DEFAULT, type PageQuery } from '../http/common-schemas.ts'
import { type Answer, answer, type Refusal } from '../http/outcome.ts'
import { NO_CURSOR, readCursor, writeCursor } from '../resources/cursor.ts'
import { alertView, readAlerts, type StoredAlert } from './alert-view.ts'

/** Beyond the number of any alert, so that a severity comes before all of the next. */
const SEVERITY_STEP = 1e12

/** One page of alerts, the most severe first, then the newest. An organization has few enough to read all of them. */
export async function listBySeverity(
  redis: RedisClient,
  organization_id: string,
  query: PageQuery,
  matches: (stored: StoredAlert) => boolean,
  now: Date,
): Promise<Answer | Refusal> {
  const start = query.cursor === undefined ? null : readCursor(query.cursor)
  if (query.cursor !== undefined && start === null) return NO_CURSOR
  const texts = await redis.zrange(REDIS_KEYS.alertIndex(organization_id), '0', '-1', 'WITHSCORES')
  const ids = texts.filter((_, at) => at % 2 === 0)
  const alerts = await readAlerts(redis, organization_id, ids)
  const places = alerts
    .flatMap((stored, at) =>
      stored !== null && matches(stored)
        ? [{ stored, member: ids[at] ?? '', order: rank(stored) + Number(texts[at * 2 + 1]) }]
        : [],
    )
    .filter(({ order }) => start === null || order < Number(start.score))
    .toSorted((a, b) => b.order - a.order)
  const limit = query.limit ?? LIST_DEFAULT
  const page = places.slice(0, limit)
  const last = places.length > limit ? page.at(-1) : undefined
  return answer(200, {
    data: page.map(({ stored }) => alertView(stored, now)),
    next_cursor:
      last === undefined ? null : writeCursor({ score: String(last.order), member: last.member }),
  })
}

const rank = ({ severity }: StoredAlert): number =>
  SEVERITY_STEP * (ALERT_SEVERITIES.length - ALERT_SEVERITIES.findIndex((one) => one === severity))
