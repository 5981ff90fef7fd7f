import { connectRedis } from '../../core/redis/connect-redis.ts'

/** Changes a stored record without the product, as an attacker with write access to the store might. */
export async function rewriteRecord(
  redisUrl: string,
  hash: string,
  field: string,
  change: (record: any) => unknown,
): Promise<void> {
  const redis = connectRedis(redisUrl, { name: 'test', role: 'queue' })
  try {
    const text = await redis.hget(hash, field)
    if (text === null) throw new Error(`no ${field} in ${hash}`)
    const changed = change(JSON.parse(text))
    await redis.hset(hash, field, typeof changed === 'string' ? changed : JSON.stringify(changed))
  } finally {
    redis.disconnect()
  }
}
