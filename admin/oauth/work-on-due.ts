import { type RedisClient, runScript } from '../../core/redis/run-script.ts'
import { repeatWork } from '../../core/system/repeat-work.ts'

/** At the same time, and of one organization, whose provider may not respond. */
const AT_ONCE_MAX = 64
const AT_ONCE_OF_ORGANIZATION_MAX = 16
/** Looked at in one interval; further ones wait for the next. */
const LOOKED_AT_MAX = 256

interface Due {
  readonly redis: RedisClient
  /** A sorted set of `<organization_id> …` by the ms at which each is due. */
  readonly key: string
  /** How often it is looked at. */
  readonly interval_ms: number
  /** It is due again after this time, if the process that took it ends, or has no room for the organization. */
  readonly retry_ms: number
  readonly failed: (error: unknown) => void
}

/**
 * Takes what is due and works on it; every admin process does. The work removes it from the set, or plans it again.
 * @returns the function that stops it
 */
export function workOnDue(
  { redis, key, interval_ms, retry_ms, failed }: Due,
  work: (parts: readonly string[], member: string) => Promise<void>,
): () => Promise<void> {
  const running = new Set<Promise<void>>()
  const of = new Map<string, number>()
  const count = (organization_id: string, change: 1 | -1): void => {
    const left = (of.get(organization_id) ?? 0) + change
    if (left === 0) of.delete(organization_id)
    else of.set(organization_id, left)
  }
  const stop = repeatWork(
    interval_ms,
    async () => {
      for (let looked = 0; looked < LOOKED_AT_MAX && running.size < AT_ONCE_MAX; looked++) {
        const member = await runScript(redis, 'claim-notice', [key], [retry_ms])
        if (typeof member !== 'string') return
        const parts = member.split(' ')
        const [organization_id = ''] = parts
        if ((of.get(organization_id) ?? 0) >= AT_ONCE_OF_ORGANIZATION_MAX) continue
        count(organization_id, 1)
        const done: Promise<void> = work(parts, member)
          .catch(failed)
          .finally(() => {
            count(organization_id, -1)
            running.delete(done)
          })
        running.add(done)
      }
    },
    failed,
  )
  return async () => {
    await stop()
    await Promise.all(running)
  }
}
