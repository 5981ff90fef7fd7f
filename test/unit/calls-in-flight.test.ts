import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type CallInFlight, CallsInFlight } from '../../ext-proc/kill/calls-in-flight.ts'

const KILLED = { reason: 'agent_killed', killed_at: '2026-01-01T00:00:00.000Z' } as const

/** A call that Envoy ends when `end` is called, and not before. */
function callInFlight(agent_id: string): {
  call: CallInFlight
  end: () => void
  cuts: () => number
} {
  let end = (): void => undefined
  let cuts = 0
  const ended = new Promise<void>((resolve) => {
    end = resolve
  })
  const call: CallInFlight = {
    organization_id: 'o',
    agent_id,
    passed_ms: null,
    ended,
    cut: () => ++cuts === 1,
  }
  return { call, end, cuts: () => cuts }
}

test('threat 19: a cut is reported only when Envoy has ended every stream of the agent', async () => {
  const inFlight = new CallsInFlight()
  const [first, second, other] = [callInFlight('a'), callInFlight('a'), callInFlight('b')]
  for (const { call } of [first, second, other]) inFlight.add(call)
  let isTold = false
  const cutting = inFlight.cutAgent('o', 'a', KILLED).then((counts) => {
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
  const inFlight = new CallsInFlight()
  const [ends, hangs] = [callInFlight('a'), callInFlight('a')]
  for (const { call } of [ends, hangs]) inFlight.add(call)
  ends.end()
  const cutting = inFlight.cutAgent('o', 'a', KILLED)
  await new Promise((resolve) => setImmediate(resolve))
  mock.timers.tick(400)
  const { rest, ...counts } = await cutting
  assert.deepEqual(counts, { terminated: 1, unconfirmed: 1, ending: 1 })
  // Who cuts again waits for the same call and does not count it twice.
  const again = inFlight.cutAgent('o', 'a', KILLED)
  hangs.end()
  assert.deepEqual(await again, { terminated: 0, unconfirmed: 0 })
  assert.deepEqual(await rest, { terminated: 2, unconfirmed: 0 })
})

test('calls that may run on without being held stay unconfirmed when the last one that is held has ended', async ({
  mock,
}) => {
  mock.timers.enable({ apis: ['setTimeout'] })
  const inFlight = new CallsInFlight()
  const held = callInFlight('a')
  inFlight.add(held.call)
  inFlight.unwatched.add('o', 'a', {})
  const cutting = inFlight.cutAgent('o', 'a', KILLED)
  await new Promise((resolve) => setImmediate(resolve))
  mock.timers.tick(400)
  const { rest, ...counts } = await cutting
  assert.deepEqual(counts, { terminated: 0, unconfirmed: 2, ending: 1 })
  held.end()
  assert.deepEqual(await rest, { terminated: 1, unconfirmed: 1 })
})

test('thousands of calls are cut in turns, between which another kill is enforced', async () => {
  const inFlight = new CallsInFlight()
  const calls = Array.from({ length: 1_000 }, () => callInFlight('a'))
  const other = callInFlight('b')
  for (const { call } of [...calls, other]) inFlight.add(call)
  const cutting = inFlight.cutAgent('o', 'a', KILLED)
  const cutNow = calls.filter(({ cuts }) => cuts() > 0).length
  assert.ok(cutNow > 0 && cutNow < calls.length)
  void inFlight.cutAgent('o', 'b', KILLED)
  assert.equal(other.cuts(), 1)
  for (const { end } of calls) end()
  assert.deepEqual(await cutting, { terminated: 1_000, unconfirmed: 0 })
})

test('calls of a connection are cut no faster than Envoy ends them; those of another one, and a kill of few, do not wait', async () => {
  const inFlight = new CallsInFlight()
  const [busy, idle] = [{}, {}]
  const calls = Array.from({ length: 1_000 }, () => callInFlight('a'))
  const elsewhere = Array.from({ length: 500 }, () => callInFlight('a'))
  const other = callInFlight('b')
  for (const { call } of calls) inFlight.add(Object.assign(call, { connection: busy }))
  for (const { call } of elsewhere) inFlight.add(Object.assign(call, { connection: idle }))
  inFlight.add(Object.assign(other.call, { connection: busy }))
  const countCut = (some: typeof calls): number => some.filter(({ cuts }) => cuts() > 0).length
  const turns = async (): Promise<void> => {
    for (let i = 0; i < 50; i++) await new Promise((resolve) => setImmediate(resolve))
  }
  const cutting = inFlight.cutAgent('o', 'a', KILLED)
  for (let ended = 0; ended < calls.length; ended += 50) {
    await turns()
    const unended = countCut(calls) - ended
    assert.ok(unended > 0 && unended <= 125, `${unended} after ${ended}`)
    if (ended === 0) {
      void inFlight.cutAgent('o', 'b', KILLED)
      assert.equal(other.cuts(), 1)
      for (const { end } of elsewhere) {
        end()
        await Promise.resolve()
      }
      await turns()
      assert.equal(countCut(elsewhere), 500)
      other.end()
    }
    for (const { end } of calls.slice(ended, ended + 50)) end()
  }
  assert.deepEqual(await cutting, { terminated: 1_500, unconfirmed: 0 })
})

test('calls are cut though Envoy ends none', async ({ mock }) => {
  mock.timers.enable({ apis: ['setTimeout'] })
  const inFlight = new CallsInFlight()
  const calls = Array.from({ length: 1_000 }, () => callInFlight('a'))
  for (const { call } of calls) inFlight.add(call)
  const cutting = inFlight.cutAgent('o', 'a', KILLED)
  for (let passed_ms = 0; passed_ms < 9_000; passed_ms += 100) {
    mock.timers.tick(100)
    for (let i = 0; i < 5; i++) await new Promise((resolve) => setImmediate(resolve))
  }
  assert.equal(calls.filter(({ cuts }) => cuts() === 1).length, 1_000)
  assert.equal((await cutting).unconfirmed, 1_000)
})

test('thousands of calls are counted by the first of two kills, whichever cut reaches them', async () => {
  const inFlight = new CallsInFlight()
  const calls = Array.from({ length: 1_000 }, () => callInFlight('a'))
  for (const { call } of calls) inFlight.add(call)
  const first = inFlight.cutAgent('o', 'a', KILLED)
  const late = callInFlight('a')
  inFlight.add(late.call)
  const second = inFlight.cutAgent('o', 'a', KILLED)
  inFlight.cutAll({ reason: 'gateway_unavailable' })
  for (const { end } of [...calls, late]) end()
  assert.deepEqual(await first, { terminated: 1_000, unconfirmed: 0 })
  assert.deepEqual(await second, { terminated: 1, unconfirmed: 0 })
})

test('tunnels are cut after the calls inside them, and counted with them', async ({ mock }) => {
  mock.timers.enable({ apis: ['setTimeout'] })
  const inFlight = new CallsInFlight()
  const [inside, outside, other] = [callInFlight('a'), callInFlight('a'), callInFlight('b')]
  const tunnel: CallInFlight = { ...outside.call, is_tunnel: true }
  for (const call of [tunnel, inside.call, { ...other.call, is_tunnel: true }]) inFlight.add(call)
  assert.deepEqual(
    [inFlight.tunnels('o', 'a'), inFlight.tunnels('o', 'c'), inFlight.tunnels()],
    [1, 0, 2],
  )
  assert.deepEqual(inFlight.busiest(2), {
    calls: { 'o a': 1, 'o b': 0 },
    tunnels: { 'o a': 1, 'o b': 1 },
    is_whole: true,
  })
  assert.deepEqual(inFlight.busiest(1), {
    calls: { 'o a': 1 },
    tunnels: { 'o a': 1 },
    is_whole: false,
  })
  inFlight.cutAll({ reason: 'gateway_unavailable' })
  assert.deepEqual([inside.cuts(), outside.cuts(), other.cuts()], [1, 0, 0])
  mock.timers.tick(30)
  assert.deepEqual([inside.cuts(), outside.cuts(), other.cuts()], [1, 1, 1])
})

test('a tunnel waits for the calls inside it, which a busy Envoy ends late, but not for long', async ({
  mock,
}) => {
  mock.timers.enable({ apis: ['setTimeout'] })
  const pass = async (ms: number): Promise<void> => {
    for (let passed_ms = 0; passed_ms < ms; passed_ms += 10) {
      mock.timers.tick(10)
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  for (const isEnded of [true, false]) {
    const inFlight = new CallsInFlight()
    const [inside, outside] = [callInFlight('a'), callInFlight('a')]
    for (const call of [inside.call, { ...outside.call, is_tunnel: true }]) inFlight.add(call)
    const cutting = inFlight.cutAgent('o', 'a', KILLED)
    await pass(150)
    assert.deepEqual([inside.cuts(), outside.cuts()], [1, 0])
    if (isEnded) inside.end()
    await pass(isEnded ? 40 : 90)
    assert.equal(outside.cuts(), 1)
    outside.end()
    await pass(400)
    const { rest: _, ...counts } = await cutting
    assert.deepEqual(
      counts,
      isEnded
        ? { terminated: 2, tunnels: 1, unconfirmed: 0 }
        : { terminated: 1, tunnels: 1, unconfirmed: 1, ending: 1 },
    )
  }
})

test('a tunnel that two kills cut is counted by the first', async () => {
  const inFlight = new CallsInFlight()
  const one = callInFlight('a')
  inFlight.add({ ...one.call, is_tunnel: true, ended: Promise.resolve() })
  const cuts = [inFlight.cutAgent('o', 'a', KILLED), inFlight.cutAgent('o', 'a', KILLED)]
  assert.deepEqual(await Promise.all(cuts), [
    { terminated: 1, tunnels: 1, unconfirmed: 0 },
    { terminated: 0, unconfirmed: 0 },
  ])
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
    const inFlight = new CallsInFlight()
    const calls = Array.from({ length: 5 }, () => callInFlight('a'))
    for (const { call } of calls) inFlight.add(call)
    inFlight.remove(callInFlight('a').call)
    for (const i of order) inFlight.remove((calls[i] as (typeof calls)[number]).call)
    const left = new Set([0, 1, 2, 3, 4].filter((i) => !order.includes(i)))
    assert.equal(inFlight.size, left.size)
    assert.equal(inFlight.agents().length, left.size === 0 ? 0 : 1)
    assert.equal(inFlight.busiest(1).calls['o a'], left.size === 0 ? undefined : left.size)
    inFlight.cutAll(KILLED)
    assert.deepEqual(
      calls.map(({ cuts }) => cuts()),
      [0, 1, 2, 3, 4].map((i) => (left.has(i) ? 1 : 0)),
      order.join(),
    )
  }
})

test('calls that leave while all are cut do not hide others', () => {
  const inFlight = new CallsInFlight()
  let cut = 0
  const calls = Array.from({ length: 6 }, (_, i): CallInFlight => {
    const call: CallInFlight = {
      ...callInFlight(i < 3 ? 'a' : 'b').call,
      cut: () => {
        cut++
        inFlight.remove(call)
        return true
      },
    }
    return call
  })
  for (const call of calls) inFlight.add(call)
  inFlight.cutAll(KILLED)
  assert.equal(cut, 6)
  assert.equal(inFlight.size, 0)
})
