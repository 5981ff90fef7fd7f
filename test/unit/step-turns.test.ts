import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StepTurns } from '../../ext-proc/policy/step-turns.ts'

test('organizations take turns; the jobs of one follow each other, those with less to do first', async () => {
  const turns = new StepTurns()
  const seen: string[] = []
  function* job(name: string, steps: number): Generator<undefined, string> {
    for (let i = 0; i < steps; i++) {
      seen.push(name)
      yield
    }
    return name
  }
  const ended = await Promise.all([
    turns.run('org_a', 3, job('large', 3)),
    turns.run('org_a', 3, job('next', 3)),
    turns.run('org_a', 1, job('small', 1)),
    turns.run('org_b', 2, job('other', 2)),
  ])
  assert.deepEqual(ended, ['large', 'next', 'small', 'other'])
  assert.equal(seen.join(' '), 'small other other large large large next next next')
})

test('a job whose step throws is rejected, and the others go on', async () => {
  const turns = new StepTurns()
  // oxlint-disable-next-line require-yield
  function* failing(): Generator<undefined, string> {
    throw new Error('no such step')
  }
  function* sound(): Generator<undefined, string> {
    yield
    return 'done'
  }
  const failed = turns.run('org_a', 1, failing())
  const other = turns.run('org_a', 1, sound())
  await assert.rejects(failed, /no such step/)
  assert.equal(await other, 'done')
  assert.equal(await turns.run('org_a', 1, sound()), 'done')
})
