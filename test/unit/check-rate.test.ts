import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SCOPE_DEFAULTS } from '../../core/catalogue/model.ts'
import type { RateTaken } from '../../ext-proc/rate/rate-taker.ts'
import { type CallChange, type Decided, decide } from './decision-kit.ts'

const refusedAfter = (violation_minutes: number): RateTaken => ({
  kind: 'refused',
  retry_after_s: 9,
  violation_minutes,
  current_rpm: 605,
})

const limited = (
  violation_minutes: number,
  auto_kill_on_sustained_violation: boolean,
  more: CallChange = {},
): Promise<Decided> =>
  decide({
    rate: refusedAfter(violation_minutes),
    scope: {
      rate_limiting: { ...SCOPE_DEFAULTS.rate_limiting, auto_kill_on_sustained_violation },
    },
    ...more,
  })

const actionOf = ({ verdict }: Decided): unknown => {
  assert.ok(verdict.kind === 'deny')
  assert.equal(verdict.denial.reason, 'rate_limit_exceeded')
  return verdict.denial.data?.['action_taken']
}
const KILL = 'kill agt_a auto_rate_limit'

test('a refusal says when to come back, in the body and in the headers', async () => {
  const { verdict } = await limited(2, false)
  assert.ok(verdict.kind === 'deny')
  const { details, headers, data, status } = verdict.denial
  assert.deepEqual(details, { limit: 600, retry_after_seconds: 9 })
  assert.equal(status, undefined, 'the one of the catalogue')
  assert.deepEqual(headers, [
    { name: 'retry-after', value: '9' },
    { name: 'ratelimit-policy', value: '"scope";q=600;w=60' },
    { name: 'ratelimit', value: '"scope";r=0;t=9' },
  ])
  assert.deepEqual(data, {
    ...details,
    service: 'the API',
    endpoint: '/v1/models/a',
    current_rpm: 605,
    violation_minutes: 2,
    action_taken: 'blocked',
  })
})

/** How long a violation has lasted, whether its scope kills for that after five minutes, and what is done. */
const VIOLATIONS: readonly (readonly [minutes: number, kills: boolean, action: string])[] = [
  [0, true, 'blocked'],
  [4, true, 'blocked'],
  [5, true, 'killed'],
  [6, true, 'killed'],
  [5, false, 'blocked'],
  [60, false, 'blocked'],
]

for (const [minutes, kills, action] of VIOLATIONS)
  test(`a violation of ${minutes} minutes in a scope that ${kills ? 'kills' : 'does not kill'}: ${action}`, async () => {
    const decided = await limited(minutes, kills)
    assert.equal(actionOf(decided), action)
    const killed = decided.events.filter((event) => event.startsWith('kill '))
    assert.equal(killed.length, action === 'killed' ? 1 : 0)
  })

test('the call that its agent is killed for keeps its own answer', async () => {
  const { events } = await limited(5, true)
  assert.deepEqual(events.slice(-2), ['not in flight', KILL])
})

test('a kill that the store has rejected is not reported as done', async () => {
  const decided = await limited(5, true, { is_killed: false })
  assert.equal(actionOf(decided), 'blocked')
  assert.ok(decided.events.includes(KILL))
})

test('a scope without a limit makes no request to the store', async () => {
  const { verdict, events } = await decide({
    rate: new Error('must not be asked'),
    scope: { rate_limiting: { ...SCOPE_DEFAULTS.rate_limiting, requests_per_minute: null } },
  })
  assert.equal(verdict.kind, 'forward')
  assert.ok(!events.some((event) => event.startsWith('rate')))
})
