import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StepTurns, TurnsFullError } from '../../ext-proc/policy/step-turns.ts'

/** A clock that only the steps of jobs advance, and the names of the jobs step by step. */
function someTurns() {
  let now_ms = 0
  const seen: string[] = []
  function* job(name: string, steps: number, step_ms: number): Generator<undefined, string> {
    for (let i = 0; i < steps; i++) {
      seen.push(name)
      now_ms += step_ms
      yield
    }
    return name
  }
  return { turns: new StepTurns(() => now_ms), job, seen }
}

test('organizations take turns; the jobs of one follow each other, smaller ones before those that have not begun', async () => {
  const { turns, job, seen } = someTurns()
  const ended = await Promise.all([
    turns.run('org_a', 3_000, job('large', 3, 1)),
    turns.run('org_a', 3_000, job('next', 3, 1)),
    turns.run('org_a', 1, job('small', 1, 1)),
    turns.run('org_b', 2, job('other', 2, 1)),
  ])
  assert.deepEqual(ended, ['large', 'next', 'small', 'other'])
  assert.equal(seen.join(' '), 'large other large other large small next next next')
})

test('a small job with many steps ends within two long steps of another organization', async () => {
  const { turns, job, seen } = someTurns()
  await Promise.all([
    ...Array.from({ length: 3 }, () => turns.run('org_a', 1_000_000, job('long', 100, 5))),
    turns.run('org_b', 1_000, job('short', 20, 0.01)),
  ])
  assert.equal(seen.filter((name) => name === 'short').length, 20)
  const before = seen.slice(0, seen.lastIndexOf('short')).filter((name) => name === 'long')
  assert.ok(before.length <= 2, String(before.length))
})

test('a job lets smaller ones go first until they are as large as itself, and none once it has begun', async () => {
  const { turns, job } = someTurns()
  const ended: string[] = []
  const run = async (name: string, bytes: number): Promise<void> => {
    ended.push(await turns.run('org_a', bytes, job(name, 2, 1)))
  }
  await Promise.all([
    run('begun', 100_000),
    run('large', 100_000),
    ...Array.from({ length: 1_000 }, () => run('small', 10_000)),
  ])
  assert.equal(ended.indexOf('begun'), 0)
  assert.equal(ended.indexOf('large'), 10)
  assert.equal(ended.length, 1_002)
})

test('what waits is bounded, for each organization and in all, and a job that ended leaves room', async () => {
  const { turns, job } = someTurns()
  /** How many of 200 jobs are accepted. */
  const accepted = async (organization_id: string): Promise<number> => {
    const all = Array.from({ length: 200 }, () =>
      turns.run(organization_id, 1 << 20, job('job', 1, 1)),
    )
    const outcomes = await Promise.allSettled(all)
    for (const one of outcomes)
      if (one.status === 'rejected') assert.ok(one.reason instanceof TurnsFullError)
    return outcomes.filter(({ status }) => status === 'fulfilled').length
  }
  assert.deepEqual(await Promise.all([accepted('org_a'), accepted('org_b')]), [31, 31])
  assert.equal(await accepted('org_a'), 31, 'after these have ended')
  const waiting = Array.from({ length: 31 }, () => turns.run('org_a', 1 << 20, job('job', 1, 1)))
  await waiting[0]
  assert.equal(await turns.run('org_a', 1 << 20, job('next', 1, 1)), 'next', 'after one has')
  await Promise.all(waiting)
  const many = await Promise.all(Array.from({ length: 9 }, (_, i) => accepted(`org_${i}`)))
  assert.deepEqual(many, [31, 31, 31, 31, 31, 31, 31, 31, 7])
})

test('a job whose step throws is rejected, and the others go on', async () => {
  const { turns, job } = someTurns()
  // oxlint-disable-next-line require-yield
  function* failing(): Generator<undefined, string> {
    throw new Error('no such step')
  }
  const failed = turns.run('org_a', 1, failing())
  const other = turns.run('org_a', 1, job('sound', 1, 1))
  await assert.rejects(failed, /no such step/)
  assert.equal(await other, 'sound')
  assert.equal(await turns.run('org_a', 1, job('sound', 1, 1)), 'sound')
})
