import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compareRandomCalls } from '../kit/explain/compare-random-calls.ts'
import { sharedStack } from '../kit/shared-stack.ts'

const CALLS = 250
const stack = await sharedStack()

test('explain and the edge decide the same calls in the same way', async () => {
  const { counts, differences } = await compareRandomCalls(stack, { calls: CALLS, seed: 1 })
  assert.deepEqual(differences, [])
  // Each kind of verdict occurs, so the comparison compares something.
  const kinds = new Set([...counts.keys()].map((name) => name.split(' ', 1)[0]))
  for (const kind of ['allowed', 'refused', 'tool_blocked', 'key_refused', 'refused_by_envoy'])
    assert.ok(kinds.has(kind), kind)
})
