import assert from 'node:assert/strict'
import { setImmediate as turn } from 'node:timers/promises'
import { mock, test } from 'node:test'
import fc from 'fast-check'
import { FillCache, type MemoryBudget } from '../../ext-proc/policy/fill-cache.ts'
import { repetitions } from '../kit/repetitions.ts'

interface Value {
  readonly text: string
}

/** A cache over a store whose reads end when the test says so, with what the store had when they began. */
function aCache(limit = 10, budget?: MemoryBudget<Value>) {
  const store = new Map<string, string>()
  const fills: { key: string; end: () => void; fail: () => void; isWanted: () => boolean }[] = []
  const cache = new FillCache<Value>(
    limit,
    (key, isWanted) => {
      const text = store.get(key) ?? 'nothing'
      return new Promise((resolve, reject) => {
        fills.push({
          key,
          isWanted,
          end: () => resolve({ text }),
          fail: () => reject(new Error('the store is unavailable')),
        })
      })
    },
    budget,
  )
  const change = (key: string, text: string): void => {
    store.set(key, text)
    cache.drop(key)
  }
  /** One change during each read of `a`; timers are mocked. */
  const changeDuringReads = async (reads: number): Promise<void> => {
    for (let i = 0; i < reads; i++) {
      change('a', String(i))
      fills[i]?.end()
      await turn()
      mock.timers.tick(100)
      await turn()
    }
  }
  const fill = async (key: string): Promise<void> => {
    const filled = cache.get(key)
    fills.at(-1)?.end()
    await filled
  }
  const isHeld = (key: string): boolean => !(cache.get(key) instanceof Promise)
  return { cache, store, fills, change, changeDuringReads, fill, isHeld }
}

test('an entry is read once for all waiting callers and is cached afterwards', async () => {
  const { cache, fills, store } = aCache()
  store.set('a', '1')
  const waiting = [cache.get('a'), cache.get('a')].map((value) => Promise.resolve(value))
  assert.equal(fills.length, 1)
  fills[0]?.end()
  assert.deepEqual(await Promise.all(waiting), [{ text: '1' }, { text: '1' }])
  assert.deepEqual(cache.get('a'), { text: '1' })
  assert.equal(fills.length, 1)
})

test('that there is nothing is kept as well, until it is dropped', async () => {
  const { cache, fill, fills, change } = aCache()
  await fill('a')
  assert.deepEqual(cache.get('a'), { text: 'nothing' })
  change('a', '1')
  const again = cache.get('a')
  assert.equal(fills.length, 2)
  fills[1]?.end()
  assert.deepEqual(await again, { text: '1' })
})

test('a caller that waits during a change gets the state after the change', async () => {
  const { cache, fills, change } = aCache()
  const first = cache.get('a')
  change('a', '1')
  const second = cache.get('a')
  assert.equal(fills.length, 2, 'a new read')
  fills[0]?.end()
  await turn()
  fills[1]?.end()
  for (const value of [first, second]) assert.deepEqual(await value, { text: '1' })
  assert.deepEqual(cache.get('a'), { text: '1' })
})

test('a read that raced with a change is repeated, even without a new request', async () => {
  const { cache, fills, change } = aCache()
  const first = cache.get('a')
  change('a', '1')
  fills[0]?.end()
  await turn()
  assert.equal(fills.length, 2)
  fills[1]?.end()
  assert.deepEqual(await first, { text: '1' })
})

test('a read that a change has overtaken learns that its value is not wanted', async () => {
  const { cache, fills, change } = aCache()
  const first = cache.get('a')
  assert.equal(fills[0]?.isWanted(), true)
  change('a', '1')
  assert.equal(fills[0]?.isWanted(), false)
  const second = cache.get('a')
  assert.deepEqual([fills[0]?.isWanted(), fills[1]?.isWanted()], [false, true])
  for (const { end } of fills) end()
  for (const value of [first, second]) assert.deepEqual(await value, { text: '1' })
})

test('a clear overtakes all reads', async () => {
  const { cache, fills, store } = aCache()
  const first = cache.get('a')
  store.set('a', '1')
  cache.clear()
  fills[0]?.end()
  await turn()
  fills[1]?.end()
  assert.deepEqual(await first, { text: '1' })
})

test('a read waits for the end of a burst of changes', async () => {
  mock.timers.enable({ apis: ['setTimeout'] })
  const { cache, fills, changeDuringReads } = aCache()
  const waiting = cache.get('a')
  await changeDuringReads(15)
  fills[15]?.end()
  assert.deepEqual(await waiting, { text: '14' })
  mock.timers.reset()
})

