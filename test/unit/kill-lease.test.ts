import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LivenessLease } from '../../ext-proc/fleet/liveness-lease.ts'

test('the oldest of the three proofs counts', () => {
  let now_ms = 10_000
  const lease = new LivenessLease(3000, () => now_ms)
  assert.equal(lease.isHeld, false)
  lease.prove('beacon', 10_000)
  lease.prove('ping', 10_000)
  assert.equal(lease.isHeld, false)
  lease.prove('beat', 9_000)
  assert.equal(lease.left_ms, 2000)
  now_ms = 11_999
  assert.equal(lease.isHeld, true)
  lease.prove('beacon', 11_999)
  lease.prove('ping', 11_999)
  now_ms = 12_000
  assert.equal(lease.isHeld, false)
  assert.deepEqual(lease.missing, ['beat'])
  lease.prove('beat', 12_000)
  assert.equal(lease.isHeld, true)
})

test('a late proof does not shorten the lease, and a revoked lease needs all proofs again', () => {
  const lease = new LivenessLease(1000, () => 500)
  for (const proof of ['beacon', 'ping', 'beat'] as const) lease.prove(proof, 500)
  lease.prove('beat', 100)
  assert.equal(lease.left_ms, 1000)
  lease.revoke()
  assert.equal(lease.isHeld, false)
  lease.prove('beacon', 500)
  lease.prove('ping', 500)
  assert.equal(lease.isHeld, false)
})

test('a lease in doubt is waited for until all proofs have come again, or for as long as was said', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const lease = new LivenessLease(1000, () => 500)
  const proveAll = (): void => {
    for (const proof of ['beacon', 'ping', 'beat'] as const) lease.prove(proof, 500)
  }
  const regained = (): Promise<void> | null => lease.regained
  proveAll()
  assert.equal(regained(), null)
  lease.doubt(200)
  assert.equal(lease.isHeld, false)
  const first = regained()
  lease.prove('beat', 500)
  assert.equal(regained(), first, 'one proof is not enough')
  proveAll()
  await first
  assert.equal(lease.isHeld, true)
  assert.equal(regained(), null)

  lease.doubt(200)
  const waited = regained()
  t.mock.timers.tick(199)
  lease.doubt(200)
  assert.equal(regained(), waited, 'another pause does not prolong the wait')
  t.mock.timers.tick(1)
  await waited
  assert.equal(lease.isHeld, false)
  assert.equal(regained(), null)
})
