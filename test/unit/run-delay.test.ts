import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ownThread, runDelay_ms } from '../../admin/gate/run-delay.ts'

test('the time for which this thread has waited for a core grows, and is never above the time that has passed', () => {
  const thread = ownThread()
  if (process.platform === 'linux') assert.match(thread ?? '', /^\d+\/task\/\d+$/)
  const before_ms = runDelay_ms(thread)
  const began_ms = performance.now()
  for (let i = 0; i < 1e6; i++) Math.sqrt(i)
  const waited_ms = runDelay_ms(thread) - before_ms
  assert.ok(waited_ms >= 0 && waited_ms <= performance.now() - began_ms + 1, `${waited_ms}`)
})

test('a thread that is unknown has not waited', () => {
  assert.equal(runDelay_ms(null), 0)
  assert.equal(runDelay_ms('1/task/999999999'), 0)
})
