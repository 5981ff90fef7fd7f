import assert from 'node:assert/strict'
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { type ChildSpec, type ProbeResult, Supervisor } from '../../cli/launcher/supervisor.ts'
import { tempFolder } from '../kit/temp-folder.ts'

/** The pauses before restarts, in ms: they double up to two seconds. */
const PAUSES = [100, 200, 400, 800, 1600, 2000, 2000, 2000]

interface Watched {
  readonly supervisor: Supervisor
  /** The pause before the next restart, as the log says it, once the child has died. */
  readonly died: () => Promise<number>
  readonly gaveUp: Promise<string>
}

/** A supervisor whose time passes when a test says so. */
function watch({ mock }: TestContext): Watched {
  mock.timers.enable({ apis: ['setTimeout', 'Date'] })
  const pauses: number[] = []
  const waiting: ((pause_ms: number) => void)[] = []
  let giveUp = (_why: string): void => undefined
  const gaveUp = new Promise<string>((resolve) => {
    giveUp = resolve
  })
  const write = (line: string): void => {
    const pause = /will be restarted in (\d+) ms/.exec(line)?.[1]
    if (pause === undefined) return
    const next = waiting.shift()
    if (next === undefined) pauses.push(Number(pause))
    else next(Number(pause))
  }
  const died = async (): Promise<number> =>
    pauses.shift() ?? (await new Promise((resolve) => waiting.push(resolve)))
  return { supervisor: new Supervisor({ write, giveUp: (why) => giveUp(why) }), died, gaveUp }
}

/** A child that is ready at once and dies at once while a file is there. */
function childOf(file: string): ChildSpec {
  const script = `[ -e '${file}' ] && { echo it is broken >&2; exit 7; }; exec sleep 600`
  return {
    name: 'child',
    command: '/bin/sh',
    args: ['-c', script],
    env: { PATH: process.env['PATH'] },
    probe: async () => (existsSync(file) ? 'silent' : 'ready'),
    sockets: [],
  }
}

test('a child that has worked is started again however often it is killed', async (t) => {
  const { supervisor, died } = watch(t)
  await supervisor.start(childOf(join(tempFolder('child'), 'broken')))
  for (const pause_ms of PAUSES) {
    const pid = supervisor.pids().get('child') ?? 0
    process.kill(pid, 'SIGKILL')
    assert.equal(await died(), pause_ms)
    assert.equal(supervisor.pids().size, 0)
    t.mock.timers.tick(pause_ms)
    assert.notEqual(supervisor.pids().get('child') ?? pid, pid)
  }
  supervisor.beginStop()
  await supervisor.stop(() => true, 1_000)
})

test('a child that has worked and cannot start is started again until it can', async (t) => {
  const { supervisor, died } = watch(t)
  const file = join(tempFolder('child'), 'broken')
  await supervisor.start(childOf(file))
  writeFileSync(file, '')
  process.kill(supervisor.pids().get('child') ?? 0, 'SIGKILL')
  for (const pause_ms of PAUSES) {
    assert.equal(await died(), pause_ms)
    t.mock.timers.tick(pause_ms)
  }
  const pause_ms = await died()
  rmSync(file)
  t.mock.timers.tick(pause_ms)
  assert.equal(supervisor.pids().size, 1)
  supervisor.beginStop()
  await supervisor.stop(() => true, 1_000)
})

test('deaths of more than a minute ago do not lengthen the pause', async (t) => {
  const { supervisor, died } = watch(t)
  let answer: ProbeResult = 'ready'
  const child = childOf(join(tempFolder('child'), 'broken'))
  await supervisor.start({ ...child, probe: async () => answer })
  // From now on it starts and does not become ready.
  answer = 'silent'
  for (const pause_ms of [100, 200, 400]) {
    process.kill(supervisor.pids().get('child') ?? 0, 'SIGKILL')
    assert.equal(await died(), pause_ms)
    t.mock.timers.tick(pause_ms)
  }
  t.mock.timers.tick(60_000)
  process.kill(supervisor.pids().get('child') ?? 0, 'SIGKILL')
  assert.equal(await died(), 100)
  supervisor.beginStop()
})

test('a child that has served for two seconds is started again at once, each time', async (t) => {
  const { supervisor, died } = watch(t)
  await supervisor.start(childOf(join(tempFolder('child'), 'broken')))
  for (const [served_ms, pause_ms] of [
    [2_000, 0],
    [2_000, 0],
    [1_999, 100],
    [0, 200],
    [2_000, 0],
    [0, 100],
  ] as const) {
    // The answer to the probe.
    await new Promise(setImmediate)
    t.mock.timers.tick(served_ms)
    process.kill(supervisor.pids().get('child') ?? 0, 'SIGKILL')
    assert.equal(await died(), pause_ms)
    t.mock.timers.tick(pause_ms)
  }
  supervisor.beginStop()
  await supervisor.stop(() => true, 1_000)
})

test('a child that dies five times before it is ready is given up, with its last words', async (t) => {
  const { supervisor, died, gaveUp } = watch(t)
  const file = join(tempFolder('child'), 'broken')
  writeFileSync(file, '')
  void supervisor.start(childOf(file))
  for (const pause_ms of PAUSES.slice(0, 4)) {
    assert.equal(await died(), pause_ms)
    t.mock.timers.tick(pause_ms)
  }
  assert.match(
    await gaveUp,
    /^child exited with 7, 5 times before it became ready\.(\n {2}it is broken)+$/,
  )
  assert.equal(supervisor.pids().size, 0)
})

