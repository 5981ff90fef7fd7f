import type { ConnectionOptions } from 'node:tls'
import { Redis } from 'ioredis'
import { REDIS_KEYS } from './redis-keys.ts'
import type { StorePlace } from './store-address.ts'

/** All keys share one hash tag and therefore one slot. `CLUSTER KEYSLOT {agw}` returns this number. */
export const CLUSTER_SLOT = slotOf(REDIS_KEYS.epoch)

const ASK_LIMIT_MS = 2_000
/** How long to wait for more answers after the first one, which may come from a node that is cut off from the others. */
const OTHERS_LIMIT_MS = 200
/** Nodes that are remembered and asked, in addition to those of the address. */
const NODES_MAX = 32

interface MapParts {
  readonly places: readonly StorePlace[]
  readonly username: string | null
  readonly password: string | null
  readonly tls: ConnectionOptions | null
}

/**
 * Finds the primary that serves the slot of the product. Any node can be asked; the answer that most nodes give counts,
 * since a node that is cut off from the majority still believes in the primary on its side.
 */
export class ClusterMap {
  readonly #parts: MapParts
  #known: readonly StorePlace[] = []
  #finding: Promise<StorePlace> | null = null

  constructor(parts: MapParts) {
    this.#parts = parts
  }

  /**
   * Concurrent calls share one answer.
   * @throws (rejects) with the error of a node if none names a primary
   */
  primary(): Promise<StorePlace> {
    this.#finding ??= this.#find().finally(() => {
      this.#finding = null
    })
    return this.#finding
  }

  async #find(): Promise<StorePlace> {
    const places = [...new Map([...this.#parts.places, ...this.#known].map(keyed)).values()]
    const votes = new Map<string, { readonly place: StorePlace; count: number }>()
    let why: unknown = new Error('no node of the cluster was asked')
    await new Promise<void>((resolve) => {
      let open = places.length
      for (const asked of places)
        this.#ask(asked)
          .then(
            (place) => {
              const vote = votes.get(keyed(place)[0]) ?? { place, count: 0 }
              vote.count++
              votes.set(keyed(place)[0], vote)
              if (vote.count > places.length / 2) resolve()
              else setTimeout(resolve, OTHERS_LIMIT_MS)
            },
            (error: unknown) => {
              why = error
            },
          )
          .finally(() => {
            if (--open === 0) resolve()
          })
    })
    const [first] = [...votes.values()].sort((a, b) => b.count - a.count)
    if (first === undefined) throw why
    return first.place
  }

  async #ask(asked: StorePlace): Promise<StorePlace> {
    const { username, password, tls } = this.#parts
    const redis = new Redis({
      ...asked,
      ...(username === null ? {} : { username }),
      ...(password === null ? {} : { password }),
      ...(tls === null ? {} : { tls }),
      connectTimeout: ASK_LIMIT_MS,
      commandTimeout: ASK_LIMIT_MS,
      enableReadyCheck: false,
      maxRetriesPerRequest: 0,
      retryStrategy: () => null,
      lazyConnect: true,
    })
    let why: unknown = null
    redis.on('error', (error: unknown) => {
      why ??= error
    })
    try {
      const rows: unknown = await redis.call('CLUSTER', 'SLOTS')
      const nodes = nodesOfSlot(rows, asked)
      const [primary] = nodes
      if (primary === undefined) throw new Error('CLUSTERDOWN no node serves the slot of {agw}')
      this.#known = nodes.slice(0, NODES_MAX)
      return primary
    } catch (error) {
      throw why ?? error
    } finally {
      redis.disconnect()
    }
  }
}

const keyed = (place: StorePlace): readonly [string, StorePlace] => [
  `${place.host} ${place.port}`,
  place,
]

/** The primary of the slot and its replicas, from rows of `[from, to, [host, port, id, …], …]`. */
function nodesOfSlot(rows: unknown, asked: StorePlace): readonly StorePlace[] {
  if (!Array.isArray(rows)) return []
  for (const row of rows as readonly unknown[]) {
    const [from, to, ...nodes] = row as [number, number, ...(readonly unknown[])[]]
    if (CLUSTER_SLOT < from || CLUSTER_SLOT > to) continue
    return nodes.flatMap(([host, port]) => {
      // A node that does not know its own address leaves it out: it is where it was reached.
      const known = typeof host === 'string' && host !== '' && host !== '?' ? host : asked.host
      return typeof port === 'number' ? [{ host: known, port }] : []
    })
  }
  return []
}

/** CRC16 (XMODEM) of the hash tag. */
function slotOf(key: string): number {
  const tag = /\{([^}]+)\}/.exec(key)?.[1] ?? key
  let crc = 0
  for (const byte of Buffer.from(tag)) {
    crc ^= byte << 8
    for (let bit = 0; bit < 8; bit++) crc = ((crc << 1) ^ (crc & 0x8000 ? 0x1021 : 0)) & 0xffff
  }
  return crc % 16_384
}
