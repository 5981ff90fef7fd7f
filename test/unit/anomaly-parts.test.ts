import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { ANOMALY_TYPES } from '../../core/anomaly/anomaly-type.ts'
import { combineSigns } from '../../core/anomaly/combine-signs.ts'
import { CountRing } from '../../core/anomaly/count-ring.ts'
import { EndpointBook } from '../../core/anomaly/endpoint-book.ts'
import { endpointTemplate } from '../../core/anomaly/endpoint-template.ts'
import { excess } from '../../core/anomaly/excess.ts'
import { Extremes } from '../../core/anomaly/extremes.ts'
import { COOL_DOWN_MS, type Incident, stepIncident } from '../../core/anomaly/incident.ts'
import { Novelty } from '../../core/anomaly/novelty.ts'
import { observedCall } from '../../core/anomaly/observed-call.ts'
import { activityEntry } from '../kit/activity-entry.ts'

test('identifiers are folded, routes and versions are not', () => {
  const rows = [
    ['/v1/users/17', 'GET /v1/users/*'],
    ['/v1/users/17/', 'GET /v1/users/*'],
    ['/v1/users/me', 'GET /v1/users/me'],
    ['/v1beta1/models/gpt-4o-mini', 'GET /v1beta1/models/*'],
    ['/files/0b9f3c1e-7a54-4d0e-9a77-0d5f1a2b3c4d/raw', 'GET /files/*/raw'],
    ['/mail/anna@example.com', 'GET /mail/*'],
    ['/s3/list', 'GET /s3/list'],
    [`/x/${'long'.repeat(10)}`, 'GET /x/*'],
    ['/%F0%9F%99%82', 'GET /*'],
    ['/', 'GET /'],
  ] as const
  for (const [path, template] of rows) assert.equal(endpointTemplate('GET', path), template)
  assert.equal(
    endpointTemplate('GET', '/a'.repeat(500)).length,
    'GET '.length + 12 * 2 + '/**'.length,
  )
})

test('many endpoints that differ in one segment become one, and the book stays bounded', () => {
  const book = new EndpointBook()
  const names = Array.from({ length: 600 }, (_, n) =>
    String(n).replace(/\d/g, (digit) => 'abcdefghij'[Number(digit)] ?? ''),
  )
  for (const name of names) book.see('GET', `/repos/${name}/issues`, 0, true)
  assert.deepEqual(book.templates, ['GET /repos/*/issues'])
  for (const name of names) book.see('GET', `/${name}/${name}x/${name}y`, 0, true)
  assert.ok(book.templates.length <= 200)
})

test('a new thing is the rarer the longer none came, and the more come together', () => {
  const hour_ms = 3_600_000
  const novelty = new Novelty({ items_max: 10, assumed_size: 2.5 })
  novelty.see('first', 0, false)
  assert.equal(novelty.returnDays(0), 0)
  for (let hour = 1; hour <= 24; hour++) novelty.hourPassed(hour * hour_ms)
  novelty.see('b', 24 * hour_ms, true)
  const after_a_day = novelty.returnDays(24 * hour_ms)
  novelty.see('c', 24 * hour_ms + 1, true)
  assert.ok(novelty.returnDays(24 * hour_ms + 1) > after_a_day)
  assert.equal(novelty.returnDays(26 * hour_ms), 0)
  for (let hour = 25; hour <= 24 * 21; hour++) novelty.hourPassed(hour * hour_ms)
  novelty.see('d', 24 * 21 * hour_ms, true)
  assert.ok(novelty.returnDays(24 * 21 * hour_ms) > after_a_day)
  for (let n = 0; n < 100; n++) novelty.see(`item ${n}`, n, false)
  assert.equal(novelty.items.length, 10)
})

test('an excess grows with the count and falls with the expectation', () => {
  const count = fc.integer({ min: 0, max: 20_000 })
  const expected = fc.double({ min: 0, max: 5000, noNaN: true })
  fc.assert(
    fc.property(count, expected, expected, (n, a, b) => {
      assert.ok(excess(n + 1, a) >= excess(n, a))
      assert.ok(excess(n, Math.max(a, b)) <= excess(n, Math.min(a, b)))
      assert.ok(excess(n, a) >= 0)
    }),
  )
  assert.equal(excess(3, 0) > 0, true)
  assert.equal(excess(1000, 1000), 0)
})

test('a higher peak is rarer, and two hours of an attack hardly make it less rare', () => {
  const prior = { width: 0.25, shape: 12 }
  const usual = new Extremes(prior)
  const attacked = new Extremes(prior)
  for (let hour = 0; hour < 300; hour++) {
    const peak = ((hour * 7919) % 100) / 200
    usual.record(peak, hour)
    attacked.record(hour === 100 || hour === 101 ? 6 : peak, hour)
  }
  fc.assert(
    fc.property(fc.double({ min: 0, max: 8, noNaN: true }), (value) => {
      assert.ok(usual.returnHours(value + 0.1) >= usual.returnHours(value))
      assert.ok(usual.returnHours(value) > 0)
    }),
  )
  const ratio = usual.returnHours(4) / attacked.returnHours(4)
  assert.ok(ratio < 1.5, String(ratio))
  const restored = new Extremes(prior, JSON.parse(JSON.stringify(usual.state)) as number[])
  assert.equal(restored.returnHours(2.5), usual.returnHours(2.5))
})

