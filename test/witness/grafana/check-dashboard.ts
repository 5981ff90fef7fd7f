import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fromRoot } from '../../../core/system/root.ts'

/** Grafana's own types of dashboards and panels. */
const SCHEMA = '@grafana/schema@13.2.3'
const FOLDER = join(process.env['AGW_WITNESS_DIR'] ?? join(tmpdir(), 'agw-witness'), 'grafana')

// Members that Grafana fills in are optional in JSON, and enumerations are their values.
const TYPES = `import type { Dashboard, GraphFieldConfig } from '@grafana/schema'
import type { Options } from '@grafana/schema/dist/esm/raw/composable/timeseries/panelcfg/x/TimeSeriesPanelCfg_types.gen'
type Written<T> = T extends string ? \`\${T}\`
  : T extends number | boolean | null | undefined ? T
  : T extends readonly (infer Item)[] ? Written<Item>[]
  : T extends object ? { [Name in keyof T]?: Written<T[Name]> } : T
export const dashboard: Written<Dashboard> = `

interface Panel {
  readonly type: string
  readonly options: unknown
  readonly fieldConfig: { readonly defaults: { readonly custom: unknown } }
}

/** Whether a dashboard, as JSON, has the members and values that Grafana's types allow; else what the compiler says. */
export function checkDashboard(text: string): { readonly ok: boolean; readonly report: string } {
  mkdirSync(FOLDER, { recursive: true })
  if (!existsSync(join(FOLDER, 'node_modules', '@grafana', 'schema')))
    run('npm', ['install', '--prefix', FOLDER, '--no-audit', '--no-fund', SCHEMA])
  const { panels } = JSON.parse(text) as { readonly panels: readonly Panel[] }
  const parts = panels.map(({ type, options, fieldConfig }, n) =>
    type === 'timeseries'
      ? [
          `export const options${n}: Written<Options> = ${JSON.stringify(options)}`,
          `export const custom${n}: Written<GraphFieldConfig> = ${JSON.stringify(fieldConfig.defaults.custom)}`,
        ].join('\n')
      : `export const type${n}: 'timeseries' = ${JSON.stringify(type)}`,
  )
  const file = join(FOLDER, 'dashboard.ts')
  writeFileSync(file, `${TYPES}${text}\n${parts.join('\n')}\n`)
  const compiler = fromRoot('node_modules', 'typescript', 'bin', 'tsc')
  const flags = ['--noEmit', '--strict', '--skipLibCheck', '--ignoreConfig']
  const module = ['--module', 'esnext', '--moduleResolution', 'bundler', '--types', '']
  const { status, stdout } = spawnSync(process.execPath, [compiler, ...flags, ...module, file], {
    cwd: FOLDER,
    encoding: 'utf8',
  })
  return { ok: status === 0, report: stdout }
}

/** The same after each of these errors was made in it. */
export const PLANTED = [
  ['"displayMode": "list"', '"displayMode": "lines"'],
  ['"showPoints": "never"', '"showPoints": "nowhere"'],
  ['"gridPos": {', '"gridPosition": {'],
  ['"refresh": "30s"', '"refresh": 30'],
  ['"fillOpacity": 10', '"fillOpacity": "10"'],
] as const

export const readDashboard = (): string =>
  readFileSync(fromRoot('docs', 'monitoring', 'dashboard.json'), 'utf8')

function run(program: string, args: readonly string[]): void {
  const { status, stderr } = spawnSync(program, args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`${program} failed: ${stderr}`)
}
