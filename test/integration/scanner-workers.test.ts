import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { INLINE_BYTES, openScanPool, type ScanPool } from '../../core/inspection/scan-pool.ts'
import { fresh, input, plain, QUESTIONS, TEXT } from '../kit/scan-fixture.ts'

const failing = (limits: { timeout_ms?: number; heap_mb?: number }): ScanPool =>
  openScanPool({
    workers: 1,
    queue_limit: 4,
    worker_url: new URL('../kit/failing-worker.js', import.meta.url),
    ...limits,
  })

// Each has a pool of its own, and most of its time is the start of workers.
describe('limits of a pool', { concurrency: true }, () => {
  test('a full queue answers busy, and every accepted body is scanned', async () => {
    const pool = openScanPool({ workers: 1, queue_limit: 2 })
    const deferred = fresh()
    const results = await Promise.all(
      Array.from({ length: 6 }, async () => pool.scanRequest(input(INLINE_BYTES * 2), deferred)),
    )
    assert.deepEqual(results.map((result) => result.kind).sort(), [
      'busy',
      'busy',
      'busy',
      'scanned',
      'scanned',
      'scanned',
    ])
    await pool.close()
    assert.equal((await pool.scanRequest(input(INLINE_BYTES * 2), deferred)).kind, 'busy')
  })

  test('small bodies wait until the patterns are compiled, and do not fill the queue', async () => {
    const pool = openScanPool({ workers: 1, queue_limit: 4 })
    const deferred = fresh()
    const owner = { organization_id: 'org_1', agent_id: 'agt_1', isGone: () => false }
    const read = async (text: string) => {
      const memory = Buffer.from(text)
      const reading = pool.readBody(memory, QUESTIONS, deferred, owner)
      // The memory around a small body is used again while it waits.
      memory.fill('x')
      const result = await reading
      assert.ok(result.kind === 'read', `${text}: ${result.kind}`)
      const { scan } = result.facts
      assert.ok(scan?.kind === 'scanned')
      return [result.sent?.toString(), scan.decision.outcome === 'blocked']
    }
    const texts = Array.from({ length: 100 }, (_, i) => `{"q":"${i === 50 ? TEXT : `hello ${i}`}"}`)
    assert.deepEqual(
      await Promise.all(texts.map(read)),
      texts.map((text, i) => [text, i === 50]),
    )
    assert.equal(deferred.compiling, null)
    await pool.close()
  })

  test('no small body waits for a large one that brings the patterns too', async () => {
    const pool = openScanPool({ workers: 2, queue_limit: 4 })
    const deferred = fresh()
    const body = Buffer.from(`"${'a '.repeat(INLINE_BYTES)}"`)
    const large = pool.readBody(body, QUESTIONS, deferred)
    assert.equal(deferred.compiling, null)
    const small = pool.readBody(Buffer.from('"hello"'), QUESTIONS, deferred)
    assert.notEqual(deferred.compiling, null)
    assert.equal((await small).kind, 'read')
    assert.equal((await large).kind, 'read')
    await pool.close()
  })

  test('a job that ends without its patterns leaves small bodies to the next one', async () => {
    const pool = failing({})
    const deferred = fresh()
    const crash = pool.readBody(Buffer.from('crash'), QUESTIONS, deferred)
    const next = pool.readBody(Buffer.from('"hello"'), QUESTIONS, deferred)
    await assert.rejects(async () => crash, /ended with 1/)
    assert.equal((await next).kind, 'read')
    await pool.close()
  })

  test('bodies that wait have a bound in bytes, and what is refused keeps its body', async () => {
    const pool = openScanPool({ workers: 1, queue_limit: 9, queue_bytes: 250_000 })
    const bodies = Array.from({ length: 4 }, () => Buffer.from(`"${'a '.repeat(50_000)}"`))
    const results = await Promise.all(
      bodies.map(async (body) => pool.readBody(body, QUESTIONS, plain)),
    )
    assert.deepEqual(
      results.map(({ kind }) => kind),
      ['read', 'read', 'read', 'busy'],
    )
    assert.equal(bodies[3]?.length, 100_002)
    await pool.close()
  })

  test('large bodies leave one of two workers free', async () => {
    const pool = openScanPool({ workers: 2, queue_limit: 9 })
    await pool.warm()
    const order: string[] = []
    const large = Array.from({ length: 3 }, async (_, index) => {
      await pool.scanRequest(input(1_000_000), plain)
      order.push(`large ${index}`)
    })
    await pool.scanRequest(input(INLINE_BYTES * 2), plain)
    order.push('small')
    await Promise.all(large)
    assert.ok(order.indexOf('small') < 2, order.join())
    await pool.close()
  })

  test('a worker that needs too much memory fails its job alone and is replaced', async () => {
    const pool = failing({ heap_mb: 48 })
    const body = Buffer.from(`grow${' '.repeat(INLINE_BYTES)}`)
    await assert.rejects(async () => pool.readBody(body, QUESTIONS, plain), /SIGABRT/)
    assert.equal((await pool.scanRequest(input(INLINE_BYTES * 2), plain)).kind, 'scanned')
    await pool.close()
  })
})

const FAILURES: [order: string, expected: RegExp][] = [
  ['crash', /ended with 1/],
  ['throw', /ended with/],
  ['early', /a reply to job 1000000/],
  ['noise', /something else than a reply/],
]

test('a worker that crashes or throws fails its job alone and is replaced', async () => {
  const pool = failing({})
  for (const [order, expected] of FAILURES) {
    const body = Buffer.from(order + ' '.repeat(INLINE_BYTES))
    const failed = assert.rejects(async () => pool.readBody(body, QUESTIONS, plain), expected)
    const next = pool.scanRequest(input(INLINE_BYTES * 2), fresh())
    await failed
    assert.equal((await next).kind, 'scanned', order)
  }
  await pool.close()
})

test('while no process can be started its jobs fail, and nothing else does', async () => {
  const pool = failing({})
  await pool.warm()
  const { execPath } = process
  // Unlike a program that is missing, this is thrown by `spawn`, as a lack of memory is.
  process.execPath = `${execPath}/none`
  const ask = async (order: string) =>
    pool.readBody(Buffer.from(order + ' '.repeat(INLINE_BYTES)), QUESTIONS, plain)
  const answers = await Promise.allSettled(['crash', 'fine', 'fine'].map(ask))
  await assert.rejects(ask('fine'), /ENOTDIR/)
  process.execPath = execPath
  assert.deepEqual(
    answers.map((answer) => (answer.status === 'rejected' ? String(answer.reason) : '')),
    ['Error: a scan process ended with 1', 'Error: spawn ENOTDIR', 'Error: spawn ENOTDIR'],
  )
  assert.equal((await ask('fine')).kind, 'read')
  await pool.close()
})

test('a worker that hangs fails its job alone and is replaced', async () => {
  // Of CPU time, with that of the start.
  const pool = failing({ timeout_ms: 3_000 })
  const body = Buffer.from(`hang${' '.repeat(INLINE_BYTES)}`)
  const failed = assert.rejects(async () => pool.readBody(body, QUESTIONS, plain), /took more than/)
  const next = pool.scanRequest(input(INLINE_BYTES * 2), fresh())
  await failed
  assert.equal((await next).kind, 'scanned')
  await pool.close()
})
