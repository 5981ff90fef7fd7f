import type { RedisClient } from './run-script.ts'

/** The id of the run of the store: another one after a restart or a failover, which may have lost the last writes. @throws if it does not answer */
export const runOfStore = async (redis: Pick<RedisClient, 'info'>): Promise<string> =>
  /run_id:([\da-f]+)/.exec(await redis.info('server'))?.[1] ?? ''
