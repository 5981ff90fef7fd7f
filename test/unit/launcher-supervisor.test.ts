import assert from 'node:assert/strict'
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { type ChildSpec, Supervisor } from '../../cli/launcher/supervisor.ts'
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
    ready: async () => !existsSync(file),
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
  await supervisor.start(childOf(join(tempFolder('child'), 'broken')))
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
