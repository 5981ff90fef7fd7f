import type { Logger } from 'pino'
import { raiseAlert } from '../../core/alerts/raise-alert.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { type RedisClient, runScript } from '../../core/redis/run-script.ts'
import type { KeyRing } from '../../core/keys/seal.ts'
import type { Mailer } from '../alerts/mailer.ts'
import { openUrl } from './webhook-secret.ts'
import type { Webhook } from './webhook.ts'
import { readableRecord } from '../../core/store/stored-record.ts'
import { knownUrl } from '../../core/bounded/parse-url.ts'

/** The next try of an e-mail that could not be sent. */
const RETRY_MS = 60_000
/** A notice that could not be sent for this long is outdated and is dropped. */
const GIVE_UP_MS = 24 * 3600 * 1000

export interface NoticeParts {
  readonly redis: RedisClient
  readonly ring: KeyRing
  /** Null where e-mail is off: the log has the warning then. */
  readonly mailer: Mailer | null
  readonly now: () => Date
  readonly log: Logger
}

/**
 * Sends e-mails about webhooks that have started to fail. Unsent e-mails are retried by any process. Returns how many were
 * sent.
 */
export async function sendFailureNotices(parts: NoticeParts): Promise<number> {
  let told = 0
  for (;;) {
    const notice = await runScript(
      parts.redis,
      'claim-notice',
      [REDIS_KEYS.webhookNotices],
      [RETRY_MS],
    )
    if (typeof notice !== 'string') return told
    if (notice.endsWith(REFUSED) || (await tell(parts, notice))) {
      await openAlert(parts, notice)
      await parts.redis.zrem(REDIS_KEYS.webhookNotices, notice)
      told++
    }
  }
}

/** The early notice of a webhook that has attempts left (core/lua/settle-delivery.lua): an alert without an e-mail of its own. */
const REFUSED = ' refused'

/** An alert stays open in the console until it is acknowledged or the webhook delivers again. */
async function openAlert({ redis, now }: NoticeParts, notice: string): Promise<void> {
  const [organization_id = '', webhook_id = ''] = notice.split(' ')
  const text = await redis.hget(REDIS_KEYS.webhooks(organization_id), webhook_id)
  const webhook = text === null ? null : readableRecord<Webhook>(text)
  if (webhook === null) return
  const { name } = webhook
  const cause = {
    about: `webhook_failing ${webhook_id}`,
    kind: 'webhook_failing',
    severity: 'high',
    title: `The webhook ${name} is failing.`,
    occurrence: { webhook_id },
    is_mailed: !notice.endsWith(REFUSED),
  } as const
  await raiseAlert(redis, organization_id, cause, now())
}

async function tell(
  { redis, ring, mailer, now, log }: NoticeParts,
  notice: string,
): Promise<boolean> {
  const [organization_id = '', webhook_id = '', since = ''] = notice.split(' ')
  const text = await redis.hget(REDIS_KEYS.webhooks(organization_id), webhook_id)
  if (text === null) return true
  const isOver = now().getTime() - Number(since) > GIVE_UP_MS
  const webhook = readableRecord<Webhook>(text)
  const failing_since = new Date(Number(since)).toISOString()
  if (webhook === null) {
    // A process that can read it sends the notice.
    if (isOver)
      log.error(
        { organization_id, webhook_id, failing_since },
        'a webhook is failing; no process could read it, and its notice is dropped',
      )
    return isOver
  }
  const { name } = webhook
  const url = openUrl(ring, webhook)
  const host = url === null ? 'unknown' : knownUrl(url).host
  const facts = { organization_id, webhook_id, name, host, failing_since }
  if (mailer === null) {
    log.warn(
      facts,
      'a webhook is failing: the last attempt of a delivery has failed (e-mail is not configured)',
    )
    return true
  }
  try {
    await mailer.send(mailOf(facts))
    log.warn(facts, 'a webhook is failing; an e-mail was sent')
    return true
  } catch (error) {
    log.error(
      { err: error, ...facts, isOver },
      'the e-mail about a failing webhook could not be sent',
    )
    return isOver
  }
}

/** The path and query of the URL stay out: some receivers keep a secret there. */
const mailOf = (facts: Readonly<Record<string, string>>): { subject: string; text: string } => ({
  subject: `Webhook failing: ${facts['name']}`,
  text: [
    `The webhook "${facts['name']}" did not accept a delivery in any of its attempts.`,
    '',
    `Webhook: ${facts['webhook_id']}`,
    `Receiver: ${facts['host']}`,
    `Organization: ${facts['organization_id']}`,
    `Since: ${facts['failing_since']}`,
    '',
    'It keeps receiving events and becomes active again with its first success. Attempts and responses are listed at',
    `GET /webhooks/${facts['webhook_id']}/deliveries; missed events can be sent again with POST .../replay.`,
    '',
  ].join('\n'),
})
