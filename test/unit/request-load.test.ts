import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { RequestLoad } from '../../admin/context/request-load.ts'

/** Whether a promise is resolved after some turns of the event loop. */
async function isResolved(promise: Promise<unknown>): Promise<boolean> {
  let resolved = false
  void promise.then(() => {
    resolved = true
  })
  for (let i = 0; i < 5; i++) await turn()
  return resolved
}

test('background work waits while a request is in progress, and continues after the last', async (t) => {
  // The limit of the wait must not pass on a busy machine.
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const load = new RequestLoad(() => 0)
  const [first, second] = [load.enter(), load.enter()]
  const waiting = load.quiet()
  first()
  first()
  assert.equal(await isResolved(waiting), false)
  second()
  assert.equal(await isResolved(waiting), true)
})

test('background work continues after a while, however many requests come', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  let now_ms = 0
  const load = new RequestLoad(() => now_ms)
  const leave = load.enter()
  const waiting = load.quiet()
  assert.equal(await isResolved(waiting), false)
  now_ms = 200
  t.mock.timers.tick(200)
  await waiting
  leave()
})

test('of several waiting tasks one continues in each turn, so that a request can run in between', async () => {
  const load = new RequestLoad()
  const order: string[] = []
  const leaves: (() => void)[] = []
  const jobs = ['digest', 'archive', 'analysis'].map(async (name) => {
    await load.quiet()
    order.push(name)
    // As a request does that arrives while this step runs.
    if (name === 'digest') leaves.push(load.enter())
  })
  for (let i = 0; i < 5; i++) await turn()
  assert.deepEqual(order, ['digest'])
  for (const leave of leaves) leave()
  await Promise.all(jobs)
  assert.deepEqual(order, ['digest', 'archive', 'analysis'])
})

test('a list is worked through whole and in order, and way is given after as much of it as makes a step', async () => {
  const load = new RequestLoad()
  const done: number[] = []
  let steps = 0
  const giveWay = async (): Promise<void> => void steps++
  const slow = (n: number): void => {
    const began_ms = performance.now()
    while (performance.now() - began_ms < 5);
    done.push(n)
  }
  await load.each([1, 2, 3], slow, giveWay)
  assert.deepEqual(done, [1, 2, 3])
  assert.equal(steps, 3)
  await load.each([], slow, giveWay)
  assert.equal(steps, 3)
})
