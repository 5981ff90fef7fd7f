import { type ChildProcess, spawn } from 'node:child_process'
import { rmSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { setTimeout as wait } from 'node:timers/promises'

/** `starting` answers, but cannot serve yet. */
export type ProbeResult = 'ready' | 'starting' | 'silent'

export interface ChildSpec {
  readonly name: string
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
  /** `ipc`: the child sends `{kind: 'ready'}` and answers pings (core/system/answer-pings.ts). Others are probed. */
  readonly probe: 'ipc' | (() => Promise<ProbeResult>)
  /** How many times longer than others it may be silent before it is killed. */
  readonly patience?: number
  /** Socket files that an earlier process left behind. */
  readonly sockets: readonly string[]
  /** File descriptors of this process that the child inherits, from FIRST_FD on. */
  readonly fds?: readonly number[]
  /**
   * Two processes of it may run at once: a restart starts the new one and then stops the old one with this signal. Unset: it stops
   * the old one first, with SIGTERM.
   */
  readonly replaced_with?: NodeJS.Signals | undefined
}

/** After standard input, output and error. */
export const FIRST_FD = 3

export interface SupervisorParts {
  /** A line that a child has written, or of the supervisor itself if `child` is null. */
  readonly write: (line: string, child: string | null) => void
  /** Called once, when a child does not become ready; the message names it and holds its last output. */
  readonly giveUp: (why: string) => void
  /** Called after each start of a child, the first and all later ones. */
  readonly spawned?: () => void
  /** A child that does not answer for so long is killed and started again. */
  readonly silence_limit_ms?: number
  /** The same for one that has never answered. */
  readonly start_limit_ms?: number
}

/**
 * A child that exited so often before it was first ready is given up. A child that
 * was ready before lacks something that may come back, such as the store; the other children continue meanwhile.
 */
const FAILED_STARTS_LIMIT = 5
/** The pause before a restart grows with the number of exits within this time. */
const DEATHS_WINDOW_MS = 60_000
/** One that served for so long before it exited is started again at once: it is in no loop that the pause has to slow down. */
const SETTLED_MS = 2_000
const BACK_OFF_MIN_MS = 100
const BACK_OFF_MAX_MS = 2_000
const READY_POLL_MS = 50
const LAST_WORDS_LIMIT = 8

const SILENCE_LIMIT_MS = 10_000
/** Pings within the silence limit, so that one that is late decides nothing. */
const PINGS_IN_LIMIT = 5
/** A process that has never answered may still be loading its code, on a machine that is busy with all of them. */
const START_LIMIT_MS = 60_000

interface Child {
  readonly spec: ChildSpec
  process: ChildProcess | null
  /** When the process of now became ready. */
  ready_ms: number | null
  deaths_ms: number[]
  hasWorked: boolean
  failedStarts: number
  lastWords: string[]
  restart: NodeJS.Timeout | null
  exited: Promise<void>
  isReady: () => void
  /** Whether a message has arrived since the last ping. */
  hasAnswered: boolean
  /** Its end is wanted: it is not restarted. */
  isLeaving: boolean
}

/**
 * Restarts children that exit, after a growing pause, and without limit if they have been ready before. Children that hang
 * (stopped, or with an event loop that does not run) are killed first.
 * Children have process groups of their own, so that Ctrl-C reaches the launcher alone and it decides the order.
 */
export class Supervisor {
  readonly #parts: SupervisorParts
  readonly #children = new Map<string, Child>()
  #stopping = false

  constructor(parts: SupervisorParts) {
    this.#parts = parts
  }

  /** Starts a child and resolves when it is ready for the first time, across restarts. */
  start(spec: ChildSpec): Promise<void> {
    return this.#start(spec.name, spec)
  }

  #start(key: string, spec: ChildSpec): Promise<void> {
    return new Promise((resolve) => {
      const child: Child = {
        spec,
        process: null,
        ready_ms: null,
        deaths_ms: [],
        hasWorked: false,
        failedStarts: 0,
        lastWords: [],
        restart: null,
        exited: Promise.resolve(),
        hasAnswered: false,
        isLeaving: false,
        isReady: () => {
          child.hasWorked = true
          resolve()
        },
      }
      this.#children.set(key, child)
      this.#spawn(child)
    })
  }

  /**
   * Restarts a child and resolves when its new process is ready.
   * @param limits.stop_ms after which the old process is killed
   * @throws a sentence if the child is not running, or the new process does not become ready in time
   */
  async restart(name: string, limits: { stop_ms: number; ready_ms: number }): Promise<void> {
    const child = this.#children.get(name)
    if (this.#stopping || !child?.process || !child.hasWorked)
      throw new Error(`${name} is not running.`)
    if (child.spec.replaced_with !== undefined) return await this.#replace(name, child, limits)
    child.isLeaving = true
    await this.#end([child], limits.stop_ms, 'SIGTERM')
    child.isLeaving = false
    if (this.#stopping) throw new Error('The gateway is stopping.')
    const ready = new Promise<void>((resolve) => {
      child.isReady = resolve
    })
    this.#spawn(child)
    await inTime(ready, name, limits.ready_ms)
  }

  /** The old process serves until the new one is ready, and keeps serving if it does not become so. */
  async #replace(
    name: string,
    old: Child,
    limits: { stop_ms: number; ready_ms: number },
  ): Promise<void> {
    const key = `${name} (new)`
    const ready = this.#start(key, old.spec)
    const fresh = this.#children.get(key)
    if (fresh === undefined) return
    // Its death during the restart is a failure of the restart, not of the gateway.
    fresh.isLeaving = true
    const died = fresh.exited.then(() => {
      throw new Error(`${name} did not start.${lastWordsOf(fresh)}`)
    })
    try {
      await inTime(Promise.race([ready, died]), name, limits.ready_ms)
    } catch (error) {
      await this.#end([fresh], 0, 'SIGKILL')
      this.#children.delete(key)
      throw error
    }
    fresh.isLeaving = false
    old.isLeaving = true
    this.#children.delete(key)
    this.#children.set(name, fresh)
    this.#children.set(key, old)
    await this.#end([old], limits.stop_ms, old.spec.replaced_with ?? 'SIGTERM')
    this.#children.delete(key)
  }

  /** Pids of running children, by name. */
  pids(): ReadonlyMap<string, number> {
    const running = [...this.#children].flatMap(([name, child]) =>
      child.process?.pid === undefined ? [] : [[name, child.process.pid] as const],
    )
    return new Map(running)
  }

  /** From here on no child is restarted. */
  beginStop(): void {
    this.#stopping = true
    for (const child of this.#children.values())
      if (child.restart !== null) clearTimeout(child.restart)
  }

  /** Ends the children whose names match; one that does not end in time is killed. */
  async stop(
    matches: (name: string) => boolean,
    limit_ms: number,
    signal: NodeJS.Signals = 'SIGTERM',
  ): Promise<void> {
    const ending = [...this.#children].filter(([name]) => matches(name)).map(([, child]) => child)
    await this.#end(ending, limit_ms, signal)
  }

  async #end(ending: readonly Child[], limit_ms: number, signal: NodeJS.Signals): Promise<void> {
    for (const child of ending) child.process?.kill(signal)
    const ended = Promise.all(ending.map((child) => child.exited))
    const isInTime = await Promise.race([
      ended.then(() => true),
      wait(limit_ms, false, { ref: false }),
    ])
    if (isInTime) return
    for (const child of ending) {
      if (child.process === null) continue
      if (signal !== 'SIGKILL')
        this.#parts.write(`${child.spec.name} did not stop in time and was killed`, null)
      child.process.kill('SIGKILL')
    }
    await ended
  }

  /** For the exit handler of the launcher. */
  killAll(): void {
    for (const child of this.#children.values()) child.process?.kill('SIGKILL')
  }

  #spawn(child: Child): void {
    const { spec } = child
    for (const socket of spec.sockets) rmSync(socket, { force: true })
    const started = spawn(spec.command, spec.args, {
      env: spec.env,
      detached: true,
      stdio: [
        'ignore',
        'pipe',
        'pipe',
        ...(spec.fds ?? []),
        ...(spec.probe === 'ipc' ? (['ipc'] as const) : []),
      ],
    })
    child.process = started
    child.ready_ms = null
    child.hasAnswered = false
    for (const output of [started.stdout, started.stderr]) if (output) this.#listen(child, output)
    started.on('message', (message) => {
      child.hasAnswered = true
      if ((message as { kind?: unknown }).kind === 'ready') becameReady(child)
    })
    child.exited = new Promise((resolve) => {
      const ended = (how: string): void => {
        if (child.process !== started) return
        child.process = null
        resolve()
        this.#died(child, how)
      }
      started.once('error', (error) => ended(`could not be started: ${error.message}`))
      started.once('exit', (code, signal) => ended(`exited with ${signal ?? code}`))
    })
    void this.#watch(child, started)
    this.#parts.spawned?.()
  }

  /** Waits until a child is ready, and kills it when it has been silent for too long, then and ever after. */
  async #watch(child: Child, started: ChildProcess): Promise<void> {
    const { name, probe, patience = 1 } = child.spec
    const { silence_limit_ms = SILENCE_LIMIT_MS, start_limit_ms = START_LIMIT_MS } = this.#parts
    const limit_ms = silence_limit_ms * patience
    const ask = probe === 'ipc' ? () => ping(child, started) : probe
    let isReady = probe === 'ipc'
    let hasAnswered = false
    // Counted in pauses, not by the clock: no process answers while the machine is suspended.
    let silent_ms = 0
    let pause_ms = 0
    for (;;) {
      const result = await ask().catch((): ProbeResult => 'silent')
      if (child.process !== started) return
      if (result === 'ready' && !isReady) becameReady(child)
      isReady ||= result === 'ready'
      hasAnswered ||= result !== 'silent'
      silent_ms = result === 'silent' ? silent_ms + pause_ms : 0
      if (silent_ms >= (hasAnswered ? limit_ms : Math.max(limit_ms, start_limit_ms))) {
        this.#parts.write(`${name} has not answered for ${silent_ms / 1000} s and is killed`, null)
        started.kill('SIGKILL')
        return
      }
      pause_ms = isReady ? limit_ms / PINGS_IN_LIMIT : READY_POLL_MS
      await wait(pause_ms, undefined, { ref: false })
    }
  }

  #listen(child: Child, output: NodeJS.ReadableStream): void {
    createInterface({ input: output }).on('line', (line) => {
      child.lastWords = [...child.lastWords, line].slice(-LAST_WORDS_LIMIT)
      this.#parts.write(line, child.spec.name)
    })
  }

  #died(child: Child, how: string): void {
    if (this.#stopping || child.isLeaving) return
    const now = Date.now()
    const isSettled = child.ready_ms !== null && now - child.ready_ms >= SETTLED_MS
    child.deaths_ms = isSettled
      ? []
      : [...child.deaths_ms.filter((at) => now - at < DEATHS_WINDOW_MS), now]
    if (!child.hasWorked) child.failedStarts++
    if (child.failedStarts >= FAILED_STARTS_LIMIT) {
      const times = `${child.failedStarts} times before it became ready`
      this.#parts.giveUp(`${child.spec.name} ${how}, ${times}.${lastWordsOf(child)}`)
      return
    }
    const deaths = child.deaths_ms.length
    const pause_ms =
      deaths === 0 ? 0 : Math.min(BACK_OFF_MIN_MS * 2 ** (deaths - 1), BACK_OFF_MAX_MS)
    this.#parts.write(`${child.spec.name} ${how} and will be restarted in ${pause_ms} ms`, null)
    child.restart = setTimeout(() => this.#spawn(child), pause_ms)
  }
}

function becameReady(child: Child): void {
  child.ready_ms = Date.now()
  child.isReady()
}

const lastWordsOf = ({ lastWords }: Child): string =>
  lastWords.map((line) => `\n  ${line}`).join('')

async function inTime(ready: Promise<void>, name: string, limit_ms: number): Promise<void> {
  const isInTime = await Promise.race([
    ready.then(() => true),
    wait(limit_ms, false, { ref: false }),
  ])
  if (!isInTime) throw new Error(`${name} did not become ready within ${limit_ms / 1000} s.`)
}

/** Whether a message has arrived since the last ping, and the next ping. */
async function ping(child: Child, started: ChildProcess): Promise<ProbeResult> {
  const { hasAnswered } = child
  child.hasAnswered = false
  // A failure means that the child is ending, which its exit says as well.
  started.send({ kind: 'ping' }, () => undefined)
  return hasAnswered ? 'ready' : 'silent'
}
