import { decode } from './command-client.ts'
import type { Link } from './network.ts'
import { SimProcess, START_MS } from './sim-process.ts'
import { type Reply, ReplyError, type StoreContent, StoreModel } from './store-model.ts'
import type { World } from './world.ts'

const LOADING = 'LOADING Redis is loading the dataset in memory'

/** What the store sends on a connection. */
export interface ConnectionEnd {
  readonly link: Link
  readonly incarnation: number
  accepted(): void
  closed(): void
  replied(reply: Reply | Error): void
  published(channel: string, text: string): void
}

/** One connection as the store sees it. */
interface Served {
  readonly end: ConnectionEnd
  readonly channels: Set<string>
  /** The last message in each direction arrives then. */
  readonly latest_ms: { up: number; down: number }
  isOpen: boolean
}

interface Blocked {
  readonly served: Served
  readonly args: readonly string[]
  isOver: boolean
}

/** The store as a process in the network: connections, publishing, blocking reads, restarts. */
export class SimStore {
  readonly process: SimProcess
  readonly model: StoreModel
  readonly #world: World
  readonly #connections = new Map<ConnectionEnd, Served>()
  #blocked: Blocked[] = []
  /** Whose command is run. */
  #sender: SimProcess | null = null
  /** Called before a command is run, with the process that sent it. */
  onCommand: (from: SimProcess, name: string, args: readonly string[]) => void = () => undefined

  /** Called when a command was run. */
  onDone: (name: string) => void = () => undefined
  onPublish: (channel: string, text: string) => void = () => undefined

  constructor(world: World) {
    this.#world = world
    this.process = new SimProcess(world, 'store', 1)
    this.process.start()
    this.model = new StoreModel(
      () => Math.floor(this.process.wallMs() * 1000),
      (channel, text) => this.#publish(channel, text),
    )
  }

  get time_ms(): number {
    return this.process.wallMs() - START_MS
  }

  /** Ends, and starts again with this content, on the same address. */
  restart(content: StoreContent, down_ms: number): void {
    this.#world.note(`the store restarts after ${down_ms.toFixed(0)} ms`)
    for (const served of this.#connections.values()) {
      served.isOpen = false
      this.#down(served, () => served.end.closed())
    }
    this.#connections.clear()
    this.#blocked = []
    this.process.end()
    this.model.replace(content)
    this.#world.after(down_ms, () => this.process.start())
  }

  // What a client does.

  connect(end: ConnectionEnd): void {
    const served: Served = {
      end,
      channels: new Set(),
      latest_ms: { up: 0, down: 0 },
      isOpen: true,
    }
    this.#connections.set(end, served)
    const { link } = end
    link.send('up', () =>
      this.#world.after(link.delay(), () => {
        // Nobody listens.
        if (!this.process.isAlive || !served.isOpen) {
          this.#connections.delete(end)
          served.isOpen = false
          this.#down(served, () => end.closed())
        } else this.#down(served, () => end.accepted())
      }),
    )
  }

  command(end: ConnectionEnd, name: string, args: readonly string[]): void {
    const served = this.#connections.get(end)
    if (served === undefined) return
    this.#up(served, () => this.#receive(served, name, args))
  }

  /** The client has closed its side. What it had sent may still arrive. */
  closedByClient(end: ConnectionEnd): void {
    const served = this.#connections.get(end)
    if (served === undefined) return
    const isReset = this.#world.random.chance(0.3)
    if (isReset) {
      served.isOpen = false
      this.#connections.delete(end)
      return
    }
    this.#up(served, () => {
      served.isOpen = false
      this.#connections.delete(end)
    })
  }

  #receive(served: Served, name: string, args: readonly string[]): void {
    if (!served.isOpen) return
    this.#sender = served.end.link.process
    this.onCommand(this.#sender, name, args)
    if (name === 'SUBSCRIBE') {
      served.channels.add(args[0] ?? '')
      this.#reply(served, 1)
      return
    }
    if (served.end.link.fails) return this.#reply(served, new ReplyError(LOADING))
    if (name === 'XREAD' && args.includes('BLOCK')) return this.#block(served, args)
    this.#reply(served, this.#run(name, args))
    this.onDone(name)
    if (this.#blocked.length > 0) this.#wakeBlocked()
  }

  #run(name: string, args: readonly string[]): Reply | Error {
    try {
      return this.model.run(name, args)
    } catch (error) {
      if (error instanceof ReplyError) return error
      throw error
    }
  }

  #block(served: Served, args: readonly string[]): void {
    const rows = this.#run('XREAD', args)
    if (rows !== null) return this.#reply(served, rows)
    const blocked: Blocked = { served, args, isOver: false }
    this.#blocked.push(blocked)
    const limit_ms = Number(args[args.indexOf('BLOCK') + 1])
    this.#world.after(limit_ms, () => this.#unblock(blocked, null), this.process)
  }

  #wakeBlocked(): void {
    for (const blocked of this.#blocked) {
      const rows = this.#run('XREAD', blocked.args)
      if (rows !== null) this.#unblock(blocked, rows)
    }
  }

  #unblock(blocked: Blocked, reply: Reply | Error): void {
    if (blocked.isOver) return
    blocked.isOver = true
    this.#blocked = this.#blocked.filter((one) => one !== blocked)
    this.#reply(blocked.served, reply)
  }

  #publish(channel: string, said: string): number {
    this.onPublish(channel, said)
    const text = this.#sender?.isNewer ? said.replaceAll('"what":"', '"what":"newer_') : said
    let count = 0
    for (const served of this.#connections.values()) {
      if (!served.channels.has(channel)) continue
      count++
      this.#send(served, channel, decode(text))
    }
    return count
  }

  /** Published messages may be lost, doubled and overtaken; nothing else on a connection is. */
  #send(served: Served, channel: string, text: string): void {
    const { random } = this.#world
    const { lost, doubled, delayed } = served.end.link
    const arrive = (): void => served.end.published(channel, text)
    if (lost > 0 && random.chance(lost)) {
      this.#world.note(`lost on the way to ${served.end.link.process.name}: ${text}`)
      return
    }
    if (doubled > 0 && random.chance(doubled)) this.#down(served, arrive)
    if (delayed > 0 && random.chance(delayed))
      this.#world.after(random.between(1, 400), () => this.#down(served, arrive), this.process)
    else this.#down(served, arrive)
  }

  #reply(served: Served, reply: Reply | Error): void {
    this.#down(served, () => served.end.replied(reply))
  }

  #up(served: Served, arrive: () => void): void {
    const { link } = served.end
    link.send('up', () => {
      const at_ms = Math.max(this.#world.now_ms + link.delay(), served.latest_ms.up)
      served.latest_ms.up = at_ms
      this.#world.at(at_ms, arrive, this.process, served)
    })
  }

  #down(served: Served, arrive: () => void): void {
    const { link, incarnation } = served.end
    link.send('down', () => {
      if (link.process.incarnation !== incarnation) return
      const at_ms = Math.max(this.#world.now_ms + link.delay(), served.latest_ms.down)
      served.latest_ms.down = at_ms
      this.#world.at(at_ms, arrive, link.process, served)
    })
  }
}
