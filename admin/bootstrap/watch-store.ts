import type { Logger } from 'pino'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { repeatWork } from '../../core/system/repeat-work.ts'
import { bootstrapStore, type FirstThings } from './bootstrap-store.ts'
import { raiseStoreLost } from './store-lost.ts'

const LOOK_INTERVAL_MS = 1_000
const EMPTIED =
  'The store was emptied: agents, keys, credentials and kills are gone. Edges keep refusing the agents that they know as killed. Restore a backup before you restart them.'

/** Sets up a wiped store again without a restart. Returns the function that stops the checks. */
export function watchStore(
  redis: RedisClient,
  wanted: FirstThings,
  log: Logger,
  onMade: (made: readonly string[]) => void,
): () => void {
  const look = async (): Promise<void> => {
    // What a restore is about to write would meet what is set up here. Both at once: when it is complete, it sets the one and
    // removes the other.
    if ((await redis.exists(REDIS_KEYS.installation, REDIS_KEYS.restoring)) > 0) return
    log.error(EMPTIED)
    // First, so that it is there whatever happens next.
    await raiseStoreLost(redis, wanted.settings.organizationId, EMPTIED, {})
    const made = await bootstrapStore(redis, wanted, new Date())
    if (made.length > 0) log.warn({ made }, 'the store was empty and has been set up again')
    onMade(made)
  }
  // A store that does not answer is checked again in a second.
  return repeatWork(LOOK_INTERVAL_MS, look, () => undefined)
}
