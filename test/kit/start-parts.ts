import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { EXT_PROC_NODE_ARGS } from '../../core/system/ext-proc-node-args.ts'
import { fromRoot } from '../../core/system/root.ts'
import type { Environment } from '../../core/settings/settings.ts'
import { freePort } from './free-port.ts'
import type { KitEnvoy } from './start-envoy.ts'
import { startEnvoy } from './start-envoy.ts'
import type { KitValkey } from './start-valkey.ts'
import { startValkey } from './start-valkey.ts'
import { tempFolder } from './temp-folder.ts'
import { until } from './until.ts'

/** The product's processes side by side, where a test must look into one of them or has one in its own hands. */
export interface Parts {
  readonly proxyUrl: string
  readonly apiUrl: string
  readonly adminToken: string
  readonly redisUrl: string
  /** Envoy's own admin interface. */
  readonly envoyAdmin: (path: string) => Promise<string>
  readonly verdictSecret: string
  readonly envoy: KitEnvoy
  readonly valkey: KitValkey
  readonly extProc: ChildProcess
  readonly admin: ChildProcess
  readonly log: () => string
  readonly stop: () => Promise<void>
}

/**
 * @param nodeArgs options of Node for the ext-proc process
 * @param edit what is done to the configuration of Envoy
 */
export async function startParts(
  env: Environment,
  nodeArgs: readonly string[] = [],
  edit?: (yaml: string) => string,
): Promise<Parts> {
  const folder = tempFolder('parts')
  const valkey = await startValkey()
  const extProcAddress = `unix:${join(folder, 'ext-proc.sock')}`
  const adminSocket = join(folder, 'admin.sock')
  const envoy = await startEnvoy(
    { ENVOY_BIN: process.env['ENVOY_BIN'], ...env },
    {
      ext_proc_addresses: [extProcAddress],
      admin_socket: adminSocket,
      ...(env['AGW_UPSTREAM_CA_FILE'] === undefined
        ? {}
        : { trusted_ca_file: env['AGW_UPSTREAM_CA_FILE'] }),
    },
    edit,
  )
  const apiPort = await freePort()
  const adminToken = randomBytes(24).toString('hex')
  const children = {
    REDIS_URL: valkey.url,
    AGW_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    AGW_VERDICT_SECRET: envoy.verdict_secret,
    AGW_EXT_PROC_ADDRESS: extProcAddress,
    AGW_ADMIN_SOCKET: adminSocket,
    AGW_ADMIN_TOKEN: adminToken,
    AGW_API_PORT: String(apiPort),
    AGW_EXT_PROC_TRANSPORT: process.env['AGW_EXT_PROC_TRANSPORT'],
    ...env,
  }
  let log = ''
  const run = (args: readonly string[]): ChildProcess => {
    const child = spawn(process.execPath, args, {
      env: { PATH: process.env['PATH'], ...children },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    for (const output of [child.stdout, child.stderr])
      output?.setEncoding('utf8').on('data', (text: string) => {
        log += text
      })
    process.prependOnceListener('exit', () => child.kill('SIGKILL'))
    return child
  }
  const admin = run([fromRoot('dist', 'admin', 'main.js')])
  const extProc = run([...EXT_PROC_NODE_ARGS, ...nodeArgs, fromRoot('dist', 'ext-proc', 'main.js')])
  const apiUrl = `http://127.0.0.1:${apiPort}`
  await until('a call is decided', async () => {
    for (const child of [admin, extProc])
      if (child.exitCode !== null)
        throw new Error(`a process ended with ${child.exitCode}:\n${log}`)
    const decided = await fetch(`${envoy.url}/not-a-url`).catch(() => null)
    const answered = await fetch(`${apiUrl}/healthz`).catch(() => null)
    return decided?.status === 400 && answered?.ok
  })
  return {
    proxyUrl: envoy.url,
    apiUrl,
    adminToken,
    redisUrl: valkey.url,
    envoyAdmin: envoy.admin,
    verdictSecret: envoy.verdict_secret,
    envoy,
    valkey,
    extProc,
    admin,
    log: () => log,
    stop: async () => {
      await Promise.all([envoy.stop(), end(admin), end(extProc)])
      await valkey.stop()
    },
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGTERM')
  await exited
}
