import assert from 'node:assert/strict'
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fromRoot } from '../../core/system/root.ts'
import { freePort } from '../kit/free-port.ts'
import { mainJob } from '../kit/main-job.ts'
import { startStack } from '../kit/start-stack.ts'
import { tempFolder } from '../kit/temp-folder.ts'
import { until } from '../kit/until.ts'
import { checkDashboard, PLANTED, readDashboard } from './grafana/check-dashboard.ts'

/**
 * Checks docs/monitoring with promtool and with Grafana's own types, then loads the rules into a real Prometheus that scrapes a
 * running gateway after the main job: every query of the rules and of the dashboard is accepted, none of the alerts fires, and
 * the alert for an unavailable store fires once the store is stopped. It installs `@grafana/schema` from the registry of npm.
 *
 *     apt-get install prometheus
 *     node cli/prepare.mjs build && node dist/test/witness/monitoring.js
 */
/** The alert waits for 30 seconds. */
const STORE_DOWN_LIMIT_MS = 150_000
const FOLDER = fromRoot('docs', 'monitoring')
const say = (line: string): void => void process.stdout.write(`${line}\n`)
if (spawnSync('promtool', ['--version']).error !== undefined) {
  say('promtool and prometheus are required: apt-get install prometheus.')
  process.exit(2)
}
for (const args of [
  ['check', 'rules', 'alerts.yaml'],
  ['test', 'rules', 'alerts.test.yaml'],
])
  execFileSync('promtool', args, { cwd: FOLDER, stdio: 'inherit' })

const dashboard = readDashboard()
const checked = checkDashboard(dashboard)
assert.ok(checked.ok, checked.report)
for (const [from, to] of PLANTED) {
  assert.ok(dashboard.includes(from), from)
  assert.equal(checkDashboard(dashboard.replace(from, to)).ok, false, to)
}
say(`dashboard: Grafana's types accept it, and refuse ${PLANTED.length} planted errors`)

const stack = await startStack({ AGW_EGRESS_ALLOW_CIDRS: '127.0.0.1/32' })
const folder = tempFolder('prometheus')
const port = await freePort()
writeFileSync(
  join(folder, 'prometheus.yml'),
  JSON.stringify({
    global: { scrape_interval: '1s', evaluation_interval: '1s' },
    rule_files: [join(FOLDER, 'alerts.yaml')],
    scrape_configs: [
      { job_name: 'agw', static_configs: [{ targets: [new URL(stack.apiUrl).host] }] },
    ],
  }),
)
const prometheus = spawn(
  'prometheus',
  [
    `--config.file=${join(folder, 'prometheus.yml')}`,
    `--storage.tsdb.path=${join(folder, 'data')}`,
    `--web.listen-address=127.0.0.1:${port}`,
  ],
  { stdio: 'ignore' },
)
const ask = async (path: string): Promise<any> => {
  const answer = await fetch(`http://127.0.0.1:${port}/api/v1/${path}`).catch(() => null)
  return answer === null ? null : await answer.json()
}
const valueOf = async (expr: string): Promise<any> =>
  await ask(`query?query=${encodeURIComponent(expr)}`)

try {
  const job = await mainJob(stack)
  await until('the counters are scraped, twice', async () => {
    await job.tryCall()
    const { data } = (await valueOf('sum(rate(agw_calls_total{verdict="allowed"}[1m]))')) ?? {}
    return Number(data?.result?.[0]?.value?.[1] ?? 0) > 0
  })
  const rules = (await ask('rules')).data.groups.flatMap((group: any) => group.rules)
  await until('every rule has been evaluated', async () => {
    const { data } = await ask('rules')
    return data.groups.every(({ rules: all }: any) => all.every((one: any) => one.health === 'ok'))
  })
  say(`${rules.length} rules loaded and evaluated`)
  const { panels } = JSON.parse(dashboard) as {
    panels: { title: string; targets: { expr: string }[] }[]
  }
  let withData = 0
  const queries = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr))
  for (const expr of queries) {
    const { status, error, data } = await valueOf(expr.replaceAll('$__rate_interval', '1m'))
    assert.equal(status, 'success', `${expr}: ${error}`)
    if (data.result.length > 0) withData++
    else say(`no data yet: ${expr}`)
  }
  say(`${queries.length} queries of the dashboard accepted, ${withData} have data`)
  const alerts = async (): Promise<string[]> =>
    (await ask('alerts')).data.alerts.map(
      ({ labels, state }: any) => `${labels.alertname} ${state}`,
    )
  // Before the first scrape there are no metrics, which is pending for a moment.
  await until('no alert is pending', async () => (await alerts()).length === 0)
  say('no alert is pending or firing while the gateway works')
  // The launcher restarts a store that hangs, so the new one is stopped too.
  const stopStore = async (): Promise<void> => {
    for (const pid of await stack.pids('valkey')) spawnSync('kill', ['-STOP', `${pid}`])
  }
  await until(
    'AgwStoreDown fires',
    async () => {
      await stopStore()
      return (await alerts()).includes('AgwStoreDown firing')
    },
    STORE_DOWN_LIMIT_MS,
  )
  say(`store stopped: ${(await alerts()).join(', ')}`)
  await job.stop()
} finally {
  prometheus.kill('SIGTERM')
  await stack.stop()
}
process.exit(0)
