import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NO_OVERRIDES, type Overrides } from '../../core/request/overrides.ts'
import { type RetriedCall, type Retry, retryOf } from '../../ext-proc/call/retry-of.ts'

const TO_POST: Overrides = { methods: ['POST'], addresses: [] }
const ELSEWHERE: Overrides = { methods: [], addresses: [{ kind: 'url', value: '/other' }] }
const small = { has_body: true, content_length: 65_536 }
const large = { has_body: true, content_length: 65_537 }
const unknown = { has_body: true, content_length: null }

const ROWS: readonly (readonly [Partial<RetriedCall>, Retry | null])[] = [
  [{ method: 'GET' }, 'reset'],
  [{ method: 'HEAD' }, 'reset'],
  [{ method: 'OPTIONS' }, 'reset'],
  [{ method: 'PUT', ...small }, 'reset'],
  [{ method: 'DELETE' }, 'reset'],
  [{ method: 'DELETE', ...small }, 'reset'],
  [{ method: 'GET', ...small }, 'reset'],
  [{ method: 'POST' }, 'unsent'],
  [{ method: 'POST', ...small }, 'unsent'],
  [{ method: 'PATCH', ...small }, 'unsent'],
  [{ method: 'PROPPATCH' }, 'unsent'],
  [{ method: 'get' }, 'unsent'],
  [{ method: 'LOCK' }, 'unsent'],
  [{ method: 'GET', overrides: TO_POST }, 'unsent'],
  [{ method: 'PUT', ...small, overrides: TO_POST }, 'unsent'],
  [{ method: 'DELETE', overrides: ELSEWHERE }, 'unsent'],
  // An approval is for one call.
  [{ method: 'DELETE', is_once: true }, 'unsent'],
  [{ method: 'GET', is_once: true }, 'unsent'],
  [{ method: 'PUT', ...large }, null],
  [{ method: 'POST', ...large }, null],
  [{ method: 'PUT', ...unknown }, null],
  [{ method: 'POST', ...unknown }, null],
  [{ method: 'GET', ...unknown }, null],
]

test('only an idempotent call is repeated after it was sent', () => {
  for (const [change, expected] of ROWS) {
    const call = {
      method: 'GET',
      has_body: false,
      content_length: null,
      overrides: NO_OVERRIDES,
      is_once: false,
      ...change,
    }
    assert.equal(retryOf(call), expected, JSON.stringify(change))
  }
})
