import assert from 'node:assert/strict'
import { test } from 'node:test'
import { issueProbePass, makeProbeCheck } from '../../core/control/probe-pass.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'

/** A store with one text, and how often it was read. */
function aStore() {
  let text: string | null = null
  const store = { is_away: false, reads: 0 }
  const redis = {
    get: async () => {
      store.reads++
      if (store.is_away) throw new Error('away')
      return text
    },
    set: async (_key: string, value: string) => {
      text ??= value
    },
  } as unknown as RedisClient
  const empty = (): void => {
    text = null
  }
  return { store, redis, empty }
}

const NOW_MS = 1_800_000_000_000

test('a pass counts once in each process, minutes late and without the store, and not after ten minutes', async () => {
  const { redis, store, empty } = aStore()
  let now_ms = NOW_MS
  const issue = async (): Promise<string> => (await issueProbePass(redis, () => now_ms)) ?? ''
  const [edge, receiver] = [makeProbeCheck(redis, () => now_ms), makeProbeCheck(redis)]
  const passes = [await issue(), await issue(), await issue()]
  const [first = '', late = '', old = ''] = passes
  assert.equal(new Set(passes).size, 3)
  assert.equal(await edge(first), true)
  assert.equal(await edge(first), false)
  store.is_away = true
  assert.equal(await issueProbePass(redis), null)
  now_ms += 590_000
  assert.equal(await edge(late), true)
  now_ms += 20_000
  assert.equal(await edge(old), false)
  assert.equal(await receiver(old), false)
  store.is_away = false
  // A store that lost the key gets another one, which is read once the first pass with it comes.
  empty()
  assert.equal(await edge(await issue()), true)
})

test('attack, passes that a caller makes are none, and all of them read the store once at a time', async () => {
  const { redis, store } = aStore()
  const other = aStore().redis
  const isProbe = makeProbeCheck(redis, () => NOW_MS)
  const pass = (await issueProbePass(redis, () => NOW_MS)) ?? ''
  const forged = (await issueProbePass(other, () => NOW_MS)) ?? ''
  const bytes = Buffer.from(pass, 'base64url')
  bytes.writeUIntBE(NOW_MS + 1, 0, 6)
  const shifted = bytes.toString('base64url')
  const rows = [forged, shifted, `${pass} `, `${pass}0`, pass.slice(1), `${pass}, ${pass}`, '', '*']
  for (const row of [...rows, pass.toUpperCase(), 'f'.repeat(72), 'A'.repeat(72)])
    assert.equal(await isProbe(row), row === pass, row)
  const { reads } = store
  await Promise.all(Array.from({ length: 1000 }, () => isProbe(forged)))
  assert.equal(store.reads, reads + 1)
  assert.equal(await isProbe(pass), true)
})
