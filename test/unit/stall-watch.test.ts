import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { StallWatch } from '../../ext-proc/fleet/stall-watch.ts'
import { settle } from '../kit/fake-control-channel.ts'

function aWatch({ mock }: Pick<TestContext, 'mock'>) {
  mock.timers.enable({ apis: ['setInterval'] })
  const clock = { now_ms: 1000 }
  const stalls: number[] = []
  const watch = new StallWatch(
    () => clock.now_ms,
    250,
    (stood_ms) => stalls.push(stood_ms),
  )
  const tick = (ms: number): void => {
    clock.now_ms += ms
    mock.timers.tick(250)
  }
  return { watch, clock, stalls, tick }
}

test('a process that runs has nothing to wait for', (t) => {
  const { watch, clock, stalls, tick } = aWatch(t)
  for (let i = 0; i < 20; i++) tick(25)
  clock.now_ms += 149
  assert.equal(watch.caughtUp(), null)
  assert.deepEqual(stalls, [])
  watch.stop()
})

test('a call that comes after a stall waits until what had arrived was read; others share the wait', async (t) => {
  const { watch, clock, stalls } = aWatch(t)
  clock.now_ms += 400
  const caughtUp = watch.caughtUp()
  assert.ok(caughtUp)
  assert.equal(watch.caughtUp(), caughtUp)
  assert.deepEqual(stalls, [400], 'reported once, before anything else')
  await caughtUp
  assert.equal(watch.caughtUp(), null)
  watch.stop()
})

test('what arrived in a silence that may have been a short stall is read before a call; no stall is reported', async (t) => {
  const { watch, clock, stalls } = aWatch(t)
  clock.now_ms += 100
  assert.equal(watch.caughtUp(), null, 'a call shows that the process runs')
  clock.now_ms += 150
  const caughtUp = watch.caughtUp()
  assert.ok(caughtUp)
  await caughtUp
  assert.equal(watch.caughtUp(), null)
  assert.deepEqual(stalls, [])
  watch.stop()
})

test('a stall is noticed without a call, too', async (t) => {
  const { watch, stalls, tick } = aWatch(t)
  tick(400)
  assert.deepEqual(stalls, [400])
  await settle()
  tick(25)
  assert.equal(watch.caughtUp(), null)
  assert.deepEqual(stalls, [400])
  watch.stop()
})

test('a call waits while a stall is being caughtUp, even if the clock has been read since', async (t) => {
  const { watch, stalls, tick } = aWatch(t)
  tick(400)
  const caughtUp = watch.caughtUp()
  assert.ok(caughtUp, 'still settling')
  await caughtUp
  assert.deepEqual(stalls, [400])
  watch.stop()
})
