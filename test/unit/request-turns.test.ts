import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { RequestTurns } from '../../admin/context/request-turns.ts'

const settle = async (): Promise<void> => {
  for (let i = 0; i < 3; i++) await turn()
}

test('organizations take turns, and one request runs at a time', async () => {
  const turns = new RequestTurns()
  const order: string[] = []
  const leaving: (() => void)[] = []
  const ask = (name: string): void => {
    void turns.take(name.slice(0, 1)).then((leave) => {
      assert.ok(leave !== null)
      order.push(name)
      leaving.push(leave)
    })
  }
  for (const name of ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1']) ask(name)
  for (let i = 1; i <= 7; i++) {
    await settle()
    assert.equal(order.length, i)
    leaving[i - 1]?.()
    // A second call changes nothing.
    leaving[i - 1]?.()
  }
  assert.deepEqual(order, ['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4'])
  await settle()
  assert.ok((await turns.take('d')) !== null)
})

test('an organization with too many waiting requests is refused, and no other', async () => {
  const turns = new RequestTurns()
  const leave = await turns.take('a')
  const waiting = Array.from({ length: 16 }, () => turns.take('a'))
  assert.equal(await turns.take('a'), null)
  const other = turns.take('b')
  leave?.()
  for (const one of [waiting[0], other]) (await one)?.()
  for (const one of waiting.slice(1)) (await one)?.()
  // All organizations together have a bound too.
  const again = await turns.take('a')
  const all = Array.from({ length: 20 }, (_, org) =>
    Array.from({ length: 16 }, () => turns.take(`org ${org}`)),
  ).flat()
  const refused: unknown[] = []
  for (const one of all) void one.then((result) => result === null && refused.push(result))
  await settle()
  assert.equal(refused.length, 20 * 16 - 256)
  again?.()
})
