import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { ATTEMPT_ERRORS } from '../../admin/webhooks/attempt-outcome.ts'
import { QUEUE_KEYS } from '../../admin/webhooks/queue-keys.ts'
import { fromRoot } from '../../core/system/root.ts'

test('docs/guides/webhooks.md lists every error class of an attempt with its sentence', () => {
  const text = readFileSync(fromRoot('docs', 'guides', 'webhooks.md'), 'utf8')
  const rows = [...text.matchAll(/^\| `(\w+)` \| (.+) \|$/gm)].map(([, name, why]) => [name, why])
  assert.deepEqual(Object.fromEntries(rows), ATTEMPT_ERRORS)
})

test('the scripts of the queue take as many keys as they are given', () => {
  const lua = readFileSync(fromRoot('core', 'lua', 'include', 'webhook-queue.lua'), 'utf8')
  const places = [...lua.matchAll(/KEYS\[(\d+)\]/g)].map(([, place]) => Number(place))
  assert.deepEqual(
    places,
    QUEUE_KEYS.map((_, i) => i + 1),
  )
})