test('window sums are those of their slots, whatever comes late or never', () => {
  const shape = { slot_ms: 10, columns: 2, windows: [2, 5], with_running: false }
  const step = fc.record({
    wait_ms: fc.integer({ min: 0, max: 90 }),
    late_ms: fc.integer({ min: 0, max: 70 }),
    column: fc.integer({ min: 0, max: 1 }),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), fc.boolean(), (steps, with_running) => {
      const ring = new CountRing({ ...shape, with_running }, 1000)
      const seen: { slot: number; column: number }[] = []
      let now_ms = 1000
      for (const { wait_ms, late_ms, column } of steps) {
        now_ms += wait_ms
        ring.advance(now_ms)
        ring.add(now_ms - late_ms, column, 1)
        seen.push({ slot: Math.floor((now_ms - late_ms) / 10), column })
      }
      const newest = Math.floor(now_ms / 10) - (with_running ? 0 : 1)
      for (const [window, length] of shape.windows.entries())
        for (const column of [0, 1]) {
          const inside = seen.filter(
            (call) => call.column === column && call.slot <= newest && call.slot > newest - length,
          )
          assert.equal(ring.sum(window, column), inside.length)
        }
      const state = JSON.parse(JSON.stringify(ring.state)) as typeof ring.state
      const restored = new CountRing({ ...shape, with_running }, 0, state)
      for (const window of [0, 1]) assert.equal(restored.sum(window, 0), ring.sum(window, 0))
    }),
  )
})

test('one strong sign is enough, several weak ones add up, and nothing else does', () => {
  const none = Object.fromEntries(ANOMALY_TYPES.map((type) => [type, 0])) as Parameters<
    typeof combineSigns
  >[0]
  assert.deepEqual(combineSigns(none), { score: 0, types: [] })
  assert.ok(combineSigns({ ...none, frequency: 1100 }).score >= 0.7)
  const month = { ...none, frequency: 33, new_source_ip: 33 }
  assert.ok(combineSigns({ ...month, new_source_ip: 0 }).score < 0.7)
  assert.ok(combineSigns(month).score >= 0.7)
  assert.deepEqual(combineSigns({ ...month, off_hours: 400 }).types[0], 'off_hours')
  assert.ok(combineSigns({ ...none, frequency: Number.POSITIVE_INFINITY }).score < 1)
})

const THRESHOLDS = { alert_threshold: 0.7, auto_kill_threshold: 1 }

test('one incident is one alert, however often its score falls and rises', () => {
  let incident: Incident | null = null
  const actions: unknown[] = []
  const minutes = [0.3, 0.8, 0.5, 0.9, 0.2, 0.75, 0.1]
  for (const [minute, score] of minutes.entries()) {
    const step = stepIncident(incident, score, minute * 60_000, THRESHOLDS)
    incident = step.incident
    actions.push(step.action)
  }
  assert.deepEqual(actions, [null, 'alert', null, null, null, null, null])
  const later = minutes.length * 60_000 + COOL_DOWN_MS
  assert.equal(stepIncident(incident, 0.8, later, THRESHOLDS).action, 'alert')
})

test('a score that rises to the second threshold kills once; a threshold of 1 never does', () => {
  const killing = { alert_threshold: 0.7, auto_kill_threshold: 0.9 }
  const first = stepIncident(null, 0.8, 0, killing)
  assert.equal(first.action, 'alert')
  const second = stepIncident(first.incident, 0.95, 5000, killing)
  assert.equal(second.action, 'kill')
  assert.equal(stepIncident(second.incident, 0.99, 10_000, killing).action, null)
  assert.equal(stepIncident(null, 0.95, 0, { ...killing, alert_threshold: 1 }).action, 'kill')
  assert.equal(stepIncident(null, 0.999, 0, THRESHOLDS).action, 'alert')
})

test('an entry is a call of an agent, or is passed over', () => {
  const rows = [
    [activityEntry('request_allowed', { decision: 'allowed', status: 200 }), 'passed'],
    [activityEntry('request_allowed', { decision: 'allowed', status: 404 }), 'failed'],
    [
      activityEntry('request_allowed', { decision: 'allowed', reason: 'upstream_timeout' }),
      'failed',
    ],
    [activityEntry('permission_denied', { reason: 'permission_denied' }), 'denied'],
    [activityEntry('rate_limit_exceeded', { reason: 'rate_limit_exceeded' }), 'denied'],
    [activityEntry('mcp_tool_blocked', { status: 200, reason: 'mcp_tool_blocked' }), 'denied'],
    [activityEntry('request_rejected', { reason: 'agent_killed' }), undefined],
    [activityEntry('request_rejected', { reason: 'gateway_unavailable' }), undefined],
    [activityEntry('request_rejected', { agent_id: null, reason: 'invalid_api_key' }), undefined],
    [
      activityEntry('request_rejected', {
        reason: 'invalid_api_key',
        data: { key_state: 'revoked' },
      }),
      undefined,
    ],
    [
      activityEntry('request_rejected', {
        reason: 'integration_not_found',
        data: { key_state: 'expired' },
      }),
      undefined,
    ],
    [activityEntry('agent_killed', { decision: null }), undefined],
    [activityEntry('anomaly_detected', { decision: null }), undefined],
  ] as const
  for (const [entry, outcome] of rows)
    assert.equal(observedCall(entry)?.outcome, outcome, entry.event)
})
