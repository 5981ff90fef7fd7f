import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startCrashStack } from '../kit/webhook-crashes.ts'

const stack = await startCrashStack()
after(() => stack.stop())

test('invariant 7: every event is attempted until a 2xx or its fifth failure, though admin, store and receiver are killed', async () => {
  const { events, delivered, failed } = await stack.round(400)
  assert.equal(delivered + failed, events)
})
