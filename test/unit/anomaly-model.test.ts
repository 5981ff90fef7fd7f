import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { AnomalyModel, LEARNING_MS, scopeKey } from '../../core/anomaly/anomaly-model.ts'
import type { ScopeScore } from '../../core/anomaly/anomaly-type.ts'
import { TICK_MS } from '../../core/anomaly/rate-signs.ts'
import { ScopeModel, type ScopeModelState } from '../../core/anomaly/scope-model.ts'
import { repetitions } from '../kit/repetitions.ts'
import {
  BEGIN_MS,
  callTimes,
  DAY_MS,
  feed,
  HOUR_MS,
  MINUTE_MS,
  usualCall,
} from '../kit/usual-traffic.ts'

const ALERT = 0.7
const RPM = 20
/** A Sunday at noon. */
const NOW_MS = BEGIN_MS + 4.5 * DAY_MS

let learned: ScopeModelState | null = null

/** A model that knows four and a half days of steady calls, and what it scores from then on. */
function knowing(): { model: AnomalyModel; scores: ScopeScore[] } {
  const scores: ScopeScore[] = []
  const model = new AnomalyModel({ onScore: (score) => scores.push(score) })
  if (learned === null) {
    const first = new AnomalyModel()
    feed(first, BEGIN_MS, NOW_MS, RPM)
    learned = first.scope('agt_test', 'scp_test')?.state ?? null
  }
  assert.ok(learned !== null)
  model.resumeAt(learned.tick_ms)
  model.restore('agt_test', 'scp_test', JSON.parse(JSON.stringify(learned)) as ScopeModelState)
  return { model, scores }
}

const highest = (scores: readonly ScopeScore[]): ScopeScore =>
  scores.reduce((best, score) => (score.score > best.score ? score : best))

test('no scope has a verdict before two days and a hundred calls were learned', () => {
  const scores: ScopeScore[] = []
  const model = new AnomalyModel({ onScore: (score) => scores.push(score) })
  feed(model, BEGIN_MS, BEGIN_MS + LEARNING_MS - HOUR_MS, 2)
  feed(model, BEGIN_MS + LEARNING_MS - HOUR_MS, BEGIN_MS + LEARNING_MS - MINUTE_MS, 200)
  assert.ok(scores.every(({ learning, score }) => learning && score === 0))
  feed(model, BEGIN_MS + LEARNING_MS, BEGIN_MS + LEARNING_MS + HOUR_MS, 2)
  assert.equal(model.scope('agt_test', 'scp_test')?.learning, false)

  const sparse = new AnomalyModel()
  feed(sparse, BEGIN_MS, BEGIN_MS + 3 * DAY_MS, 0.01)
  assert.equal(sparse.scope('agt_test', 'scp_test')?.learning, true)
})

test('ten times the usual rate is found within 15 seconds, and the usual rate is not', () => {
  const { model, scores } = knowing()
  feed(model, NOW_MS, NOW_MS + HOUR_MS, RPM)
  assert.ok(highest(scores).score < ALERT, JSON.stringify(highest(scores)))
  scores.length = 0
  const burst_ms = NOW_MS + HOUR_MS + 2345
  feed(model, burst_ms, burst_ms + 15_000, 10 * RPM)
  const found = scores.find(({ score }) => score >= ALERT)
  assert.ok(found !== undefined && found.at_ms - burst_ms < 15_000)
  assert.equal(found.types[0], 'frequency')
  assert.ok(found.normal_rpm > RPM * 0.8 && found.normal_rpm < RPM * 1.25)
  assert.ok(found.current_rpm > found.normal_rpm)
})

test('hours of an attack do not move what is usual', () => {
  const { model } = knowing()
  const before = model.scope('agt_test', 'scp_test')?.usualRpm(NOW_MS + 6 * HOUR_MS) ?? 0
  feed(model, NOW_MS, NOW_MS + 4 * HOUR_MS, 10 * RPM)
  feed(model, NOW_MS + 4 * HOUR_MS, NOW_MS + 6 * HOUR_MS, RPM)
  const after = model.scope('agt_test', 'scp_test')?.usualRpm(NOW_MS + 6 * HOUR_MS) ?? 0
  assert.ok(Math.abs(after / before - 1) < 0.15, `${before} → ${after}`)
})

