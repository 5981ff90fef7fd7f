import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { startBeacon } from '../../core/control/beacon.ts'
import { beaconLeaderTtl } from '../../core/control/control-message.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { settle } from '../kit/fake-control-channel.ts'

const LEASE_MS = 3000
const STEP_MS = 50

/** A process that asks a store in which another is elected for `left_ms`; 0: this one sends the beacon. */
function aProcess(t: TestContext, left_ms: number) {
  const { timers } = t.mock
  timers.enable({ apis: ['setTimeout'] })
  const store = { left_ms, asked: 0 }
  const evalsha = (): Promise<number> => {
    store.asked++
    return Promise.resolve(store.left_ms)
  }
  const beacon = startBeacon({ evalsha } as unknown as RedisClient, 'one', LEASE_MS)
  t.after(beacon.stop)
  const pass = async (ms: number, each: () => void = () => undefined): Promise<void> => {
    for (let passed = 0; passed < ms; passed += STEP_MS) {
      timers.tick(STEP_MS)
      await settle()
      each()
    }
  }
  return { beacon, store, pass }
}

test('the elected process sends four beacons a second', async (t) => {
  const { store, pass } = aProcess(t, 0)
  await pass(10_000)
  assert.equal(store.asked, 40)
})

test('a process that hears the beacon of another does not ask who is elected', async (t) => {
  const { beacon, store, pass } = aProcess(t, 900)
  await pass(10_000, beacon.heard)
  assert.equal(store.asked, 0)
})

test('when the beacon is heard no more, it asks as soon as that election is over', async (t) => {
  const { beacon, store, pass } = aProcess(t, 900)
  await pass(2_000, beacon.heard)
  store.left_ms = 0
  await pass(beaconLeaderTtl(LEASE_MS) - STEP_MS)
  assert.equal(store.asked, 0)
  await pass(STEP_MS)
  assert.equal(store.asked, 1)
  await pass(1_000)
  assert.equal(store.asked, 5, 'it is elected now')
})

test('one that hears nothing, such as an admin process, asks when the election that it was told of would be over', async (t) => {
  const { store, pass } = aProcess(t, 900)
  await pass(9_250)
  assert.equal(store.asked, 11)
})
