import { backupClass } from '../../core/redis/backup-classes.ts'
import { KEY_TAG, REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { scanNames } from '../../core/redis/scan-store.ts'
import { readBackup } from '../backup/backup-file.ts'

const WRITES_AT_ONCE = 50

/** Removes what a backup has. */
export async function removeAll(redis: RedisClient): Promise<void> {
  let page: string[] = []
  const flush = async (): Promise<void> => {
    await Promise.all(page.map((name) => redis.unlink(name)))
    page = []
  }
  for await (const name of scanNames(redis, KEY_TAG)) {
    const its = backupClass(name)
    if (its === null || its === 'live') continue
    page.push(name)
    if (page.length >= WRITES_AT_ONCE) await flush()
  }
  await flush()
}

/** Writes everything but what makes the store one of a deployment. Returns the organizations that have a log. */
export async function writeAll(redis: RedisClient, file: string): Promise<string[]> {
  const organizations = new Set<string>()
  for await (const line of readBackup(file)) {
    if ('key' in line) {
      if (line.key === REDIS_KEYS.installation || line.key === REDIS_KEYS.epoch) continue
      await redis.restore(line.key, line.ttl_ms, Buffer.from(line.dump, 'base64'), 'REPLACE')
      continue
    }
    organizations.add(line.log)
    const key = REDIS_KEYS.activityRestoring(line.log)
    if ('entries' in line)
      await Promise.all(
        line.entries.map(([id, fields]) =>
          redis.xadd(key, id, ...fields.map((field) => Buffer.from(field, 'base64'))),
        ),
      )
    else await redis.call('XSETID', key, line.last_id, 'ENTRIESADDED', line.added)
  }
  return [...organizations]
}
