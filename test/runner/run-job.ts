import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { processStat } from '../../core/system/process-stat.ts'
import { tempFolder } from '../kit/temp-folder.ts'
import type { TestEnd } from './event-reporter.ts'
import type { Job } from './plan-jobs.ts'
import { readEvents } from './read-events.ts'

export interface JobResult {
  readonly job: Job
  readonly passed: boolean
  readonly ends: readonly TestEnd[]
  readonly took_ms: number
  /** CPU time of the process and of what it has waited for; 0 where the system does not say it. */
  readonly cpu_ms: number
  /** What the process and its tests have written; empty where it was shown at once. */
  readonly output: string
}

const NODE_ARGS = [
  // Fewer collections of short-lived objects.
  '--max-semi-space-size=64',
  // The mocked clock of `node:test` is called experimental on Node 20.
  '--disable-warning=ExperimentalWarning',
  `--import=${new URL('./name-open-handles.js', import.meta.url).href}`,
]

const FOLLOW_TESTS_ONLY = `--import=${new URL('./follow-tests-only.js', import.meta.url).href}`

/** Shows lines of the sources where something fails; costs an eighth of the time of the unit tests. */
const SOURCE_MAPS = '--enable-source-maps'

/** A test that fails may leave resources open that keep its process from ending. */
const END_LIMIT_MS = 30_000
const END_LOOK_MS = 2_000
/** For a process to name what it has left open. */
const LAST_WORDS_MS = 1_000

const IMPORT_FILES = new URL('./import-files.js', import.meta.url).pathname

const folder = tempFolder('runner')
const running = new Set<ChildProcess>()
let count = 0

// Each job leads a process group of its own, which Ctrl-C does not reach.
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    for (const child of running) endGroup(child)
    process.exit(1)
  })

/** Runs the files of a job in one process and answers how each test ended. What a test has left running is ended. */
export async function runJob(job: Job, show: 'at once' | 'at its end'): Promise<JobResult> {
  const events = join(folder, `${++count}.ndjson`)
  const reporters = [
    ['spec', 'stdout'],
    [new URL('./event-reporter.js', import.meta.url).href, events],
  ].flatMap(([name, to]) => [`--test-reporter=${name}`, `--test-reporter-destination=${to}`])
  const entry = job.file ?? IMPORT_FILES
  const args = [...NODE_ARGS]
  if (job.follows_tests_only) args.push(FOLLOW_TESTS_ONLY)
  if (show === 'at once') args.push(SOURCE_MAPS)
  const began_ms = performance.now()
  const child = spawn(process.execPath, [...args, ...reporters, entry], {
    detached: true,
    stdio: ['ignore', ...(show === 'at once' ? (['inherit', 'inherit'] as const) : pipes), 'ipc'],
  })
  // A process that asks for a file while it is being ended gets no answer.
  child.on('message', () => child.send({ file: job.next() }, () => undefined))
  running.add(child)
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  const giveUp = async (why: string): Promise<void> => {
    child.kill('SIGUSR2')
    await wait(LAST_WORDS_MS)
    output += `\n${why}\n`
    if (show === 'at once') process.stdout.write(output)
    endGroup(child)
  }
  const timer = setTimeout(() => {
    const minutes = job.limit_ms / 60_000
    void giveUp(`Not ended after ${minutes} minutes: what comes after the last test above hangs.`)
  }, job.limit_ms)
  const stopWatching = onceFailedAndDone(events, () =>
    giveUp(`Not ended ${END_LIMIT_MS / 1000} s after its last test: ended by the runner.`),
  )
  const [code] = (await once(child, 'exit')) as [number | null]
  const cpu_ms = newCpuOfChildren()
  clearTimeout(timer)
  stopWatching()
  running.delete(child)
  endGroup(child)
  const ends = readEvents(events).ends.filter(({ file }) => file !== IMPORT_FILES)
  const passed = code === 0 && ends.length > 0
  return { job, passed, ends, took_ms: performance.now() - began_ms, cpu_ms, output }
}

const pipes = ['pipe', 'pipe'] as const

let known_cpu_ms = 0

/** Linux adds what a child has used when it has ended. */
function newCpuOfChildren(): number {
  const cpu_ms = (processStat(process.pid)?.children_cpu_us ?? 0) / 1000
  const added_ms = cpu_ms - known_cpu_ms
  known_cpu_ms = cpu_ms
  return added_ms
}

/** Calls back some time after all known tests have ended, if one of them failed. Returns the function that ends the watch. */
function onceFailedAndDone(events: string, call: () => Promise<void>): () => void {
  let done_ms: number | null = null
  const timer = setInterval(() => {
    if (!existsSync(events)) return
    const { ends, open } = readEvents(events)
    // A hook that fails ends the file as a test that was never begun.
    const isDone = open <= 0 && ends.some(({ passed }) => !passed)
    if (!isDone) done_ms = null
    else done_ms ??= performance.now()
    if (done_ms === null || performance.now() - done_ms < END_LIMIT_MS) return
    clearInterval(timer)
    void call()
  }, END_LOOK_MS)
  return () => clearInterval(timer)
}

function endGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL')
  } catch {
    // None of the group is left.
  }
}
