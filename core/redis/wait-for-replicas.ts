import { Cluster } from 'ioredis'
import type { RedisClient } from './run-script.ts'

/**
 * Waits until every replica has what this connection wrote last, or the limit is over. To be called on the connection
 * that wrote; commands behind it on that connection wait too.
 * @returns null where there are no replicas
 */
export async function waitForReplicas(
  redis: RedisClient,
  limit_ms: number,
): Promise<{ readonly connected: number; readonly acknowledged: number } | null> {
  const nodes = redis instanceof Cluster ? redis.nodes('master') : [redis]
  const counts = await Promise.all(
    nodes.map(async (node) => {
      const connected = Number(
        /^connected_slaves:(\d+)/m.exec(await node.info('replication'))?.[1] ?? 0,
      )
      if (connected === 0) return null
      return { connected, acknowledged: await node.wait(connected, limit_ms) }
    }),
  )
  const found = counts.filter((count) => count !== null)
  if (found.length === 0) return null
  // A node of a cluster that this connection wrote nothing to answers at once, with all of its replicas.
  return {
    connected: found.reduce((sum, { connected }) => sum + connected, 0),
    acknowledged: found.reduce(
      (sum, { connected, acknowledged }) => sum + Math.min(connected, acknowledged),
      0,
    ),
  }
}
