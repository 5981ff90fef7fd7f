import type { RedisClient } from '../../core/redis/run-script.ts'
import { CommandClient, decode } from './command-client.ts'
import { type Reply, StoreModel } from './store-model.ts'

/** The model of the store with the clock of this machine and connections that take no time, for tests of the product's scripts. */
export class DirectStore {
  readonly #subscribers = new Map<string, Set<DirectClient>>()
  readonly model = new StoreModel(
    () => Math.floor((performance.timeOrigin + performance.now()) * 1000),
    (channel, text) => {
      const heard = this.#subscribers.get(channel) ?? new Set()
      for (const client of heard) client.emit('message', channel, decode(text))
      return heard.size
    },
  )

  connect(): RedisClient {
    return new DirectClient(this.model, this.#subscribers).client
  }
}

class DirectClient extends CommandClient {
  readonly #model: StoreModel
  readonly #subscribers: Map<string, Set<DirectClient>>

  constructor(model: StoreModel, subscribers: Map<string, Set<DirectClient>>) {
    super()
    this.#model = model
    this.#subscribers = subscribers
  }

  protected override send(name: string, args: readonly string[]): Promise<Reply> {
    return Promise.resolve().then(() => this.#model.run(name, args))
  }

  override async subscribe(channel: string): Promise<number> {
    const heard = this.#subscribers.get(channel) ?? new Set()
    this.#subscribers.set(channel, heard.add(this))
    return 1
  }

  override disconnect(): void {
    for (const heard of this.#subscribers.values()) heard.delete(this)
  }
}
