import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { processStat } from '../../core/system/process-stat.ts'
import { until } from '../kit/until.ts'

const urlOf = (file: string): string => new URL(`../../${file}`, import.meta.url).href

/** A process with a pool, and its scan process. @param more what it does with `pool` */
async function startPool(
  more = '',
): Promise<{ readonly owner: ChildProcess; readonly pid: number }> {
  const code = `import { openScanPool } from '${urlOf('core/inspection/scan-pool.js')}'
    const worker_url = new URL('${urlOf('test/kit/failing-worker.js')}')
    const pool = openScanPool({ workers: 1, queue_limit: 1${more === '' ? '' : ', worker_url'} })
    await pool.warm()
    ${more}
    setInterval(() => undefined, 1_000)
    process.stdout.write('ready')`
  const owner = spawn(process.execPath, ['--input-type=module', '-e', code], {
    env: { ...process.env, AGW_ENCRYPTION_KEY: 'a secret' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(owner.stdout as NodeJS.ReadableStream, 'data')
  const pid = readdirSync('/proc')
    .map(Number)
    .find((one) => Number.isInteger(one) && parentOf(one) === owner.pid)
  assert.ok(pid !== undefined, 'it has a scan process')
  return { owner, pid }
}

const parentOf = (pid: number): number => processStat(pid)?.parent ?? Number.NaN
const sessionOf = (pid: number): number => processStat(pid)?.session ?? Number.NaN
const nicenessOf = (pid: number): number => processStat(pid)?.niceness ?? Number.NaN

const skip = process.platform !== 'linux' && 'processes are read from /proc'

test('a scan process has no environment, a session of its own and a low priority', {
  skip,
}, async () => {
  const { owner, pid } = await startPool()
  assert.equal(readFileSync(`/proc/${pid}/environ`, 'utf8').includes('a secret'), false)
  assert.equal(sessionOf(pid), pid)
  assert.ok(nicenessOf(pid) > nicenessOf(owner.pid ?? 0))
  owner.kill('SIGKILL')
})

test('it outlives the signals of a service manager, and ends when its owner is killed', {
  skip,
}, async () => {
  const { owner, pid } = await startPool()
  process.kill(pid, 'SIGTERM')
  process.kill(pid, 'SIGINT')
  owner.kill('SIGCONT')
  await new Promise((resolve) => setImmediate(resolve))
  assert.equal(existsSync(`/proc/${pid}`), true)
  owner.kill('SIGKILL')
  await until('the scan process has ended', () => processStat(pid) === null)
})

test('it ends with its owner while a job is stuck in native code', { skip }, async () => {
  const { owner, pid } = await startPool(`
    const { QUESTIONS } = await import('${urlOf('test/kit/scan-fixture.js')}')
    void pool.readBody(Buffer.from('hang'.padEnd(40_000)), QUESTIONS, null)`)
  const before_us = processStat(pid)?.cpu_us ?? 0
  await until('it is busy', () => (processStat(pid)?.cpu_us ?? 0) > before_us + 300_000)
  owner.kill('SIGKILL')
  await until('the scan process has ended', () => processStat(pid) === null)
})
