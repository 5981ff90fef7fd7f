import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { freePort } from './free-port.ts'
import { tempFolder } from './temp-folder.ts'

export interface Collector {
  /** Where it receives while it runs. */
  readonly url: string
  readonly start: () => ChildProcess
  /** What it has written, one JSON text a line. */
  readonly written: () => string
}

/** A real OpenTelemetry Collector, named with `--collector`, whose file exporter writes what its OTLP receiver gets. */
export async function makeCollector(pipeline: 'logs' | 'traces'): Promise<Collector> {
  const { values } = parseArgs({ options: { collector: { type: 'string' } } })
  const program = values.collector
  if (program === undefined) throw new Error('Name the program: --collector PATH/otelcol')
  const folder = tempFolder('collector')
  const file = join(folder, `${pipeline}.json`)
  const config = join(folder, 'config.yaml')
  const port = await freePort()
  writeFileSync(
    config,
    `receivers:
  otlp: { protocols: { http: { endpoint: "127.0.0.1:${port}" } } }
exporters:
  file: { path: "${file}", append: true, flush_interval: 50ms }
service:
  telemetry: { metrics: { level: none } }
  pipelines: { ${pipeline}: { receivers: [otlp], exporters: [file] } }
`,
  )
  return {
    url: `http://127.0.0.1:${port}/v1/${pipeline}`,
    start: () => spawn(program, ['--config', config], { stdio: 'ignore' }),
    written: () => (existsSync(file) ? readFileSync(file, 'utf8') : ''),
  }
}
