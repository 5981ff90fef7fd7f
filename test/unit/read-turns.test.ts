import assert from 'node:assert/strict'
import { setImmediate as turn } from 'node:timers/promises'
import { test } from 'node:test'
import { ReadTurns } from '../../ext-proc/policy/read-turns.ts'
import { TurnsFullError } from '../../ext-proc/policy/step-turns.ts'

/** Reads that end when they are told to. */
function aLine() {
  const turns = new ReadTurns()
  const running: (() => void)[] = []
  const begin = (organization_id: string): Promise<void> =>
    turns.run(organization_id, () => new Promise((resolve) => void running.push(resolve)))
  return { turns, running, begin }
}

test('eight reads of an organization run at a time, and others follow in their order', async () => {
  const { turns, running, begin } = aLine()
  const reads = Array.from({ length: 10 }, () => begin('org_a'))
  const order: number[] = []
  const last = turns.run('org_a', async () => void order.push(11))
  await turn()
  assert.equal(running.length, 8)
  const other = begin('org_b')
  await turn()
  assert.equal(running.length, 9, 'another organization does not wait')
  running[0]?.()
  await turn()
  assert.equal(running.length, 10)
  for (let at = 1; at < 11; at++) {
    running[at]?.()
    await turn()
  }
  await Promise.all([...reads, other, last])
  assert.equal(running.length, 11)
  assert.deepEqual(order, [11])
})

test('a read that fails gives its place on, and a line has a bound', async () => {
  const { turns, running, begin } = aLine()
  await assert.rejects(
    turns.run('org_a', () => Promise.reject(new Error('no store'))),
    /no store/,
  )
  const reads = Array.from({ length: 2_008 }, () => begin('org_a'))
  await turn()
  assert.equal(running.length, 8)
  await assert.rejects(begin('org_a'), TurnsFullError)
  for (let at = 0; at < 2_008; at++) {
    running[at]?.()
    await turn()
  }
  await Promise.all(reads)
})