test('each kind of misuse is found and named', () => {
  const minutes = 15
  const rows: readonly [string, number, (n: number) => ReturnType<typeof usualCall>][] = [
    [
      'new_endpoint',
      2,
      (n) => usualCall({ endpoint: `/v1/${'abcdefghijklmnopqrstuvwxyz'[n % 26]}dmin` }),
    ],
    ['error_rate', RPM, () => usualCall({ outcome: 'failed' })],
    ['denied_rate', 3, () => usualCall({ outcome: 'denied' })],
    ['payload_size', 3, () => usualCall({ bytes_out: 2_000_000 })],
    ['new_source_ip', 3, (n) => usualCall({ source_ip: `203.0.113.${n % 250}` })],
  ]
  for (const [type, rpm, call] of rows) {
    const { model, scores } = knowing()
    feed(model, NOW_MS, NOW_MS + minutes * MINUTE_MS, rpm, call)
    const worst = highest(scores)
    assert.ok(worst.score >= ALERT, `${type}: ${JSON.stringify(worst)}`)
    assert.ok(worst.types.includes(type as never), `${type}: ${JSON.stringify(worst)}`)
  }
})

test('one weak sign does not alarm: a new address, a new endpoint, a denied call', () => {
  for (const call of [
    usualCall({ source_ip: '203.0.113.66' }),
    usualCall({ endpoint: '/v1/embeddings' }),
    usualCall({ outcome: 'denied' }),
  ]) {
    const { model, scores } = knowing()
    model.observe(call, NOW_MS + 1000)
    model.advance(NOW_MS + MINUTE_MS)
    assert.ok(highest(scores).score < ALERT, JSON.stringify(highest(scores)))
  }
})

test('calls at an hour that was always quiet are named as such', () => {
  const scores: ScopeScore[] = []
  const model = new AnomalyModel({ onScore: (score) => scores.push(score) })
  for (let day = 0; day < 12; day++)
    feed(model, BEGIN_MS + day * DAY_MS + 9 * HOUR_MS, BEGIN_MS + day * DAY_MS + 17 * HOUR_MS, 2)
  scores.length = 0
  feed(model, BEGIN_MS + 12 * DAY_MS + 3 * HOUR_MS, BEGIN_MS + 12 * DAY_MS + 3.2 * HOUR_MS, 2)
  assert.ok(highest(scores).types.includes('off_hours'), JSON.stringify(highest(scores)))
})

test('a refusal that no scope governs counts to a scope of the agent for that integration', () => {
  const { model } = knowing()
  feed(
    model,
    NOW_MS,
    NOW_MS + HOUR_MS,
    2,
    usualCall({ scope_id: 'scp_other', integration_id: 'int_other' }),
  )
  const refusal = { ...usualCall({ outcome: 'denied' }), scope_id: null }
  assert.equal(model.place(refusal)?.scope_id, 'scp_test')
  assert.equal(model.place({ ...refusal, integration_id: 'int_other' })?.scope_id, 'scp_other')
  assert.equal(model.place({ ...refusal, agent_id: 'agt_nobody' }), null)
})

test('a scope that someone watches is preferred for them', () => {
  const model = new AnomalyModel({ isWatched: (_agent, scope_id) => scope_id === 'scp_quiet' })
  feed(model, BEGIN_MS, BEGIN_MS + HOUR_MS, 10)
  feed(model, BEGIN_MS + HOUR_MS, BEGIN_MS + 2 * HOUR_MS, 1, usualCall({ scope_id: 'scp_quiet' }))
  assert.equal(model.place({ ...usualCall(), scope_id: null })?.scope_id, 'scp_quiet')
})

test('scopes are scored apart', () => {
  const { model, scores } = knowing()
  feed(model, NOW_MS, NOW_MS + MINUTE_MS, 20 * RPM, usualCall({ scope_id: 'scp_other' }))
  assert.ok(
    scores.filter(({ scope_id }) => scope_id === 'scp_test').every(({ score }) => score < ALERT),
  )
})

