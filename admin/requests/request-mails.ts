import type { Logger } from 'pino'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { runScript } from '../../core/redis/run-script.ts'
import { type ApiPlace, consoleLink } from '../../core/settings/console-link.ts'
import type { Mailer } from '../alerts/mailer.ts'
import type { AdminContext } from '../context/admin-context.ts'
import { readRequests } from './read-requests.ts'

/** Between two e-mails of an organization, however many requests its agents make. */
const INTERVAL_MS = 60_000

interface Parts extends Pick<AdminContext, 'redis' | 'clock' | 'nowMs'> {
  readonly settings: ApiPlace
  /** Null where e-mail is off. */
  readonly mailer: Mailer | null
  readonly log: Logger
}

interface Looked {
  /** The newest request then. */
  readonly newest: string
  readonly at_ms: number
}

/**
 * Sends one e-mail for all requests of an organization that wait and that no e-mail has told of. It has a link and nothing that an agent
 * has written. A crash before the requests are marked sends it again.
 */
export function requestMails(parts: Parts): (organization_ids: readonly string[]) => Promise<void> {
  const looked = new Map<string, Looked>()
  return async (organization_ids) => {
    const { mailer } = parts
    if (mailer !== null) await tellAll({ ...parts, mailer }, organization_ids, looked)
  }
}

type Mailing = Parts & { readonly mailer: Mailer }

async function tellAll(
  parts: Mailing,
  organization_ids: readonly string[],
  looked: Map<string, Looked>,
): Promise<void> {
  const { redis, nowMs, log } = parts
  for (const known of looked.keys()) if (!organization_ids.includes(known)) looked.delete(known)
  for (const organization_id of organization_ids) {
    const index = REDIS_KEYS.accessRequestIndex(organization_id)
    const [newest] = await redis.zrevrange(index, 0, 0)
    const last = looked.get(organization_id)
    const isEarly = last !== undefined && nowMs() < last.at_ms + INTERVAL_MS
    if (newest === undefined || newest === last?.newest || isEarly) continue
    try {
      const isTold = await tell(parts, organization_id)
      looked.set(organization_id, { newest, at_ms: isTold ? nowMs() : -INTERVAL_MS })
    } catch (error) {
      // That of one organization must not hold up those of others.
      looked.set(organization_id, { newest: '', at_ms: nowMs() })
      log.warn({ err: error, organization_id }, 'the e-mail about requests could not be sent')
    }
  }
}

/** Whether there was anything to tell. */
async function tell(
  { mailer, settings, ...parts }: Mailing,
  organization_id: string,
): Promise<boolean> {
  const { redis } = parts
  const ids = await redis.zrange(REDIS_KEYS.accessRequestsOpen(organization_id), '0', '-1')
  const found = await readRequests(parts, organization_id, ids)
  const pending = found.flatMap((known) => (known?.status === 'pending' ? [known.fields] : []))
  const untold = pending.filter(({ mailed_ms }) => mailed_ms === undefined)
  if (untold.length === 0) return false
  const { length } = pending
  await mailer.send({
    subject: `Agent Access Gateway: ${length === 1 ? '1 request waits' : `${length} requests wait`} for a decision`,
    text: [
      `Agents of the organization ${organization_id} ask for ${length === 1 ? 'an approval' : `${length} approvals`}, ${untold.length} of them since the last e-mail.`,
      '',
      consoleLink(settings, 'requests'),
      '',
      'To open the page decides nothing. On a terminal: agw requests list --status pending',
      '',
    ].join('\n'),
  })
  for (const { request_id } of untold)
    await runScript(
      redis,
      'note-forwarded',
      [REDIS_KEYS.accessRequest(organization_id, request_id)],
      ['mailed_ms'],
    )
  return true
}
