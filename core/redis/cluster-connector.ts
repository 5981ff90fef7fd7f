import { createConnection, type Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { connect as connectTls, type ConnectionOptions } from 'node:tls'
import { AbstractConnector } from 'ioredis'
import type { ClusterMap } from './cluster-map.ts'

const TRY_AGAIN_MS = 250
/** A peer that does not answer the end of a connection is dropped. */
const DISCONNECT_LIMIT_MS = 2_000

/**
 * Connects to the primary of the product's slot in a cluster, as the library's own connector does to what a Sentinel names:
 * each new connection asks again where the primary is. With one slot there is one node, so every connection, subscriptions
 * included, has the semantics and the time limits of a single server.
 */
export function clusterConnector(
  map: ClusterMap,
  tls: ConnectionOptions | null,
): new () => AbstractConnector {
  return class ClusterConnector extends AbstractConnector {
    constructor() {
      super(DISCONNECT_LIMIT_MS)
    }

    override check(info: { readonly role?: string }): boolean {
      return info.role !== 'slave'
    }

    override async connect(emit: (type: string, error: Error) => void): Promise<Socket> {
      this.connecting = true
      for (;;) {
        try {
          const place = await map.primary()
          if (!this.connecting) throw new Error('Connection is closed.')
          return this.#open(place)
        } catch (error) {
          // A rejection would end reconnecting for good.
          if (!this.connecting) throw error
          emit('error', error as Error)
          await wait(TRY_AGAIN_MS)
          if (!this.connecting) throw error
        }
      }
    }

    #open(place: { readonly host: string; readonly port: number }): Socket {
      const stream = tls === null ? createConnection(place) : connectTls({ ...tls, ...place })
      stream.once('error', (error) => {
        this.firstError = error
      })
      this.stream = stream
      return stream
    }
  }
}
