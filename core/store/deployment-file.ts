import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { REDIS_KEYS } from '../redis/redis-keys.ts'
import type { RedisClient } from '../redis/run-script.ts'

/** What a machine remembers about its store, in a file of its own. */
export interface SeenStore {
  readonly deployment_id: string
  /** Number of the last change that was seen there. */
  readonly epoch: number
}

/** Null if the file does not exist, as before the first start. */
export function readSeenStore(file: string): SeenStore | null {
  if (!existsSync(file)) return null
  const seen = JSON.parse(readFileSync(file, 'utf8')) as SeenStore
  if (typeof seen.deployment_id !== 'string' || typeof seen.epoch !== 'number')
    throw new Error(`${file} is damaged. Delete it if this is the right store.`)
  return seen
}

export function writeSeenStore(file: string, seen: SeenStore): void {
  writeFileSync(`${file}.new`, `${JSON.stringify(seen)}\n`, { mode: 0o600 })
  renameSync(`${file}.new`, file)
}

/**
 * The name of the deployment in the store, and its last change; null for an empty store. In one request, since a restore
 * removes both: the name without the epoch would be taken for a store that has lost changes.
 */
export async function readStoreIdentity(redis: RedisClient): Promise<SeenStore | null> {
  const [deployment_id = null, epoch = null] = await redis.mget(
    REDIS_KEYS.installation,
    REDIS_KEYS.epoch,
  )
  return deployment_id === null ? null : { deployment_id, epoch: Number(epoch ?? 0) }
}

/** Whether it has lost changes that this machine has seen there. */
export const isOlderStore = (seen: SeenStore | null, found: SeenStore): boolean =>
  seen?.deployment_id === found.deployment_id && seen.epoch > found.epoch

export const OLDER_STORE =
  'The store is older than before: changes made since are lost, such as kills and revocations.'

/** Why this store must not be used by this machine, as a sentence for the operator; null if it may. */
export function otherStore(
  file: string,
  seen: SeenStore | null,
  found: SeenStore | null,
): string | null {
  if (seen === null || found?.deployment_id === seen.deployment_id) return null
  if (found === null)
    return `The store is empty, but this machine has used the store of deployment ${seen.deployment_id}: its agents, keys, credentials and kills are gone. Restore them (agw restore FILE, or the files of the store), or correct REDIS_URL or AGW_DATA_DIR. To start over with the empty store, run agw start --new-store; without agw start, delete ${file}.`
  return `The store belongs to deployment ${found.deployment_id}, but this machine has used the store of deployment ${seen.deployment_id}. Correct REDIS_URL or AGW_DATA_DIR. To use this store from now on, delete ${file}.`
}