test('reactivation resets the score of an agent and keeps its baseline', () => {
  const { model, scores } = knowing()
  feed(model, NOW_MS, NOW_MS + 10 * MINUTE_MS, 20 * RPM)
  assert.ok((scores.at(-1)?.score ?? 0) >= ALERT)
  model.calmDown('agt_test')
  scores.length = 0
  feed(model, NOW_MS + 10 * MINUTE_MS, NOW_MS + 20 * MINUTE_MS, RPM)
  assert.ok(highest(scores).score < ALERT, JSON.stringify(highest(scores)))
  assert.equal(model.scope('agt_test', 'scp_test')?.learning, false)
})

test('a model that is stored and taken back anywhere scores exactly as one that was not', () => {
  const times = [...callTimes(NOW_MS, NOW_MS + 20 * MINUTE_MS, 3 * RPM, 5)]
  const callAt = (at_ms: number) =>
    usualCall({
      outcome: at_ms % 7 === 0 ? 'denied' : at_ms % 5 === 0 ? 'failed' : 'passed',
      endpoint: at_ms % 50 === 0 ? `/v1/${String.fromCharCode(97 + (at_ms % 26))}` : '/v1/files',
      bytes_in: at_ms % 30 === 0 ? 500_000 : 900,
    })
  const whole = knowing()
  for (const at_ms of times) whole.model.observe(callAt(at_ms), at_ms)
  fc.assert(
    fc.property(fc.integer({ min: 0, max: times.length }), (cut) => {
      const first = knowing()
      for (const at_ms of times.slice(0, cut)) first.model.observe(callAt(at_ms), at_ms)
      const state = JSON.stringify(first.model.scope('agt_test', 'scp_test')?.state)
      const scores: ScopeScore[] = [...first.scores]
      const second = new AnomalyModel({ onScore: (score) => scores.push(score) })
      second.resumeAt(first.model.tick_ms)
      second.restore('agt_test', 'scp_test', JSON.parse(state) as ScopeModelState)
      for (const at_ms of times.slice(cut)) second.observe(callAt(at_ms), at_ms)
      assert.deepEqual(scores, whole.scores)
    }),
    { numRuns: 10 },
  )
})

test('a silence leaves the same behind, whether it is passed at once or tick by tick', () => {
  const { model: first } = knowing()
  const ticks = fc.integer({ min: 1, max: (12 * HOUR_MS) / TICK_MS })
  const calls = fc.array(fc.tuple(ticks, fc.constantFrom('passed', 'failed', 'denied')), {
    minLength: 1,
    maxLength: 12,
  })
  const state = first.scope('agt_test', 'scp_test')?.state
  assert.ok(state !== undefined)
  fc.assert(
    fc.property(calls, (seen) => {
      const [atOnce, ticking] = [0, 1].map(
        () => new ScopeModel(state.first_ms, LEARNING_MS, state),
      ) as [ScopeModel, ScopeModel]
      let now_ms = state.tick_ms
      for (const [silence, outcome] of seen) {
        const end_ms = now_ms + silence * TICK_MS
        while (now_ms < end_ms) ticking.advance((now_ms += TICK_MS))
        atOnce.advance(end_ms)
        assert.deepEqual(atOnce.state, ticking.state)
        for (const model of [atOnce, ticking]) {
          model.observe(usualCall({ outcome }), now_ms)
          model.evaluate()
        }
      }
    }),
    { numRuns: repetitions(25) },
  )
})

test('the number of scopes is bounded; the one silent for longest is forgotten', () => {
  const model = new AnomalyModel({ scopes_max: 3 })
  for (let n = 0; n < 5; n++)
    model.observe(usualCall({ scope_id: `scp_${n}` }), BEGIN_MS + n * MINUTE_MS)
  assert.equal(model.size, 3)
  assert.equal(model.scope('agt_test', 'scp_0'), undefined)
  assert.ok(model.takeChanges().removed.includes(scopeKey('agt_test', 'scp_0')))
})

test('a call that is observed late counts in the window it belongs to', () => {
  const { model, scores } = knowing()
  model.advance(NOW_MS + MINUTE_MS)
  for (const at_ms of callTimes(NOW_MS, NOW_MS + MINUTE_MS, 30 * RPM))
    model.observe(usualCall(), at_ms)
  model.advance(NOW_MS + MINUTE_MS + 5000)
  assert.ok(highest(scores).score >= ALERT)
})
