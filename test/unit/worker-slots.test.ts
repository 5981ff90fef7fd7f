import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { ScanJob } from '../../core/inspection/answer-job.ts'
import type { JobOwner } from '../../core/inspection/job-owner.ts'
import { busy } from '../../ext-proc/call/busy.ts'
import { CpuDebt } from '../../core/inspection/cpu-debt.ts'
import { jobLimitMs } from '../../core/inspection/job-limit.ts'
import { SCOPE_DEFAULTS } from '../../core/catalogue/model.ts'
import { QUESTIONS } from '../kit/scan-fixture.ts'
import { WorkerSlots } from '../../core/inspection/worker-slots.ts'

const ECHO = new URL('../kit/echo-worker.js', import.meta.url)
const JOB: ScanJob = { kind: 'texts', texts: [], settings: null, wants_filter: false }
const pools: WorkerSlots[] = []
after(() => Promise.all(pools.map((pool) => pool.close())))

/** Without workers in the argument one thread; `send` notes the order in which jobs were done. */
function slots(queue_limit = 16, queue_bytes = 16_000, workers = 1) {
  const pool = new WorkerSlots({ workers, queue_limit, queue_bytes, worker_url: ECHO })
  pools.push(pool)
  const done: string[] = []
  const gone = new Set<string>()
  const owner = (name: string): JobOwner => {
    const [organization_id = '', agent_id = ''] = name.split('.')
    return { organization_id, agent_id, isGone: () => gone.has(name) }
  }
  const send = (name: string, bytes = 10): Promise<void> =>
    pool.run(JOB, bytes, owner(name)).then((reply) => {
      done.push(reply === null ? `${name} dropped` : name)
    })
  const room = (name: string, bytes = 10) => pool.room(bytes, owner(name))
  return { pool, done, gone, send, room }
}

test('organizations take turns, and agents within one', async () => {
  const { send, done } = slots()
  await Promise.all(['a.1', 'a.1', 'a.1', 'a.2', 'b.1', 'b.1', 'c.1'].map((name) => send(name)))
  assert.deepEqual(done, ['a.1', 'b.1', 'c.1', 'a.2', 'b.1', 'a.1', 'a.1'])
})

test('ten bodies of one agent are one body ahead of that of another organization', async () => {
  const { send, done } = slots(64)
  await Promise.all([...Array.from({ length: 10 }, () => send('a.1')), send('b.1')])
  assert.equal(done.indexOf('b.1'), 1)
})

test('an agent may have a quarter of what waits, an organization half, and the others the rest', async () => {
  const { send, room } = slots(16)
  const all = [send('x.0')]
  for (const agent of ['1', '2']) {
    for (let i = 0; i < 4; i++) {
      assert.equal(room(`a.${agent}`), 'yes')
      all.push(send(`a.${agent}`))
    }
    assert.equal(room(`a.${agent}`), 'owner_full')
  }
  assert.equal(room('a.3'), 'owner_full', 'the organization has its half')
  for (let i = 0; i < 4; i++) all.push(send('b.1'))
  for (let i = 0; i < 4; i++) all.push(send('c.1'))
  assert.equal(room('b.1'), 'owner_full')
  assert.equal(room('d.1'), 'full')
  await Promise.all(all)
  assert.equal(room('a.1'), 'yes')
})

test('the same for bytes, but one body of any size may wait', async () => {
  const { send, room } = slots(16, 1_000)
  const all = [send('x.0')]
  assert.equal(room('a.1', 900), 'yes')
  all.push(send('a.1', 240))
  assert.equal(room('a.1', 10), 'yes')
  assert.equal(room('a.1', 11), 'owner_full')
  assert.equal(room('a.2', 250), 'yes')
  all.push(send('a.2', 250))
  assert.equal(room('a.3', 11), 'owner_full', 'the organization has its half')
  assert.equal(room('b.1', 510), 'yes')
  assert.equal(room('b.1', 511), 'full')
  await Promise.all(all)
})

test('jobs of callers that have left are dropped: they take neither a thread nor room', async () => {
  const { send, done, gone, room } = slots(4)
  const all = [send('x.0'), send('a.1'), send('b.1')]
  assert.equal(room('a.1'), 'owner_full')
  gone.add('a.1')
  assert.equal(room('a.1'), 'yes')
  all.push(send('c.1'))
  gone.add('c.1')
  await Promise.all(all)
  assert.deepEqual(done.filter((name) => name.endsWith('dropped')).sort(), [
    'a.1 dropped',
    'c.1 dropped',
  ])
  assert.deepEqual(
    done.filter((name) => !name.endsWith('dropped')),
    ['x.0', 'b.1'],
  )
})

test('one organization never has all processes: a job of another starts at once', async () => {
  const { send, room } = slots(16, 16_000, 2)
  const first = send('a.1')
  assert.equal(room('a.2', 20_000), 'full', 'it would wait, and is too large for the queue')
  assert.equal(room('b.1', 20_000), 'yes', 'it would not wait')
  const others = [send('a.2'), send('a.3'), send('b.1')]
  assert.equal(room('b.2', 20_000), 'full')
  await Promise.all([first, ...others])
})

test('an organization that has used much time waits for the others, and is asked to send less', () => {
  const debt = new CpuDebt()
  debt.add('a', 20_000, 0)
  debt.add('b', 100, 0)
  assert.ok(debt.rank('a', 0) > debt.rank('b', 0))
  assert.equal(debt.rank('b', 0), debt.rank('c', 0), 'small differences are left to turns')
  assert.ok(debt.isSpent('a', 0))
  assert.ok(!debt.isSpent('b', 0))
  assert.ok(!debt.isSpent('a', 10_001), 'half of it is forgotten')
})

test('a job may take as long as its size, its encoding and its patterns need', () => {
  const settings = {
    ...SCOPE_DEFAULTS.injection_detection,
    custom_patterns: ['a'],
  }
  const job = {
    kind: 'response',
    body: Buffer.alloc(0),
    content_type: null,
    limit_bytes: 8 << 20,
  } as const
  const plain = { ...job, content_encoding: null, settings: null, wants_filter: false }
  assert.equal(jobLimitMs(plain, 0), 2_000)
  assert.equal(jobLimitMs(plain, 1 << 20), 3_600)
  assert.equal(jobLimitMs({ ...plain, content_encoding: 'gzip' }, 1_000), 2_000 + 8 * 1_600)
  assert.equal(jobLimitMs({ ...plain, settings }, 0), 5_000)
})

test('a job that overruns is ended, and the next one has a new process', async () => {
  const url = new URL('../kit/failing-worker.js', import.meta.url)
  const limits = { workers: 1, queue_limit: 4, queue_bytes: 1_000, worker_url: url }
  const pool = new WorkerSlots(limits)
  pools.push(pool)
  const call = (text: string): ScanJob => ({
    kind: 'call',
    body: Buffer.from(text),
    questions: { ...QUESTIONS, scan: null },
    settings: null,
    wants_filter: false,
  })
  await pool.run(call('{}'), 2)
  await assert.rejects(pool.run(call('hang'), 4, null, null, 200), /a scan took more than 200 ms/)
  assert.equal((await pool.run(call('{}'), 2))?.answer?.kind, 'call')
})

test('only an agent that fills the queue itself is asked to send less', () => {
  const own = busy('body', { by: 'owner' })
  assert.equal(own.denial.reason, 'inspection_busy')
  assert.deepEqual(own.denial.headers, [{ name: 'retry-after', value: '1' }])
  assert.equal(busy('body', { by: 'all' }).denial.reason, 'gateway_unavailable')
})
