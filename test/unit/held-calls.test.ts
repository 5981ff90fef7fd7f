import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type HeldCall, HeldCalls } from '../../ext-proc/kill/held-calls.ts'

const KILLED = { reason: 'agent_killed', killed_at: '2026-01-01T00:00:00.000Z' } as const

/** A call that Envoy ends when `end` is called, and not before. */
function heldCall(agent_id: string): { call: HeldCall; end: () => void; cuts: () => number } {
  let end = (): void => undefined
  let cuts = 0
  const ended = new Promise<void>((resolve) => {
    end = resolve
  })
  const call: HeldCall = {
    organization_id: 'o',
    agent_id,
    passed_ms: null,
    ended,
    cut: () => ++cuts === 1,
  }
  return { call, end, cuts: () => cuts }
}

test('threat 19: a cut is reported only when Envoy has ended every stream of the agent', async () => {
  const held = new HeldCalls()
  const [first, second, other] = [heldCall('a'), heldCall('a'), heldCall('b')]
  for (const { call } of [first, second, other]) held.add(call)
  let isTold = false
  const cutting = held.cutAgent('o', 'a', KILLED).then((counts) => {
    isTold = true
    return counts
  })
  assert.deepEqual([first.cuts(), second.cuts(), other.cuts()], [1, 1, 0])
  first.end()
  await new Promise((resolve) => setImmediate(resolve))
  assert.equal(isTold, false)
  second.end()
  assert.deepEqual(await cutting, { terminated: 2, unconfirmed: 0 })
})

test('threat 19: a stream that Envoy does not end in time is reported as unconfirmed, never as ended', async ({
  mock,
}) => {
  mock.timers.enable({ apis: ['setTimeout'] })
  const held = new HeldCalls()
  const [ends, hangs] = [heldCall('a'), heldCall('a')]
  for (const { call } of [ends, hangs]) held.add(call)
  ends.end()
  const cutting = held.cutAgent('o', 'a', KILLED)
  await new Promise((resolve) => setImmediate(resolve))
  mock.timers.tick(400)
  assert.deepEqual(await cutting, { terminated: 1, unconfirmed: 1 })
  // Who cuts again waits for the same call and does not count it twice.
  const again = held.cutAgent('o', 'a', KILLED)
  hangs.end()
  assert.deepEqual(await again, { terminated: 0, unconfirmed: 0 })
})

test('tunnels are cut after the calls inside them, and counted with them', async ({ mock }) => {
  mock.timers.enable({ apis: ['setTimeout'] })
  const held = new HeldCalls()
  const [inside, outside, other] = [heldCall('a'), heldCall('a'), heldCall('b')]
  const tunnel: HeldCall = { ...outside.call, is_tunnel: true }
  for (const call of [tunnel, inside.call, { ...other.call, is_tunnel: true }]) held.add(call)
  assert.deepEqual([held.tunnels('o', 'a'), held.tunnels('o', 'c'), held.tunnels()], [1, 0, 2])
  held.cutAll({ reason: 'gateway_unavailable' })
  assert.deepEqual([inside.cuts(), outside.cuts(), other.cuts()], [1, 0, 0])
  mock.timers.tick(30)
  assert.deepEqual([inside.cuts(), outside.cuts(), other.cuts()], [1, 1, 1])
})

test('calls leave in any order, twice or without having come, and every call that is left is cut', () => {
  const orders: readonly (readonly number[])[] = [
    [],
    [0],
    [4],
    [2],
    [0, 1, 2],
    [4, 3, 2],
    [2, 2, 2],
    [1, 4, 1, 0],
    [3, 0, 4, 2],
    [0, 1, 2, 3, 4],
    [4, 3, 2, 1, 0, 0],
  ]
  for (const order of orders) {
    const held = new HeldCalls()
    const calls = Array.from({ length: 5 }, () => heldCall('a'))
    for (const { call } of calls) held.add(call)
    held.remove(heldCall('a').call)
    for (const i of order) held.remove((calls[i] as (typeof calls)[number]).call)
    const left = new Set([0, 1, 2, 3, 4].filter((i) => !order.includes(i)))
    assert.equal(held.size, left.size)
    assert.equal(held.agents().length, left.size === 0 ? 0 : 1)
    assert.equal(held.busiest(1).calls['o a'], left.size === 0 ? undefined : left.size)
    held.cutAll(KILLED)
    assert.deepEqual(
      calls.map(({ cuts }) => cuts()),
      [0, 1, 2, 3, 4].map((i) => (left.has(i) ? 1 : 0)),
      order.join(),
    )
  }
})

test('calls that leave while all are cut do not hide others', () => {
  const held = new HeldCalls()
  let cut = 0
  const calls = Array.from({ length: 6 }, (_, i): HeldCall => {
    const call: HeldCall = {
      ...heldCall(i < 3 ? 'a' : 'b').call,
      cut: () => {
        cut++
        held.remove(call)
        return true
      },
    }
    return call
  })
  for (const call of calls) held.add(call)
  held.cutAll(KILLED)
  assert.equal(cut, 6)
  assert.equal(held.size, 0)
})
