import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { after, before, test } from 'node:test'
import { fromRoot } from '../../core/root.ts'
import { loadDuring } from '../kit/load-during.ts'
import { openCall } from '../kit/open-call.ts'
import { type SharedStack, startAll, stopAll } from '../kit/shared-stack.ts'
import type { ChildRole } from '../kit/start-stack.ts'
import { until } from '../kit/until.ts'

// `agw restart` as an operator uses it, under calls, streams, kills and requests to the admin API.

const RESTARTED: readonly ChildRole[] = ['ext-proc', 'access-log', 'admin']
const KEPT: readonly ChildRole[] = ['envoy', 'valkey', 'echo']

/** Longer than the streams that must end by themselves. */
const DRAIN_MS = 3_000

let stack: SharedStack
before(async () => {
  stack = await startAll({ AGW_EXT_PROC_WORKERS: '2', AGW_DRAIN_TIMEOUT: `${DRAIN_MS}ms` })
})
after(() => stopAll(stack))

async function agwRestart(dataDir = stack.dataDir): Promise<{ code: number | null; said: string }> {
  const child = spawn(process.execPath, [fromRoot('dist', 'cli', 'bin.js'), 'restart'], {
    env: { PATH: process.env['PATH'], AGW_DATA_DIR: dataDir },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve))
  const said = await Promise.all([text(child.stdout), text(child.stderr)])
  return { code: await exited, said: said.join('') }
}

const pidsOf = async (roles: readonly ChildRole[]): Promise<number[]> =>
  (await Promise.all(roles.map((role) => stack.pids(role)))).flat()

test('a rolling restart fails no call, no kill and no admin request, and cuts no stream before the time-out', async (t) => {
  const [restarted, kept] = await Promise.all([pidsOf(RESTARTED), pidsOf(KEPT)])
  const access = await stack.operator.makeAccess(stack.ownBaseUrl())
  const endless = Array.from({ length: 6 }, () =>
    openCall(stack.proxyUrl, `${access.base_url}/sse?ticks=6000&interval_ms=100`, access.headers),
  )
  for (const stream of endless) assert.equal(await stream.answered, 200)

  const before_ms = performance.now()
  const restart = agwRestart()
  const result = await loadDuring(stack, restart, { rate: 60, streams: 4, stream_ms: 1_500 })
  t.diagnostic(JSON.stringify(result))
  assert.deepEqual(result.failures, {})
  const { code, said } = await restart
  assert.equal(code, 0, said)
  assert.match(
    said,
    /^ext-proc-1 was restarted in .*\next-proc-2 .*\naccess-log .*\nadmin .*\nRestarted 4 processes in /,
  )
  const now = new Set(await pidsOf(RESTARTED))
  assert.equal(now.size, restarted.length)
  assert.deepEqual(
    restarted.filter((pid) => now.has(pid)),
    [],
  )
  assert.deepEqual(await pidsOf(KEPT), kept)

  for (const { is_whole, at_ms } of await Promise.all(endless.map((stream) => stream.ended))) {
    assert.equal(is_whole, false)
    assert.ok(at_ms - before_ms >= DRAIN_MS, `cut after ${at_ms - before_ms} ms`)
  }
})

test('SIGHUP does the same, and meanwhile another restart is refused', async () => {
  const before_pids = new Set(await pidsOf(RESTARTED))
  process.kill(stack.pid, 'SIGHUP')
  // The other processes, which are still to come, take seconds.
  await until('a processor was replaced', async () =>
    (await stack.pids('ext-proc')).some((pid) => !before_pids.has(pid)),
  )
  const second = await agwRestart()
  assert.equal(second.code, 1)
  assert.match(second.said, /A restart is already running\./)
  await until('it has said that it is done', () => /Restarted 4 processes/.test(stack.log()))
  assert.ok((await pidsOf(RESTARTED)).every((pid) => !before_pids.has(pid)))
})

test('without a gateway, the command says what to set', async () => {
  const { code, said } = await agwRestart('/nowhere')
  assert.equal(code, 1)
  assert.match(said, /No gateway is running with the data directory \/nowhere\. Set AGW_DATA_DIR/)
})
