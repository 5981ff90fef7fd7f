import { type Command, Redis, type RedisOptions } from 'ioredis'

/** Replies have the same form whatever protocol version the server uses. */
export type StoreClientOptions = Omit<RedisOptions, 'replyMapping'>

/** Message of the error of a command without a reply in time, the same as the library's. */
export const COMMAND_TIMED_OUT = 'Command timed out'

/** Members of the library that `StoreClient` uses although they are not in its types; there are no settings for them. */
interface Internals {
  readonly stream: NodeJS.EventEmitter & { destroy(error: Error): void }
  readonly commandQueue: { readonly length: number }
  socketTimeoutTimer: NodeJS.Timeout | undefined
  setSocketTimeout(): void
}

interface TimedCommand {
  readonly isSettled: boolean
  _commandTimeoutTimer?: NodeJS.Timeout
  reject(error: Error): void
}

/** A wait consists of parts. While this process or its machine is stopped, at most one of them ends. */
const PARTS_OF_LONG_WAIT = 4
/** Of all shorter waits, so that they share a timer: one that was cleared still wakes the process once. */
const PART_MS = 250
const LONG_WAIT_MS = 10_000

/**
 * Runs `giveUp` after a time, unless the answer has arrived by then. After an event loop was blocked, its timers fire before it
 * reads its sockets, so a reply that has already arrived would count as late. Two more turns of the loop read it first. A reply
 * that the store could not send either, such as on a virtual machine that was paused, has the other parts of the time left.
 */
function afterLastLook(limit_ms: number, giveUp: () => void): NodeJS.Timeout {
  let parts = limit_ms > LONG_WAIT_MS ? PARTS_OF_LONG_WAIT : Math.ceil(limit_ms / PART_MS)
  const timer = setTimeout(() => {
    if (--parts > 0) timer.refresh()
    else setImmediate(() => setImmediate(giveUp))
  }, limit_ms / parts)
  return timer
}

export interface WaitLimits {
  /** A command without a reply for this long fails; null: never. */
  readonly command_ms: number | null
  /** A connection on which a reply is due for this long is closed and opened again; null: never. */
  readonly silence_ms: number | null
}

/**
 * The node does not accept writes (any more) and has done nothing. A new connection goes to the node that does, and the command
 * is sent there.
 */
const OTHER_NODE = /^(MOVED|READONLY|CLUSTERDOWN|MASTERDOWN|UNBLOCKED)\b/
/** While there is no such node, every new connection gets the same reply. */
const MOVES_PER_INTERVAL = 3
const MOVE_INTERVAL_MS = 1_000
const RESEND = 2
/** How long after the library has given a client up it connects again. */
const REVIVE_MS = 50

/** An ioredis connection whose time limits count from when replies are read, not from when they were due. */
export class StoreClient extends Redis {
  readonly #command_ms: number | null
  #moves = 0
  #movesSince_ms = 0
  #isClosed = false

  constructor(options: StoreClientOptions, { command_ms, silence_ms }: WaitLimits) {
    // The limits must be set before the first connection.
    super({
      ...options,
      ...(silence_ms === null ? {} : { socketTimeout: silence_ms }),
      lazyConnect: true,
      reconnectOnError: (error) => (this.#isToMove(error) ? RESEND : false),
    })
    this.#command_ms = command_ms
    if (silence_ms !== null) closeWhenSilent(this as unknown as Internals, silence_ms)
    this.on('end', () => this.#revive())
    this.connect().catch(() => undefined)
  }

  /** Whether `disconnect` was called: it does not connect again. */
  get is_closed(): boolean {
    return this.#isClosed
  }

  override disconnect(reconnect = false): void {
    if (!reconnect) this.#isClosed = true
    super.disconnect(reconnect)
  }

  /** The library gives a client up when a Sentinel reports a failover while the client is looking for the primary. */
  #revive(): void {
    setTimeout(() => {
      if (!this.#isClosed && this.status === 'end') this.connect().catch(() => undefined)
    }, REVIVE_MS)
  }

  /** Commands wait for the new connection only while it is being made. */
  #isToMove({ message }: Error): boolean {
    if (!OTHER_NODE.test(message)) return false
    const now_ms = performance.now()
    if (now_ms - this.#movesSince_ms > MOVE_INTERVAL_MS) {
      this.#moves = 0
      this.#movesSince_ms = now_ms
    }
    const { options } = this
    if (this.status !== 'ready') return options.enableOfflineQueue === true
    // Several commands were pending on the connection that is being closed.
    if (this.stream.writableEnded) return true
    if (++this.#moves > MOVES_PER_INTERVAL) return false
    if (options.enableOfflineQueue !== true) this.#waitForMove()
    return true
  }

  #waitForMove(): void {
    const { options } = this
    options.enableOfflineQueue = true
    options.maxRetriesPerRequest = null
    const failAtOnceAgain = (): void => {
      options.enableOfflineQueue = false
      options.maxRetriesPerRequest = 0
      this.off('close', failAtOnceAgain)
      this.off('ready', failAtOnceAgain)
    }
    // The first `end` event is that of the old connection.
    this.once('close', () => {
      this.once('close', failAtOnceAgain)
      this.once('ready', failAtOnceAgain)
    })
  }

  override sendCommand(
    command: Command,
    stream?: Parameters<Redis['sendCommand']>[1],
  ): ReturnType<Redis['sendCommand']> {
    const sent = super.sendCommand(command, stream)
    if (this.#command_ms !== null) limitWait(command as unknown as TimedCommand, this.#command_ms)
    return sent
  }
}

/** The library clears this timer when the command is settled. */
function limitWait(command: TimedCommand, limit_ms: number): void {
  if (command.isSettled || command._commandTimeoutTimer !== undefined) return
  command._commandTimeoutTimer = afterLastLook(limit_ms, () => {
    if (!command.isSettled) command.reject(new Error(COMMAND_TIMED_OUT))
  })
}

function closeWhenSilent(client: Internals, limit_ms: number): void {
  client.setSocketTimeout = () => {
    const { stream } = client
    let isAnswered = false
    const timer = afterLastLook(limit_ms, () => {
      if (client.socketTimeoutTimer === timer) client.socketTimeoutTimer = undefined
      if (!isAnswered) stream.destroy(new Error(`Socket timeout: no answer within ${limit_ms} ms`))
    })
    client.socketTimeoutTimer = timer
    stream.once('data', () => {
      isAnswered = true
      clearTimeout(timer)
      client.socketTimeoutTimer = undefined
      if (client.commandQueue.length > 0) client.setSocketTimeout()
    })
  }
}
