import type { Logger } from 'pino'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import type { Mailer } from './mailer.ts'
import { readAlerts } from './alert-view.ts'

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
  const shown = await Promise.all(
    notices.slice(0, LINES_MAX).map(async (notice) => {
      const [organization_id = '', alert_id = ''] = notice.split(' ')
      const [alert] = await readAlerts(redis, organization_id, [alert_id])
      return alert ? [{ organization_id, alert_id, alert }] : []
    }),
  )
  for (const { organization_id, alert_id, alert } of shown.flat())
    log.warn(
      { organization_id, alert_id, kind: alert['kind'], severity: alert['severity'] },
      alert['title'],
    )
  if (mailer !== null && shown.flat().length > 0) {
    const lines = shown
      .flat()
      .map(
        ({ organization_id, alert_id, alert }) =>
          `${alert['first_at']} [${alert['severity']}] ${alert['title']} (${organization_id}, ${alert_id})`,
      )
    const more = notices.length - lines.length
    await mailer.send({
      subject:
        notices.length === 1
          ? `Agent Access Gateway: ${oneLine(shown.flat()[0]?.alert['title'] ?? 'an alert')}`
          : `Agent Access Gateway: ${notices.length} new alerts`,
      text: `${lines.join('\n')}\n${more > 0 ? `and ${more} more\n` : ''}\nThey stay open until they are acknowledged: GET /admin/alerts?status=open\n`,
    })
  }
  await redis.zrem(REDIS_KEYS.alertNotices, ...notices)
}

/** A subject is a header field. */
const oneLine = (text: string): string => text.replaceAll(/[\r\n]+/g, ' ')
