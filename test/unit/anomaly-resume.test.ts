import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  OrganizationAnalysis,
  type StreamEntry,
} from '../../admin/anomaly/organization-analysis.ts'
import { isAfter, type StoredScope } from '../../admin/anomaly/stored-scope.ts'
import { scopeKey } from '../../core/anomaly/anomaly-model.ts'
import { activityEntry } from '../kit/activity-entry.ts'
import { repetitions } from '../kit/repetitions.ts'
import { BEGIN_MS, callTimes, DAY_MS } from '../kit/usual-traffic.ts'

const SCOPES = ['scp_a', 'scp_b']
const keys = SCOPES.map((scope_id) => scopeKey('agt_test', scope_id))

/** Three days of calls, failures and refusals, some without a scope, some observed late, and now and then a reactivation. */
const entries: readonly StreamEntry[] = [...callTimes(BEGIN_MS, BEGIN_MS + 3 * DAY_MS, 0.2)].map(
  (at_ms, n) => {
    const about = {
      agent_id: 'agt_test',
      timestamp: new Date(at_ms - (n % 7) * 4000).toISOString(),
      bytes_in: 100 + n,
    }
    return {
      position: `${at_ms}-${n}`,
      entry:
        n % 31 === 30
          ? activityEntry('agent_reactivated', about)
          : n % 5 === 4
            ? activityEntry('permission_denied', { ...about, scope_id: null, decision: 'blocked' })
            : activityEntry('request_allowed', {
                ...about,
                scope_id: SCOPES[n % 2] ?? '',
                decision: 'allowed',
                status: n % 3 === 0 ? 503 : 200,
              }),
    }
  },
)

const start = (stored: ReturnType<OrganizationAnalysis['storedPosition']> | null = null) =>
  new OrganizationAnalysis(stored, '0-0', () => true)

const copy = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T

test('scopes that were stored at different times go on without losing a call or taking one twice', () => {
  const whole = start()
  for (const entry of entries) whole.take(entry)
  const place = fc.integer({ min: 0, max: entries.length })
  fc.assert(
    fc.property(place, place, (a, b) => {
      const [early, late] = [Math.min(a, b), Math.max(a, b)]
      const first = start()
      for (const entry of entries.slice(0, early)) first.take(entry)
      const position = copy(first.storedPosition())
      const stored = new Map<(typeof keys)[number], StoredScope | null>()
      for (const key of keys) stored.set(key, copy(first.stored(key)))
      // Then the first scope alone is stored again, as it is when an event is written.
      for (const entry of entries.slice(early, late)) first.take(entry)
      stored.set(keys[0] ?? ' ', copy(first.stored(keys[0] ?? ' ')))

      const second = start(position)
      for (const [key, scope] of stored) if (scope !== null) second.restore(key, scope)
      for (const entry of entries)
        if (isAfter(entry.position, position.position)) second.take(entry)
      for (const key of keys) assert.deepEqual(second.stored(key), whole.stored(key))
    }),
    { numRuns: repetitions(20), examples: [[0, entries.length - 1]] },
  )
})

test('places in a stream are compared as numbers', () => {
  assert.ok(isAfter('10-0', '9-5'))
  assert.ok(isAfter('9-10', '9-9'))
  assert.ok(!isAfter('9-9', '9-9'))
})
