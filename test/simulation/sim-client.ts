import { CommandClient } from './command-client.ts'
import type { Link, Role } from './network.ts'
import type { SimStore, ConnectionEnd } from './sim-store.ts'
import type { Reply } from './store-model.ts'

/** As in `core/redis/connect-redis.ts`. */
const COMMAND_TIMEOUT_MS = 1000
const CONNECT_TIMEOUT_MS = 2000
const SILENCE_LIMIT_MS = 1500
const BLOCKING_SILENCE_LIMIT_MS = 30_000
const RECONNECT_MAX_MS = 200
const PING_INTERVAL_MS = 500

interface Sent {
  readonly name: string
  readonly args: readonly string[]
  readonly resolve: (reply: Reply) => void
  readonly reject: (error: Error) => void
  sent_ms: number
  isGivenUp: boolean
}

/** A connection to the store as the product's clients behave: time limits, reconnection, what fails at once and what waits. */
export class SimClient extends CommandClient {
  override status = 'connecting'
  /** The socket. */
  readonly stream = { destroy: (): void => this.#lose('destroyed') }
  readonly #store: SimStore
  readonly #link: Link
  readonly #role: Role
  readonly #channels = new Set<string>()
  /** Called with what is sent to the store. */
  onSend: (args: readonly string[]) => void = () => undefined
  #end: ConnectionEnd | null = null
  #sent: Sent[] = []
  #waiting: Sent[] = []
  #attempts = 0
  #isClosed = false
  #isLooking = false

  constructor(store: SimStore, link: Link, role: Role) {
    super()
    this.#store = store
    this.#link = link
    this.#role = role
    this.on('error', () => undefined)
    this.#connect()
    if (role === 'subscription')
      setInterval(() => {
        if (this.status === 'ready') this.ask('PING', [], false).catch(() => undefined)
      }, PING_INTERVAL_MS)
  }

  get #failsAtOnce(): boolean {
    return this.#role === 'commands' || this.#role === 'urgent'
  }

  override disconnect(): void {
    this.#isClosed = true
    this.#lose('closed')
  }

  override async subscribe(channel: string): Promise<number> {
    this.#channels.add(channel)
    await this.send('SUBSCRIBE', [channel])
    return this.#channels.size
  }

  protected override send(name: string, args: readonly string[]): Promise<Reply> {
    return new Promise((resolve, reject) => {
      const sent: Sent = { name, args, resolve, reject, sent_ms: 0, isGivenUp: false }
      if (this.status === 'ready') this.#write(sent)
      else if (this.#failsAtOnce || this.#isClosed)
        reject(new Error("Stream isn't writeable and enableOfflineQueue options is false"))
      else this.#waiting.push(sent)
    })
  }

  #write(sent: Sent): void {
    if (this.#end === null) return
    sent.sent_ms = performance.now()
    this.#sent.push(sent)
    this.onSend(sent.args)
    this.#store.command(this.#end, sent.name, sent.args)
    this.#lookLater()
  }

  /** The clock of replies runs while one is due. */
  #lookLater(): void {
    if (this.#isLooking || this.#sent.length === 0) return
    this.#isLooking = true
    setTimeout(
      () =>
        setImmediate(() => {
          this.#isLooking = false
          this.#look()
          this.#lookLater()
        }),
      250,
    )
  }

  #look(): void {
    const now_ms = performance.now()
    const [oldest] = this.#sent
    if (this.#failsAtOnce)
      for (const one of this.#sent) {
        if (one.isGivenUp || now_ms - one.sent_ms < COMMAND_TIMEOUT_MS) continue
        one.isGivenUp = true
        one.reject(new Error('Command timed out'))
      }
    const limit_ms = this.#role === 'queue' ? BLOCKING_SILENCE_LIMIT_MS : SILENCE_LIMIT_MS
    if (oldest !== undefined && now_ms - oldest.sent_ms >= limit_ms) this.#lose('silent')
  }

  #connect(): void {
    this.status = 'connecting'
    const { process } = this.#link
    const end: ConnectionEnd = {
      link: this.#link,
      incarnation: process.incarnation,
      accepted: () => {
        if (this.#end === end) this.#isReady()
      },
      closed: () => {
        if (this.#end === end) this.#lose('closed by the store')
      },
      replied: (reply) => {
        if (this.#end === end) this.#hear(reply)
      },
      published: (channel, text) => {
        if (this.#end === end) this.emit('message', channel, text)
      },
    }
    this.#end = end
    this.#store.connect(end)
    setTimeout(() => {
      if (this.#end === end && this.status === 'connecting') this.#lose('connect timeout')
    }, CONNECT_TIMEOUT_MS)
  }

  #isReady(): void {
    this.status = 'ready'
    this.#attempts = 0
    for (const channel of this.#channels)
      this.#write({
        name: 'SUBSCRIBE',
        args: [channel],
        resolve: () => undefined,
        reject: () => undefined,
        sent_ms: 0,
        isGivenUp: false,
      })
    for (const sent of this.#waiting.splice(0)) this.#write(sent)
    this.emit('ready')
  }

  #hear(reply: Reply | Error): void {
    const sent = this.#sent.shift()
    if (sent === undefined || sent.isGivenUp) return
    if (reply instanceof Error) sent.reject(reply)
    else sent.resolve(reply)
  }

  #lose(_why: string): void {
    const end = this.#end
    if (end === null) return
    this.#end = null
    this.#store.closedByClient(end)
    this.status = this.#isClosed ? 'end' : 'reconnecting'
    const unanswered = this.#sent.splice(0).filter(({ isGivenUp }) => !isGivenUp)
    if (this.#failsAtOnce || this.#isClosed)
      for (const { reject } of unanswered) reject(new Error('Connection is closed.'))
    else this.#waiting.unshift(...unanswered)
    this.emit('close')
    if (this.#isClosed) return
    setTimeout(() => this.#connect(), Math.min(++this.#attempts * 50, RECONNECT_MAX_MS))
  }
}
