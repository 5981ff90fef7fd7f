import assert from 'node:assert/strict'
import { once } from 'node:events'
import { constants, getPriority } from 'node:os'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'

const CODE = `
  const { parentPort } = require('node:worker_threads')
  const { getPriority } = require('node:os')
  import('${new URL('../../core/system/lower-thread-priority.js', import.meta.url).href}').then(({ lowerThreadPriority }) => {
    const seen = []
    for (let i = 0; i < 5; i++) {
      lowerThreadPriority()
      seen.push(getPriority())
    }
    parentPort.postMessage(seen)
  })`

test('a thread lowers its own priority, step by step and to the lowest, and no other one', {
  skip: process.platform !== 'linux' && 'a priority belongs to a thread on Linux only',
}, async () => {
  const before = getPriority()
  const worker = new Worker(CODE, { eval: true })
  const [seen] = (await once(worker, 'message')) as [readonly number[]]
  await worker.terminate()
  const lowest = constants.priority.PRIORITY_LOW
  assert.deepEqual(
    seen,
    [10, 20, 30, 40, 50].map((steps) => Math.min(before + steps, lowest)),
  )
  assert.equal(getPriority(), before)
})
