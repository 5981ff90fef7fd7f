import { EventEmitter } from 'node:events'
import { setImmediate as turn } from 'node:timers/promises'
import type { MockTimers } from 'node:test'
import type {
  Acknowledgement,
  ControlTarget,
  EdgeRecord,
} from '../../core/control/control-message.ts'
import { CHANNELS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'

/** A subscription without a store: the test says what arrives on it, and whether its pings are answered. */
export class FakeSubscription extends EventEmitter {
  status: 'ready' | 'reconnecting' = 'ready'
  isAnswering = true
  /** How often the client has closed the socket. */
  destroyed = 0
  readonly subscribed: string[] = []
  #pings: { readonly resolve: (text: string) => void; readonly reject: (error: Error) => void }[] =
    []

  /** How ioredis names the socket. */
  readonly stream = { destroy: (): void => this.#destroy() }

  get unanswered(): number {
    return this.#pings.length
  }

  async subscribe(channel: string): Promise<number> {
    this.subscribed.push(channel)
    return 1
  }

  ping(): Promise<string> {
    if (this.isAnswering) return Promise.resolve('PONG')
    return new Promise((resolve, reject) => {
      this.#pings.push({ resolve, reject })
    })
  }

  answerPings(): void {
    for (const { resolve } of this.#pings.splice(0)) resolve('PONG')
  }

  lose(): void {
    this.status = 'reconnecting'
    for (const { reject } of this.#pings.splice(0)) reject(new Error('Connection is closed.'))
    this.emit('close')
  }

  reopen(): void {
    this.status = 'ready'
    this.emit('ready')
  }

  #destroy(): void {
    this.destroyed++
    this.lose()
  }
}

const STEP_MS = 50
const BEACON_INTERVAL_MS = 250

/** The control channel and the two scripts of an edge, with a clock of the test's own. */
export class FakeControlChannel {
  readonly subscription = new FakeSubscription()
  now_ms = 10_000
  /** What the store has as its epoch. */
  epoch = 5
  isSendingBeacons = true
  /** Whether the store takes beats. */
  isStoreUp = true
  readonly beats: (EdgeRecord | 'signed off')[] = []
  /** In the order in which they were written, each as `epoch terminated/unconfirmed`, with `?` where one may exist. */
  readonly acknowledged: string[] = []
  /** The error of the store when an acknowledgement is written; null for none. */
  refusesWrites: string | null = null
  /** Epochs of the acknowledgements that were only published. */
  readonly published: number[] = []
  onAcknowledged: (epoch: number) => void = () => undefined
  readonly #timers: MockTimers
  #beacon_ms = 10_000

  /** `timers` are those of the test, with setInterval and setTimeout mocked. */
  constructor(timers: MockTimers) {
    this.#timers = timers
  }

  readonly commands = {
    evalsha: async (_sha: string, keys: number, ...rest: unknown[]): Promise<string[]> => {
      if (!this.isStoreUp) throw new Error('Connection is closed.')
      const record = String(rest[keys + 1])
      this.beats.push(record === '' ? 'signed off' : (JSON.parse(record) as EdgeRecord))
      return [String(this.epoch), String(this.now_ms)]
    },
  } as unknown as RedisClient

  readonly urgent = {
    evalsha: async (_sha: string, _keys: number, ...rest: unknown[]): Promise<number> => {
      if (this.refusesWrites !== null) throw new Error(this.refusesWrites)
      const { epoch, terminated, unconfirmed } = JSON.parse(String(rest[2])) as Acknowledgement
      const ifAbsent = rest[5] === 1 ? '?' : ''
      this.acknowledged.push(`${epoch}${ifAbsent} ${terminated}/${unconfirmed}`)
      this.onAcknowledged(epoch)
      return 1
    },
    publish: async (_channel: string, text: string): Promise<number> => {
      this.published.push((JSON.parse(text) as Acknowledgement).epoch)
      return 1
    },
  } as unknown as RedisClient

  /** A change is written; its message arrives unless it is `lost`. Returns its epoch. */
  change(targets: readonly ControlTarget[], lost: 'lost' | 'arrives' = 'arrives'): number {
    this.epoch++
    if (lost === 'arrives') this.message({ kind: 'control', epoch: this.epoch, targets })
    return this.epoch
  }

  beacon(epoch = this.epoch): void {
    this.message({ kind: 'beacon', epoch, sender: 'test' })
  }

  message(message: object): void {
    this.text(JSON.stringify(message))
  }

  text(text: string, channel: string = CHANNELS.control): void {
    if (this.subscription.status === 'ready') this.subscription.emit('message', channel, text)
  }

  /** Time passes, with the beacons that are due. */
  async pass(ms: number): Promise<void> {
    const end_ms = this.now_ms + ms
    while (this.now_ms < end_ms) {
      const step_ms = Math.min(STEP_MS, end_ms - this.now_ms)
      this.now_ms += step_ms
      this.#timers.tick(step_ms)
      if (this.isSendingBeacons && this.now_ms - this.#beacon_ms >= BEACON_INTERVAL_MS) {
        this.#beacon_ms = this.now_ms
        this.beacon()
      }
      await settle()
    }
  }
}

/** Lets everything run that waits for nothing but its turn. */
export async function settle(): Promise<void> {
  for (let i = 0; i < 3; i++) await turn()
}
