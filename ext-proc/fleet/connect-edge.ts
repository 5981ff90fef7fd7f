import { connectRedis } from '../../core/redis/connect-redis.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'

/** The connections of one edge. What must never wait behind other work has one of its own. */
export interface EdgeConnections {
  readonly commands: RedisClient
  /** Hears messages alone. */
  readonly subscription: RedisClient
  /** Acknowledgements go here, so that they wait for nothing. */
  readonly urgent: RedisClient
  /** Kills that this edge makes itself. */
  readonly kills: RedisClient
  disconnect(): void
}

export function connectEdge(redisUrl: string, edge_id: string): EdgeConnections {
  const name = `ext-proc-${edge_id}`
  const commands = connectRedis(redisUrl, { name, role: 'commands' })
  const subscription = connectRedis(redisUrl, { name: `${name}-hears`, role: 'subscription' })
  const urgent = connectRedis(redisUrl, { name: `${name}-urgent`, role: 'urgent' })
  const kills = connectRedis(redisUrl, { name: `${name}-kills`, role: 'commands' })
  return {
    commands,
    subscription,
    urgent,
    kills,
    disconnect: () => {
      for (const connection of [commands, kills, urgent, subscription]) connection.disconnect()
    },
  }
}
