import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { parse } from 'yaml'
import { makeProgram } from '../../cli/commands/main.ts'
import { fromRoot } from '../../core/system/root.ts'
import { SETTINGS } from '../../core/settings/settings.ts'

// `node dist/test/witness/chart.js` renders and validates the chart with helm and kubeconform; this needs neither.

const CHART = fromRoot('cli', 'helm', 'agent-access-gateway')
const read = (name: string): string => readFileSync(`${CHART}/${name}`, 'utf8')
const values: unknown = parse(read('values.yaml'))
const templates = readdirSync(`${CHART}/templates`).map((name) => ({
  name,
  text: read(`templates/${name}`),
}))
const all = templates.map(({ text }) => text).join('\n')

test('chart: every value that a template names has a default, and each default is used', () => {
  const named = new Set<string>()
  for (const { name, text } of templates)
    for (const [, path = ''] of text.matchAll(/\.Values((?:\.[a-zA-Z]+)+)/g)) {
      named.add(path.slice(1))
      const value = path
        .slice(1)
        .split('.')
        .reduce<any>((at, key) => at?.[key], values)
      assert.notEqual(value, undefined, `${name}: .Values${path}`)
    }
  const unused = Object.keys(values as object).filter(
    (key) => ![...named].some((path) => path === key || path.startsWith(`${key}.`)),
  )
  assert.deepEqual(unused, [])
})

test('chart: every environment variable is a setting, and a secret is only given as a file', () => {
  const rows = Object.values(SETTINGS)
  const secrets = new Set(
    ['REDIS_URL', 'AGW_ADMIN_TOKEN', 'AGW_ENCRYPTION_KEY', 'AGW_VERDICT_SECRET'].map(String),
  )
  const names = new Set([...all.matchAll(/name: ((?:AGW|REDIS)_[A-Z_]+)/g)].map(([, name]) => name))
  assert.ok(names.size > 15)
  for (const name of names) {
    const plain = name?.replace(/_FILE$/, '')
    const isKnown = rows.some((row) => row.name === name || row.name === plain)
    assert.ok(isKnown, `${name} is not in core/settings/settings.ts`)
    assert.ok(!secrets.has(name ?? ''), `${name} is given as a value`)
  }
})

test('chart: commands and options are those of agw', () => {
  const program = makeProgram()
  const lists = [...all.matchAll(/args:((?:\n\s+- [^\n]+)+)/g)].map(([, list = '']) =>
    list.split(/\n\s+- /).slice(1),
  )
  assert.deepEqual(new Set(lists.map(([name]) => name)), new Set(['drain', 'envoy-config']))
  for (const [name, ...args] of lists) {
    const command = program.commands.find((one) => one.name() === name)
    for (const arg of args.filter((one) => one.startsWith('--')))
      assert.ok(
        command?.options.some(({ long }) => long === arg),
        `${name} ${arg}`,
      )
  }
  for (const name of ['ext-proc', 'access-log', 'admin'])
    assert.ok(program.commands.some((one) => one.name() === name))
})

test('chart: probes reach the port of AGW_HEALTH_ADDRESS, and each processor has its own', () => {
  const gateway = read('templates/gateway.yaml')
  assert.match(gateway, /AGW_HEALTH_ADDRESS, value: "0\.0\.0\.0:\{\{ add 8090 \$n \}\}"/)
  assert.match(gateway, /name: health-\{\{ \$n \}\}, containerPort: \{\{ add 8090 \$n \}\}/)
  for (const text of [gateway, read('templates/ext-proc.yaml')]) {
    assert.match(text, /AGW_HEALTH_ADDRESS, value: "0\.0\.0\.0:8090"/)
    assert.match(text, /name: health, containerPort: 8090/)
  }
})

test('chart: the grace period is longer than the pause and the drain, and the version is that of the product', () => {
  assert.match(
    read('templates/gateway.yaml'),
    /terminationGracePeriodSeconds: \{\{ add \.Values\.gateway\.endpointRemovalSeconds \.Values\.gateway\.drainSeconds 15 \}\}/,
  )
  assert.match(
    read('templates/ext-proc.yaml'),
    /terminationGracePeriodSeconds: \{\{ add \$pause \$drain 10 \}\}/,
  )
  const chart = parse(read('Chart.yaml')) as { version: string; appVersion: string }
  const { version } = JSON.parse(readFileSync(fromRoot('package.json'), 'utf8')) as {
    version: string
  }
  assert.deepEqual([chart.version, chart.appVersion], [version, version])
})