test('an entry that changes with every read is given up, and the caller refused', async () => {
  mock.timers.enable({ apis: ['setTimeout'] })
  const { cache, fills, changeDuringReads } = aCache()
  let refused: unknown = null
  Promise.resolve(cache.get('a')).catch((error: unknown) => {
    refused = error
  })
  await changeDuringReads(21)
  mock.timers.reset()
  assert.equal(fills.length, 21)
  assert.match(String(refused), /faster than it can be read/)
})

test('a failed read is not cached: all waiting callers are refused, and the next one tries again', async () => {
  const { cache, fills, store } = aCache()
  const waiting = [cache.get('a'), cache.get('a')].map((value) => Promise.resolve(value))
  fills[0]?.fail()
  for (const one of await Promise.allSettled(waiting)) assert.equal(one.status, 'rejected')
  store.set('a', '1')
  const again = cache.get('a')
  fills[1]?.end()
  assert.deepEqual(await again, { text: '1' })
})

test('a read that fails after a change does not remove the newer one', async () => {
  const { cache, fills, change } = aCache()
  const first = Promise.resolve(cache.get('a'))
  change('a', '1')
  const second = cache.get('a')
  fills[0]?.fail()
  await assert.rejects(first)
  fills[1]?.end()
  assert.deepEqual(await second, { text: '1' })
  assert.equal(fills.length, 2)
})

test('at its limit the cache forgets what was used longest ago', async () => {
  const { cache, fill, isHeld } = aCache(3)
  for (const key of ['a', 'b', 'c']) await fill(key)
  assert.ok(isHeld('a'), 'used again')
  await fill('d')
  assert.equal(cache.size, 3)
  assert.ok(isHeld('a') && isHeld('c') && isHeld('d'))
  assert.equal(isHeld('b'), false)
})

test('with a budget for memory the cache forgets what was used longest ago, but never the newest', async () => {
  const { cache, store, fill, isHeld } = aCache(10, {
    bytes_max: 10,
    bytesOf: ({ text }) => text.length,
  })
  for (const [key, size] of [
    ['a', 3],
    ['b', 3],
    ['c', 3],
  ] as const) {
    store.set(key, 'x'.repeat(size))
    await fill(key)
  }
  assert.ok(isHeld('a'), 'used again')
  store.set('d', 'xxxx')
  await fill('d')
  assert.ok(isHeld('a') && isHeld('c') && isHeld('d'))
  assert.equal(cache.size, 3)
  store.set('e', 'x'.repeat(100))
  await fill('e')
  assert.ok(isHeld('e'))
  assert.equal(cache.size, 1)
  cache.drop('e')
  for (const key of ['a', 'b', 'c']) await fill(key)
  assert.equal(cache.size, 3, 'what was dropped does not count')
})

test('an entry that is being read is not forgotten for the memory of another', async () => {
  const { cache, fills, store } = aCache(10, { bytes_max: 1, bytesOf: ({ text }) => text.length })
  store.set('a', '1')
  const first = cache.get('a')
  const second = cache.get('b')
  fills[1]?.end()
  await second
  fills[0]?.end()
  assert.deepEqual(await first, { text: '1' })
  assert.equal(fills.length, 2)
})

test('unfinished reads count for the bound, and one that was evicted still completes', async () => {
  const { cache, fills, store } = aCache(2)
  store.set('a', '1')
  const first = cache.get('a')
  for (const key of ['b', 'c', 'd']) void cache.get(key)
  assert.equal(cache.size, 2)
  // It cannot tell a lost place from a change, and reads once more.
  fills[0]?.end()
  await turn()
  fills.at(-1)?.end()
  assert.deepEqual(await first, { text: '1' })
  assert.equal(cache.size, 2)
})

test('in any order of reads and changes, no caller gets a state older than a change before its request', async () => {
  const step = fc.oneof(
    fc.constant('ask' as const),
    fc.constant('change' as const),
    fc.nat({ max: 3 }),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 20 }), async (steps) => {
      const { cache, fills, change } = aCache()
      let changes = 0
      const asked: Promise<void>[] = []
      const open = new Set<number>()
      for (const one of steps) {
        if (one === 'change') change('a', String(++changes))
        else if (one === 'ask') {
          const since = changes
          const value = cache.get('a')
          asked.push(
            Promise.resolve(value).then(
              ({ text }) => assert.ok(Number(text === 'nothing' ? 0 : text) >= since),
              (error: unknown) => assert.match(String(error), /faster/),
            ),
          )
        } else fills[one]?.end()
        if (fills.length > open.size) open.add(fills.length)
        await turn()
      }
      for (let i = 0; i < fills.length; i++) {
        fills[i]?.end()
        await turn()
      }
      await Promise.all(asked)
    }),
    { numRuns: repetitions(60) },
  )
})
