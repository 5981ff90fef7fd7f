import { REDIS_KEYS } from '../redis/redis-keys.ts'
import type { RedisClient } from '../redis/run-script.ts'
import { resolveAlert } from './resolve-alert.ts'

/**
 * Closes the open alerts of one prefix whose condition is over, also those that another process has raised.
 * @returns what the others are about, without the prefix
 * @throws if the store does not respond
 */
export async function resolveWhere(
  redis: RedisClient,
  organization_id: string,
  prefix: string,
  end: {
    readonly isOver: (about: string) => boolean
    readonly resolution: string
    readonly at: Date
  },
): Promise<readonly string[]> {
  const open = await redis.hkeys(REDIS_KEYS.alertsOpen(organization_id))
  const abouts = open.filter((about) => about.startsWith(prefix))
  const standing: string[] = []
  for (const about of abouts) {
    const rest = about.slice(prefix.length)
    if (end.isOver(rest)) await resolveAlert(redis, organization_id, about, end)
    else standing.push(rest)
  }
  return standing
}
