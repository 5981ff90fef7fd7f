import type { RedisClient } from './run-script.ts'

/**
 * Waits until every replica has received the last write of this connection, or until the limit. Must be called on the
 * connection that wrote; later commands on that connection wait too. @returns null if there are no replicas
 */
export async function waitForReplicas(
  redis: RedisClient,
  limit_ms: number,
): Promise<{ readonly connected: number; readonly acknowledged: number } | null> {
  const replication = await redis.info('replication')
  const connected = Number(/^connected_slaves:(\d+)/m.exec(replication)?.[1] ?? 0)
  if (connected === 0) return null
  const acknowledged = await redis.wait(connected, limit_ms)
  return { connected, acknowledged: Math.min(connected, acknowledged) }
}