test('a stop cancels a restart that is due', async (t) => {
  const { supervisor, died } = watch(t)
  await supervisor.start(childOf(join(tempFolder('child'), 'broken')))
  process.kill(supervisor.pids().get('child') ?? 0, 'SIGKILL')
  const pause_ms = await died()
  supervisor.beginStop()
  t.mock.timers.tick(pause_ms)
  assert.equal(supervisor.pids().size, 0)
})

/** A child of ours: `script` runs in Node with the answers to pings, unless it prevents them. */
function nodeChild(script: string): ChildSpec {
  const pongs = `process.on('message', (message) => {
    console.log(message.kind)
    process.send({ kind: 'pong' })
  })
  process.send({ kind: 'ready' })`
  return {
    name: 'child',
    command: process.execPath,
    args: ['-e', script.replace('PONGS', pongs)],
    env: { PATH: process.env['PATH'] },
    probe: 'ipc',
    sockets: [],
  }
}

const SILENCE_LIMIT_MS = 250

/** A supervisor in real time, and its lines as they come. */
function supervise(
  limits: { readonly start_limit_ms?: number; readonly silence_limit_ms?: number } = {},
): {
  readonly supervisor: Supervisor
  readonly line: (pattern: RegExp) => Promise<string>
  readonly spawned: () => number
} {
  const lines: string[] = []
  let waiting: (() => void)[] = []
  let spawned = 0
  const supervisor = new Supervisor({
    write: (text, child) => {
      lines.push(child === null ? text : `${child} | ${text}`)
      for (const look of waiting.splice(0)) look()
    },
    giveUp: () => undefined,
    spawned: () => spawned++,
    silence_limit_ms: SILENCE_LIMIT_MS,
    ...limits,
  })
  const line = async (pattern: RegExp): Promise<string> => {
    for (;;) {
      const found = lines.find((text) => pattern.test(text))
      if (found !== undefined) return found
      await new Promise<void>((resolve) => {
        waiting = [...waiting, resolve]
      })
    }
  }
  return { supervisor, line, spawned: () => spawned }
}

const HANGS: readonly { readonly name: string; readonly script: string; readonly stop?: true }[] = [
  {
    name: 'a busy loop',
    script: "PONGS; process.on('message', () => { for (;;); })",
  },
  {
    name: 'a synchronous wait',
    script:
      "PONGS; process.on('message', () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0))",
  },
  { name: 'a stop by signal', script: 'PONGS', stop: true },
]

for (const { name, script, stop } of HANGS)
  test(`a child that hangs is killed and started again: ${name}`, async () => {
    const { supervisor, line, spawned } = supervise()
    await supervisor.start(nodeChild(script))
    const pid = supervisor.pids().get('child') ?? 0
    await line(/\| ping/)
    if (stop) process.kill(pid, 'SIGSTOP')
    assert.equal(
      await line(/has not answered/),
      `child has not answered for ${SILENCE_LIMIT_MS / 1000} s and is killed`,
    )
    await line(/exited with SIGKILL and will be restarted in \d+ ms/)
    while (spawned() < 2) await new Promise(setImmediate)
    assert.notEqual(supervisor.pids().get('child'), pid)
    supervisor.beginStop()
    await supervisor.stop(() => true, 1)
  })

test('a child that never answers is killed after the limit of a start', async () => {
  const { supervisor, line } = supervise({ start_limit_ms: 300 })
  void supervisor.start(nodeChild('for (;;);'))
  await line(/child has not answered for 0\.3 s and is killed/)
  await line(/exited with SIGKILL and will be restarted/)
  supervisor.beginStop()
  await supervisor.stop(() => true, 1)
})

test('a child that answers is left alone', async () => {
  // A child that works may answer late on a machine that is busy.
  const { supervisor, line, spawned } = supervise({ silence_limit_ms: 2_000 })
  let pings = 0
  const pinged = new Promise<void>((resolve) => {
    const count = async (): Promise<void> => {
      // Each line is counted once: the child numbers them.
      while (pings < 7) await line(new RegExp(`\\| ${++pings}$`))
      resolve()
    }
    void count()
  })
  await supervisor.start(
    nodeChild("let count = 0; PONGS; process.on('message', () => console.log(++count))"),
  )
  await pinged
  assert.equal(spawned(), 1)
  supervisor.beginStop()
  await supervisor.stop(() => true, 1_000)
})

test('a child that is probed is killed when it is silent, and not while it says that it is starting', async () => {
  const { supervisor, line, spawned } = supervise()
  const results: ProbeResult[] = ['starting', 'starting', 'ready']
  const probe = async (): Promise<ProbeResult> => results.shift() ?? 'silent'
  await supervisor.start({ ...childOf(join(tempFolder('child'), 'broken')), probe })
  assert.equal(spawned(), 1)
  await line(/child has not answered for 0\.25 s and is killed/)
  supervisor.beginStop()
  await supervisor.stop(() => true, 1)
})
