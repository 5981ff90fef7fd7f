import assert from 'node:assert/strict'
import { readFileSync, realpathSync } from 'node:fs'
import { test } from 'node:test'
import { parse } from 'yaml'
import { METRICS } from '../../core/metrics/metric-catalogue.ts'
import { fromRoot } from '../../core/system/root.ts'

// promtool tests the rules themselves: `node dist/test/witness/monitoring.js`.

const read = (name: string): string => readFileSync(fromRoot('docs', 'monitoring', name), 'utf8')
const { groups } = parse(read('alerts.yaml')) as {
  groups: { rules: { alert: string; expr: string; labels: { severity: string } }[] }[]
}
const rules = groups.flatMap((group) => group.rules)
const { panels } = JSON.parse(read('dashboard.json')) as {
  panels: { title: string; targets: { expr: string; legendFormat: string }[] }[]
}
const queries = [
  ...rules.map(({ alert, expr }) => ({ where: alert, expr })),
  ...panels.flatMap(({ title, targets }) => targets.map(({ expr }) => ({ where: title, expr }))),
]
const metricOf = (name: string) =>
  (METRICS as Readonly<Record<string, { type: string; labels: readonly string[] }>>)[name]
/** Metrics of Node.js that prom-client adds, see admin/metrics. */
const OF_NODE = /^agw_admin_(process|nodejs)_/

test('alerts and dashboard: every metric exists, counters are used as counters, and labels are those of the metric', () => {
  assert.ok(queries.length > 40)
  for (const { where, expr } of queries) {
    const names = [...expr.matchAll(/agw_[a-z_]+/g)].map(([name]) => name)
    assert.ok(names.length > 0, where)
    const labels = new Set<string>()
    for (const name of names.filter((one) => !OF_NODE.test(one))) {
      const metric = metricOf(name) ?? metricOf(name.replace(/_bucket$/, ''))
      assert.ok(metric !== undefined, `${where}: ${name} is not in the catalogue`)
      assert.equal(metric.type === 'histogram', name.endsWith('_bucket'), `${where}: ${name}`)
      if (metric.type === 'counter')
        assert.match(expr, new RegExp(`(rate|increase)\\(${name}[{[]`), `${where}: ${name}`)
      for (const label of metric.labels) labels.add(label)
      if (metric.type === 'histogram') labels.add('le')
    }
    const used = [
      ...[...expr.matchAll(/by \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(/,\s*/)),
      ...[...expr.matchAll(/[{,]\s*([a-z_]+)=~?"/g)].map(([, label = '']) => label),
      ...[...expr.matchAll(/[{,]\s*([a-z_]+)!=?"/g)].map(([, label = '']) => label),
    ]
    for (const label of used) assert.ok(labels.has(label), `${where}: label ${label}`)
  }
})

test('alerts: each has a severity and a test in which it fires, and the chart has the same file', () => {
  const { tests } = parse(read('alerts.test.yaml')) as {
    tests: { alert_rule_test: { alertname: string; exp_alerts: unknown[] }[] }[]
  }
  const cases = tests.flatMap(({ alert_rule_test }) => alert_rule_test)
  for (const { alert, labels } of rules) {
    assert.match(labels.severity, /^(critical|warning)$/)
    const own = cases.filter(({ alertname }) => alertname === alert)
    assert.deepEqual(
      own.map(({ exp_alerts }) => exp_alerts.length).sort((a, b) => a - b),
      [0, 1],
      alert,
    )
  }
  assert.equal(
    realpathSync(fromRoot('cli/helm/agent-access-gateway/files/alerts.yaml')),
    realpathSync(fromRoot('docs/monitoring/alerts.yaml')),
  )
})

test('monitoring guide: every alert is described', () => {
  const guide = readFileSync(fromRoot('docs', 'guides', 'monitoring.md'), 'utf8')
  for (const { alert } of rules) assert.ok(guide.includes(`\`${alert}\``), alert)
})
