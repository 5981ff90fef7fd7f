import { type ChildProcess, spawn } from 'node:child_process'
import { rmSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { setTimeout as wait } from 'node:timers/promises'

export interface ChildSpec {
  readonly name: string
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
  /** `ipc`: the child says so itself with `{kind: 'ready'}`; otherwise it is asked until it answers true. */
  readonly ready: 'ipc' | (() => Promise<boolean>)
  /** Socket files that an earlier process left behind. */
  readonly sockets: readonly string[]
}

export interface SupervisorParts {
  readonly write: (line: string) => void
  /** Called once, when a child does not become ready; the message names it and holds its last output. */
  readonly giveUp: (why: string) => void
}

/**
 * A child that exited so often before it was first ready is given up. A child that
 * was ready before lacks something that may come back, such as the store; the other children continue meanwhile.
 */
const FAILED_STARTS_LIMIT = 5
/** The pause before a restart grows with the number of exits within this time. */
const DEATHS_WINDOW_MS = 60_000
const BACK_OFF_MIN_MS = 100
const BACK_OFF_MAX_MS = 2_000
const READY_POLL_MS = 50
const LAST_WORDS_LIMIT = 8

interface Child {
  readonly spec: ChildSpec
  process: ChildProcess | null
  deaths_ms: number[]
  hasWorked: boolean
  failedStarts: number
  lastWords: string[]
  restart: NodeJS.Timeout | null
  exited: Promise<void>
  isReady: () => void
}

/**
 * Restarts children that exit, after a growing pause, and without limit if they have been ready before.
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
    return new Promise((resolve) => {
      const child: Child = {
        spec,
        process: null,
        deaths_ms: [],
        hasWorked: false,
        failedStarts: 0,
        lastWords: [],
        restart: null,
        exited: Promise.resolve(),
        isReady: () => {
          child.hasWorked = true
          resolve()
        },
      }
      this.#children.set(spec.name, child)
      this.#spawn(child)
    })
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
  async stop(matches: (name: string) => boolean, limit_ms: number): Promise<void> {
    const ending = [...this.#children].filter(([name]) => matches(name)).map(([, child]) => child)
    for (const child of ending) child.process?.kill('SIGTERM')
    const ended = Promise.all(ending.map((child) => child.exited))
    const inTime = await Promise.race([
      ended.then(() => true),
      wait(limit_ms, false, { ref: false }),
    ])
    if (inTime) return
    for (const child of ending) {
      if (child.process === null) continue
      this.#parts.write(`${child.spec.name} did not stop in time and was killed`)
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
      stdio: spec.ready === 'ipc' ? ['ignore', 'pipe', 'pipe', 'ipc'] : ['ignore', 'pipe', 'pipe'],
    })
    child.process = started
    for (const output of [started.stdout, started.stderr]) if (output) this.#listen(child, output)
    started.on('message', (message) => {
      if ((message as { kind?: unknown }).kind === 'ready') child.isReady()
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
    if (spec.ready !== 'ipc') void this.#poll(child, started, spec.ready)
  }

  async #poll(child: Child, started: ChildProcess, isReady: () => Promise<boolean>): Promise<void> {
    while (child.process === started && !(await isReady().catch(() => false)))
      await wait(READY_POLL_MS)
    if (child.process === started) child.isReady()
  }

  #listen(child: Child, output: NodeJS.ReadableStream): void {
    createInterface({ input: output }).on('line', (line) => {
      child.lastWords = [...child.lastWords, line].slice(-LAST_WORDS_LIMIT)
      this.#parts.write(`${child.spec.name} | ${line}`)
    })
  }

  #died(child: Child, how: string): void {
    if (this.#stopping) return
    const now = Date.now()
    child.deaths_ms = [...child.deaths_ms.filter((at) => now - at < DEATHS_WINDOW_MS), now]
    if (!child.hasWorked) child.failedStarts++
    if (child.failedStarts >= FAILED_STARTS_LIMIT) {
      const words = child.lastWords.map((line) => `\n  ${line}`).join('')
      const times = `${child.failedStarts} times before it became ready`
      this.#parts.giveUp(`${child.spec.name} ${how}, ${times}.${words}`)
      return
    }
    const deaths = child.deaths_ms.length
    const pause_ms = Math.min(BACK_OFF_MIN_MS * 2 ** (deaths - 1), BACK_OFF_MAX_MS)
    this.#parts.write(`${child.spec.name} ${how} and will be restarted in ${pause_ms} ms`)
    child.restart = setTimeout(() => this.#spawn(child), pause_ms)
  }
}
