import { rmSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { connectionProblem } from '../../core/redis/connection-problem.ts'
import { connectRedis } from '../../core/redis/connect-redis.ts'
import { storeAccess } from '../../core/redis/store-access.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { openGap } from '../../core/restore/restore-gap.ts'
import {
  isOlderStore,
  OLDER_STORE,
  otherStore,
  readSeenStore,
  readStoreIdentity,
} from '../../core/store/deployment-file.ts'
import { refuseOldVersion } from '../../core/store/minimum-version.ts'
import { type Boot, deploymentFile } from './child-specs.ts'

/** A store of the operator's own may come later; the admin service checks it too. */
const ANSWER_LIMIT_MS = 3_000

/**
 * Compares the store with what this machine remembers, before any service starts, so that one message says what is wrong.
 * @param isNewStore whether the operator wants to start over with an empty store
 * @throws a sentence for the operator
 */
export async function checkStoreIdentity(boot: Boot, isNewStore: boolean): Promise<void> {
  const file = deploymentFile(boot)
  const redis = connectRedis(storeAccess(boot.settings, boot.redisUrl), {
    name: 'agw-start',
    role: 'queue',
  })
  try {
    const read = readStoreIdentity(redis).catch((error: unknown) => {
      throw new Error(`the store cannot be used: ${connectionProblem(redis, error)}.`)
    })
    const found = await Promise.race([read, noAnswer()])
    if (found === 'no_answer') return
    await refuseOldVersion(redis)
    if (isNewStore && found !== null)
      throw new Error(
        `the store is not empty: it belongs to deployment ${found.deployment_id}. --new-store is only for an empty store.`,
      )
    if (isNewStore) rmSync(file, { force: true })
    const other = otherStore(file, readSeenStore(file), found)
    if (other !== null) throw new Error(other)
    if (found !== null && isOlderStore(readSeenStore(file), found)) await holdAgents(redis, boot)
  } finally {
    redis.disconnect()
  }
}

/** Before an edge serves them. The admin service then applies what the archive knows, and raises the alert. */
async function holdAgents(redis: RedisClient, { settings }: Boot): Promise<void> {
  const now = new Date()
  const gap = { known_until: now.toISOString(), reasons: [OLDER_STORE] }
  await openGap({ redis, lease_ms: settings.killLease_ms }, gap, now)
}

async function noAnswer(): Promise<'no_answer'> {
  await wait(ANSWER_LIMIT_MS, undefined, { ref: false })
  return 'no_answer'
}
