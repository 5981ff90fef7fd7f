import { connectRedis } from '../../core/redis/connect-redis.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import type { StoreAccess } from '../../core/redis/store-access.ts'

/** The store connections of one edge. Work that must never be delayed by other work has a separate connection. */
export interface EdgeConnections {
  readonly commands: RedisClient
  /** Hears messages alone. */
  readonly subscription: RedisClient
  /** For acknowledgements, so that nothing delays them. */
  readonly urgent: RedisClient
  /** For rate limits, whose scripts are gathered already: collecting them once more takes a third of the time of each. */
  readonly rates: RedisClient
  /** For automatic kills made by this edge. */
  readonly kills: RedisClient
  disconnect(): void
}

export function connectEdge(store: StoreAccess, edge_id: string): EdgeConnections {
  const name = `ext-proc-${edge_id}`
  const commands = connectRedis(store, { name, role: 'commands' })
  const subscription = connectRedis(store, { name: `${name}-hears`, role: 'subscription' })
  const urgent = connectRedis(store, { name: `${name}-urgent`, role: 'urgent' })
  const rates = connectRedis(store, { name: `${name}-rates`, role: 'urgent' })
  const kills = connectRedis(store, { name: `${name}-kills`, role: 'commands' })
  return {
    commands,
    subscription,
    urgent,
    rates,
    kills,
    disconnect: () => {
      for (const connection of [commands, kills, rates, urgent, subscription])
        connection.disconnect()
    },
  }
}
