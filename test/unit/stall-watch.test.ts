import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StallWatch } from '../../ext-proc/fleet/stall-watch.ts'
import { settle } from '../kit/fake-control-channel.ts'

function aWatch() {
  const clock = { now_ms: 1000 }
  const stalls: number[] = []
  const watch = new StallWatch(
    () => clock.now_ms,
    250,
    (stood_ms) => stalls.push(stood_ms),
  )
  const tick = (ms: number): void => {
    clock.now_ms += ms
    watch.tick()
  }
  return { watch, clock, stalls, tick }
}

test('a process that runs has nothing to wait for', () => {
  const { watch, clock, stalls, tick } = aWatch()
  for (let i = 0; i < 20; i++) tick(25)
  clock.now_ms += 149
  assert.equal(watch.caughtUp(), null)
  assert.deepEqual(stalls, [])
})

test('a call that comes after a stall waits until what had arrived was read; others share the wait', async () => {
  const { watch, clock, stalls } = aWatch()
  clock.now_ms += 400
  const caughtUp = watch.caughtUp()
  assert.ok(caughtUp)
  assert.equal(watch.caughtUp(), caughtUp)
  assert.deepEqual(stalls, [400], 'reported once, before anything else')
  await caughtUp
  assert.equal(watch.caughtUp(), null)
})

test('what arrived in a silence that may have been a short stall is read before a call; no stall is reported', async () => {
  const { watch, clock, stalls } = aWatch()
  clock.now_ms += 100
  assert.equal(watch.caughtUp(), null, 'a call shows that the process runs')
  clock.now_ms += 150
  const caughtUp = watch.caughtUp()
  assert.ok(caughtUp)
  await caughtUp
  assert.equal(watch.caughtUp(), null)
  assert.deepEqual(stalls, [])
})

test('a stall is noticed without a call, too', async () => {
  const { watch, stalls, tick } = aWatch()
  tick(400)
  assert.deepEqual(stalls, [400])
  await settle()
  tick(25)
  assert.equal(watch.caughtUp(), null)
  assert.deepEqual(stalls, [400])
})

test('a call waits while a stall is being caughtUp, even if the clock has been read since', async () => {
  const { watch, stalls, tick } = aWatch()
  tick(400)
  const caughtUp = watch.caughtUp()
  assert.ok(caughtUp, 'still settling')
  await caughtUp
  assert.deepEqual(stalls, [400])
})
