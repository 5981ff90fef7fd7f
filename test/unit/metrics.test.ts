import assert from 'node:assert/strict'
import { test } from 'node:test'
import { renderEdges } from '../../core/metrics/render-edges.ts'
import { METRICS } from '../../core/metrics/metric-catalogue.ts'
import { EdgeMetrics } from '../../ext-proc/record/edge-metrics.ts'
import { ProcessLoad } from '../../ext-proc/record/process-load.ts'

test('metrics are named as Prometheus asks, and none by organization or agent', () => {
  for (const [name, { type, labels }] of Object.entries(METRICS)) {
    assert.match(name, /^agw_[a-z_]+$/)
    assert.equal(name.endsWith('_total'), type === 'counter', name)
    for (const label of labels) assert.ok(!/organization|agent|key|path/.test(label), name)
  }
})

test('what an edge counts is shown with cumulated buckets', () => {
  const metrics = new EdgeMetrics()
  const steps = [5, 70, 900_000, 5_000_000].map((took_us) => ({
    step: 'scope',
    outcome: 'pass' as const,
    took_us,
  }))
  metrics.decided('allowed', '', steps)
  metrics.decided('blocked', 'permission_denied', [])
  const snapshot = metrics.snapshot(0, { agw_calls_in_flight: 3 })
  const text = renderEdges(new Map([['edge "1"', snapshot]]))
  const has = (line: string): void => assert.ok(text.includes(`${line}\n`), `${line} in\n${text}`)
  has('agw_calls_total{edge="edge \\"1\\"",verdict="allowed",reason=""} 1')
  has('agw_calls_total{edge="edge \\"1\\"",verdict="blocked",reason="permission_denied"} 1')
  has('agw_calls_in_flight{edge="edge \\"1\\""} 3')
  const bucket = (le: string): string =>
    `agw_step_duration_seconds_bucket{edge="edge \\"1\\"",step="scope",le="${le}"}`
  has(`${bucket('0.00001')} 1`)
  has(`${bucket('0.0001')} 2`)
  has(`${bucket('1')} 3`)
  has(`${bucket('+Inf')} 4`)
  has('agw_step_duration_seconds_count{edge="edge \\"1\\"",step="scope"} 4')
})

test('answers are counted by integration, up to a number of integrations', () => {
  const metrics = new EdgeMetrics()
  for (let i = 0; i < 510; i++) metrics.answered(`int_${i}`, '2xx')
  metrics.answered('int_0', '5xx')
  metrics.refusedByEnvoy('gateway_unavailable')
  metrics.refusedByEnvoy('gateway_unavailable')
  const text = renderEdges(new Map([['e', metrics.snapshot(0, {})]]))
  const has = (line: string): void => assert.ok(text.includes(`${line}\n`), line)
  has('agw_answers_total{edge="e",integration="int_0",class="2xx"} 1')
  has('agw_answers_total{edge="e",integration="int_0",class="5xx"} 1')
  has('agw_answers_total{edge="e",integration="other",class="2xx"} 10')
  has('agw_envoy_refusals_total{edge="e",reason="gateway_unavailable"} 2')
})

test('the load of a process is the longest delay of its event loop since the last reading', async () => {
  const load = new ProcessLoad()
  load.read()
  // The first sample after a reading is the start of the first delay.
  await new Promise((resolve) => setTimeout(resolve, 220))
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 420)
  await new Promise((resolve) => setTimeout(resolve, 220))
  const { agw_event_loop_lag_seconds, agw_memory_bytes } = load.read()
  assert.ok(agw_event_loop_lag_seconds >= 0.1, String(agw_event_loop_lag_seconds))
  assert.ok(agw_memory_bytes > 10_000_000)
})
