import type { Logger } from 'pino'
import type { ActivityEntry } from '../../core/activity/activity-entry.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { repeatWork } from '../../core/system/repeat-work.ts'
import { type RedisClient, runScript } from '../../core/redis/run-script.ts'
import type { Mail, Mailer } from '../alerts/mailer.ts'

/** Polling interval. A kill does not wait for its e-mail. */
const INTERVAL_MS = 1_000
/** The next attempt for an e-mail that could not be sent or whose sender has ended. */
const RETRY_MS = 60_000
/** An e-mail that could not be sent for this long is outdated and is dropped. */
const GIVE_UP_MS = 24 * 3600 * 1000

interface Parts {
  readonly redis: RedisClient
  readonly mailer: Mailer
  readonly now: () => Date
  readonly log: Logger
}

/**
 * Sends the e-mails about kills. Each was stored with the event of its kill and is removed when the
 * mail server has accepted it: a crash in between sends it again. Returns the function that stops it.
 */
export const startKillMails = (parts: Parts): (() => Promise<void>) =>
  repeatWork(
    INTERVAL_MS,
    () => sendDue(parts),
    (error) =>
      parts.log.warn(
        { err: error },
        'reading pending e-mails about kills failed; it will be retried',
      ),
  )

async function sendDue(parts: Parts): Promise<void> {
  const { redis } = parts
  for (;;) {
    const text = await runScript(redis, 'claim-notice', [REDIS_KEYS.killMails], [RETRY_MS])
    if (typeof text !== 'string') return
    if (await isDone(parts, JSON.parse(text) as ActivityEntry))
      await redis.zrem(REDIS_KEYS.killMails, text)
  }
}

async function isDone({ mailer, now, log }: Parts, entry: ActivityEntry): Promise<boolean> {
  const { organization_id, agent_id } = entry
  try {
    await mailer.send(mailOf(entry))
    log.info({ organization_id, agent_id }, 'an e-mail about a kill was sent')
    return true
  } catch (error) {
    const isOver = now().getTime() - Date.parse(entry.timestamp) > GIVE_UP_MS
    log.error(
      { err: error, organization_id, agent_id, isOver },
      'the e-mail about a kill could not be sent',
    )
    return isOver
  }
}

function mailOf({ agent_id, agent_name, organization_id, timestamp, data }: ActivityEntry): Mail {
  const name = oneLine(agent_name ?? agent_id ?? '')
  const edges = data['complete'] === true ? 'Every edge has acknowledged it.' : INCOMPLETE
  return {
    subject: `Agent killed: ${name}`,
    text: [
      `The agent "${name}" was killed.`,
      '',
      `Agent: ${agent_id}`,
      `Organization: ${organization_id}`,
      `Killed at: ${timestamp}`,
      `By: ${oneLine(data['triggered_by'])} (${oneLine(data['kill_method'])})`,
      `Reason: ${oneLine(data['reason'] ?? 'none given')}`,
      `Calls in flight terminated: ${oneLine(data['requests_terminated'])}`,
      ...(Number(data['tunnels_terminated']) > 0
        ? [`Tunnels closed: ${oneLine(data['tunnels_terminated'])}`]
        : []),
      `Keys revoked: ${oneLine(data['credentials_revoked'])}`,
      edges,
      '',
      'It stays killed until an admin reactivates it:',
      `POST /admin/agents/${agent_id}/reactivate`,
      '',
    ].join('\n'),
  }
}

const INCOMPLETE =
  'Not every edge had acknowledged it. An edge that does not acknowledge stops serving when its lease expires.'

/** Names chosen by operators and agents must not add lines. */
const oneLine = (value: unknown): string => String(value).replaceAll(/[\r\n]+/g, ' ')
