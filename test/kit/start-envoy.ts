import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { findEnvoy } from '../../cli/deployment/binaries.ts'
import { readSettings } from '../../core/settings/settings.ts'
import type { Environment } from '../../core/settings/settings.ts'
import { bootstrapOf, renderBootstrap } from '../../envoy/render-bootstrap.ts'
import type { BootFacts } from '../../envoy/render-bootstrap.ts'
import { sdsFiles } from '../../envoy/tls-contexts.ts'
import { trustedCaFile } from '../../envoy/trusted-ca.ts'
import { freePort } from './free-port.ts'
import { tempFolder } from './temp-folder.ts'
import { until } from './until.ts'

export interface KitEnvoy {
  readonly port: number
  readonly url: string
  readonly pid: number
  readonly verdict_secret: string
  readonly admin: (path: string) => Promise<string>
  /** For `agw doctor --envoy-admin`. */
  readonly admin_address: string
  readonly log: () => string
  readonly stop: () => Promise<void>
}

/**
 * The real Envoy on the product's own bootstrap; `env` are settings, `facts` what a launcher would decide. `edit` makes
 * of it the configuration of somebody else's Envoy.
 */
export async function startEnvoy(
  env: Environment,
  facts: Partial<BootFacts>,
  edit?: (yaml: string) => string,
): Promise<KitEnvoy> {
  const folder = tempFolder('envoy')
  const port = await freePort()
  const read = readSettings({
    AGW_PROXY_PORT: String(port),
    // Its default port is one for the whole machine.
    AGW_FORWARD_PORT: 'off',
    ...env,
  })
  if (!read.ok) throw new Error(read.problems.join('\n'))
  const boot: BootFacts = {
    envoy_admin_socket: join(folder, 'admin.sock'),
    ext_proc_addresses: [],
    access_log_address: null,
    admin_socket: null,
    verdict_secret: randomBytes(32).toString('hex'),
    echo_origin: null,
    trusted_ca_file: trustedCaFile(folder, null),
    heap_limit_bytes: 1024 ** 3,
    sds_directory: folder,
    ...facts,
  }
  const config = join(folder, 'envoy.yaml')
  const text =
    edit === undefined
      ? JSON.stringify(bootstrapOf(read.settings, boot))
      : edit(renderBootstrap(read.settings, boot))
  writeFileSync(config, text, { mode: 0o600 })
  for (const [name, secret] of Object.entries(sdsFiles(read.settings, text) ?? {}))
    writeFileSync(join(folder, name), secret)
  const binary = await findEnvoy(read.settings)
  const args = ['-c', config, '--use-dynamic-base-id', '--concurrency', '1', '-l', 'error']
  const child = spawn(binary, args, { stdio: ['ignore', 'ignore', 'pipe'] })
  let log = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    log += text
  })
  let exit: number | string | null = null
  const exited = new Promise<void>((resolve) => {
    child.once('exit', (code, signal) => {
      exit = code ?? signal
      resolve()
    })
  })
  const admin = (path: string): Promise<string> => askEnvoy(boot.envoy_admin_socket, path)
  const killWithUs = (): void => void child.kill('SIGKILL')
  process.once('exit', killWithUs)
  await until('Envoy is ready', async () => {
    if (exit !== null) throw new Error(`Envoy ended with ${exit}:\n${log}`)
    return (await admin('/ready').catch(() => '')).includes('LIVE')
  })
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    pid: child.pid ?? 0,
    verdict_secret: boot.verdict_secret,
    admin,
    admin_address: `unix:${boot.envoy_admin_socket}`,
    log: () => log,
    stop: async () => {
      process.removeListener('exit', killWithUs)
      child.kill('SIGTERM')
      await exited
    },
  }
}

/** By its admin interface. */
export function askEnvoy(socketPath: string, path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    // Envoy closes a connection when it likes, also the one that would be used again.
    const call = request({ socketPath, path, agent: false }, (answer) => {
      let text = ''
      answer.setEncoding('utf8').on('data', (part: string) => {
        text += part
      })
      answer.once('end', () => resolve(text))
    })
    call.once('error', reject)
    call.end()
  })
}
