import type { Logger } from 'pino'
import { ALERT_CONCERNS, type AlertConcern } from '../../core/alerts/alert.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import type { Mailer } from './mailer.ts'
import { alertView, readAlerts } from './alert-view.ts'

/** Alerts that one e-mail lists; the rest is counted. */
const LINES_MAX = 20
const NOTICES_MAX = 500

/**
 * Sends one e-mail for all alerts opened since the last one, so that many alerts do not cause many e-mails. Alerts
 * are removed from the queue when the server has accepted it; a crash in between sends it again.
 * @throws when the store or the mail server does not answer; the next call tries again
 */
export async function sendAlertNotices(parts: {
  readonly redis: RedisClient
  readonly mailer: Mailer | null
  readonly log: Logger
}): Promise<void> {
  const { redis, mailer, log } = parts
  const notices = await redis.zrange(REDIS_KEYS.alertNotices, '0', String(NOTICES_MAX - 1))
  if (notices.length === 0) return
  const told = await Promise.all(
    notices.map(async (notice) => {
      const [organization_id = '', alert_id = ''] = notice.split(' ')
      const [stored] = await readAlerts(redis, organization_id, [alert_id])
      return stored ? [{ organization_id, ...alertView(stored, new Date()) }] : []
    }),
  )
  const rank = ({ concern }: { readonly concern: AlertConcern }): number =>
    ALERT_CONCERNS.indexOf(concern)
  // However many alerts agents cause, those about the gateway itself are among the lines.
  const shown = told
    .flat()
    .toSorted((a, b) => rank(a) - rank(b))
    .slice(0, LINES_MAX)
  for (const { organization_id, alert_id, kind, severity, title } of shown)
    log.warn({ organization_id, alert_id, kind, severity }, title)
  const [first] = shown
  if (mailer !== null && first !== undefined) {
    const lines = shown.map(
      ({ organization_id, alert_id, severity, title, first_at }) =>
        `${first_at} [${severity}] ${title} (${organization_id}, ${alert_id})`,
    )
    const more = notices.length - lines.length
    await mailer.send({
      subject:
        notices.length === 1
          ? `Agent Access Gateway: ${oneLine(first.title)}`
          : `Agent Access Gateway: ${notices.length} new alerts`,
      text: `${lines.join('\n')}\n${more > 0 ? `and ${more} more\n` : ''}\nThey stay open until they are acknowledged: GET /admin/alerts?status=open\n`,
    })
  }
  await redis.zrem(REDIS_KEYS.alertNotices, ...notices)
}

/** A subject is a header field. */
const oneLine = (text: string): string => text.replaceAll(/[\r\n]+/g, ' ')
