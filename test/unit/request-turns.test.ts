import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { RequestTurns } from '../../admin/context/request-turns.ts'

const ONE = { at_once: 1, at_once_of_one: 1, waiting_of_one: 16, waiting_of_token: 16 }

const settle = async (): Promise<void> => {
  for (let i = 0; i < 3; i++) await turn()
}

test('organizations take turns, and one request runs at a time', async () => {
  const turns = new RequestTurns(ONE)
  const order: string[] = []
  const leaving: (() => void)[] = []
  const ask = (name: string): void => {
    void turns.take(name.slice(0, 1), 'token').then((leave) => {
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
  assert.ok((await turns.take('d', 'token')) !== null)
})

test('an organization with too many waiting requests is refused, and no other', async () => {
  const turns = new RequestTurns(ONE)
  const leave = await turns.take('a', 'token')
  const waiting = Array.from({ length: 16 }, () => turns.take('a', 'token'))
  assert.equal(await turns.take('a', 'token'), null)
  const other = turns.take('b', 'token')
  leave?.()
  for (const one of [waiting[0], other]) (await one)?.()
  for (const one of waiting.slice(1)) (await one)?.()
  // All organizations together have a bound too.
  const again = await turns.take('a', 'token')
  const all = Array.from({ length: 20 }, (_, org) =>
    Array.from({ length: 16 }, () => turns.take(`org ${org}`, 'token')),
  ).flat()
  const refused: unknown[] = []
  for (const one of all) void one.then((result) => result === null && refused.push(result))
  await settle()
  assert.equal(refused.length, 20 * 16 - 256)
  again?.()
})

test('several requests run at a time, those of one organization not at all places', async () => {
  const turns = new RequestTurns({
    at_once: 3,
    at_once_of_one: 2,
    waiting_of_one: 16,
    waiting_of_token: 16,
  })
  const running: string[] = []
  const leaving = new Map<string, () => void>()
  const ask = (name: string): void => {
    void turns.take(name.slice(0, 1), 'token').then((leave) => {
      assert.ok(leave !== null)
      running.push(name)
      leaving.set(name, leave)
    })
  }
  const end = async (name: string): Promise<void> => {
    leaving.get(name)?.()
    running.splice(running.indexOf(name), 1)
    await settle()
  }
  for (const name of ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1']) ask(name)
  await settle()
  assert.deepEqual(running, ['a1', 'a2', 'b1'])
  // The place of b goes to b, since a has its two.
  await end('b1')
  assert.deepEqual(running, ['a1', 'a2', 'b2'])
  await end('a1')
  assert.deepEqual(running, ['a2', 'b2', 'a3'])
  await end('a2')
  assert.deepEqual(running, ['b2', 'a3', 'c1'])
  await end('b2')
  assert.deepEqual(running, ['a3', 'c1', 'a4'])
  for (const name of ['a3', 'c1', 'a4']) await end(name)
  for (const name of ['d1', 'd2', 'd3']) ask(name)
  await settle()
  assert.deepEqual(running, ['d1', 'd2'])
})

test('a token cannot fill the queue of its organization, and tokens take turns', async () => {
  const turns = new RequestTurns({ ...ONE, waiting_of_token: 3 })
  const order: string[] = []
  const leaving: (() => void)[] = []
  const ask = (token: string, name: string): void => {
    void turns.take('a', token).then((leave) => {
      if (leave === null) return void order.push(`${name} refused`)
      order.push(name)
      leaving.push(leave)
    })
  }
  for (let i = 1; i <= 6; i++) ask('viewer', `viewer ${i}`)
  ask('operator', 'operator 1')
  ask('operator', 'operator 2')
  await settle()
  assert.deepEqual(order, ['viewer 1', 'viewer 5 refused', 'viewer 6 refused'])
  for (let i = 0; i < 6; i++) {
    leaving[i]?.()
    await settle()
  }
  assert.deepEqual(order.slice(3), ['operator 1', 'viewer 2', 'operator 2', 'viewer 3', 'viewer 4'])
})
