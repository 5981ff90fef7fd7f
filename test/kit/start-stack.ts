import { execFile, spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { envoyAdminSocket, envoyConfigFile } from '../../cli/launcher/child-specs.ts'
import { openDataDir } from '../../cli/launcher/data-dir.ts'
import { valkeySocket } from '../../cli/launcher/valkey-config.ts'
import { fromRoot } from '../../core/system/root.ts'
import type { Environment } from '../../core/settings/settings.ts'
import { freePort } from './free-port.ts'
import { storeFolder } from './temp-folder.ts'
import { until } from './until.ts'

const run = promisify(execFile)

export type ChildRole = 'ext-proc' | 'access-log' | 'admin' | 'envoy' | 'valkey' | 'echo'

export interface Stack {
  readonly proxyUrl: string
  readonly apiUrl: string
  /** Of the forward proxy; null where it is off. */
  readonly forwardPort: number | null
  /** Of the echo API that `agw start` runs along with the gateway. */
  readonly echoOrigin: string
  readonly adminToken: string
  readonly dataDir: string
  readonly redisUrl: string
  /** What Envoy's own admin interface says at a path. */
  readonly envoyAdmin: (path: string) => Promise<string>
  /** Marks an allowed call since this start; must not be known outside. */
  readonly verdictSecret: string
  /** The launcher's own process. */
  readonly pid: number
  /** The processes of a role that run at the moment. */
  readonly pids: (role: ChildRole) => Promise<number[]>
  /** What the launcher and its children have written so far. */
  readonly log: () => string
  /** Waits until the whole product says that it works. */
  readonly ready: () => Promise<void>
  /** Ends the launcher as Ctrl-C would, and answers its exit code. */
  readonly stop: () => Promise<number | null>
}

/** A first start creates keys and a token and starts five processes on what may be a busy machine. */
const START_LIMIT_MS = 120_000

/**
 * The whole product by its own launcher, with ports of the operating system's choice and a data directory of its own.
 * @param product a built source tree: this one unless two versions are compared
 * @param outputs descriptors for standard output and standard error; unless given, both are read into `log`
 */
export async function startStack(
  env: Environment = {},
  product = fromRoot(),
  outputs: readonly [number | 'pipe', number | 'pipe'] = ['pipe', 'pipe'],
): Promise<Stack> {
  const dataDir = env['AGW_DATA_DIR'] ?? storeFolder('stack')
  const [proxy, api, echo, forward] = await Promise.all([
    freePort(),
    freePort(),
    freePort(),
    freePort(),
  ])
  const own: Environment = {
    AGW_PROXY_PORT: String(proxy),
    AGW_API_PORT: String(api),
    AGW_ECHO_PORT: String(echo),
    AGW_DATA_DIR: dataDir,
    AGW_FORWARD_PORT: String(forward),
    AGW_EXT_PROC_WORKERS: '1',
    // The disk of the tests has space.
    AGW_DISK_RESERVE_BYTES: '0',
    ...env,
  }
  const child = spawn(process.execPath, [join(product, 'dist', 'cli', 'bin.js'), 'start'], {
    cwd: dataDir,
    env: { ...withoutSettings(process.env), ...own },
    stdio: ['ignore', ...outputs],
  })
  let log = ''
  for (const output of [child.stdout, child.stderr])
    output?.setEncoding('utf8').on('data', (text: string) => {
      log += text
    })
  let code: number | null | undefined
  const exited = new Promise<number | null>((resolve) => {
    child.once('exit', (status) => {
      code = status
      resolve(status)
    })
  })
  const killWithUs = (): void => void child.kill('SIGTERM')
  process.prependOnceListener('exit', killWithUs)
  const apiUrl = `http://127.0.0.1:${api}`
  const ready = async (): Promise<void> => {
    await until(
      'the stack is ready',
      async () => {
        if (code !== undefined) throw new Error(`agw start ended with ${code}:\n${log}`)
        const answer = await fetch(`${apiUrl}/readyz`).catch(() => null)
        return answer?.status === 200
      },
      START_LIMIT_MS,
    ).catch((error: Error) => {
      throw new Error(`${error.message}\n${log}`)
    })
  }
  await ready()
  const tokenFile = own['AGW_ADMIN_TOKEN_FILE'] ?? join(dataDir, 'admin-token')
  const places = openDataDir(dataDir)
  const config = readFileSync(envoyConfigFile(places), 'utf8')
  return {
    proxyUrl: `http://127.0.0.1:${proxy}`,
    apiUrl,
    forwardPort: own['AGW_FORWARD_PORT'] === 'off' ? null : Number(own['AGW_FORWARD_PORT']),
    echoOrigin: `http://127.0.0.1:${echo}`,
    adminToken:
      own['AGW_ADMIN_TOKEN'] ??
      (existsSync(tokenFile) ? readFileSync(tokenFile, 'utf8').trim() : ''),
    dataDir,
    redisUrl: own['REDIS_URL'] ?? `unix://${valkeySocket(places)}`,
    envoyAdmin: (path) => ask(envoyAdminSocket(places), path),
    verdictSecret: /"x-agw-pass"[^}]*?"exact": "([0-9a-f]{64})/.exec(config)?.[1] ?? '',
    pid: child.pid ?? 0,
    pids: (role) => pidsOf(child.pid ?? 0, role),
    log: () => log,
    ready,
    stop: async () => {
      process.removeListener('exit', killWithUs)
      child.kill('SIGTERM')
      return await exited
    },
  }
}

/** The tests say themselves what is set; binaries and their cache are those of the whole run. */
const INHERITED = ['ENVOY_BIN', 'VALKEY_BIN', 'AGW_CACHE_DIR', 'AGW_EXT_PROC_TRANSPORT']

const withoutSettings = (env: Environment): Environment =>
  Object.fromEntries(
    Object.entries(env).filter(
      ([name]) => INHERITED.includes(name) || !(name.startsWith('AGW_') || name === 'REDIS_URL'),
    ),
  )

const LOOKS: Readonly<Record<ChildRole, RegExp>> = {
  'ext-proc': /ext-proc\/main\.js/,
  'access-log': /agw-access-log/,
  admin: /admin\/main\.js/,
  envoy: /envoy\.yaml/,
  valkey: /valkey\.conf|(valkey|redis)-server/,
  echo: /echo-api\.js/,
}

async function pidsOf(parent: number, role: ChildRole): Promise<number[]> {
  const { stdout } = await run('ps', ['-A', '-o', 'pid=,ppid=,args='])
  return stdout.split('\n').flatMap((line) => {
    const [, pid, ppid, args = ''] = /^ *(\d+) +(\d+) (.*)$/.exec(line) ?? []
    return Number(ppid) === parent && LOOKS[role].test(args) ? [Number(pid)] : []
  })
}

function ask(socketPath: string, path: string): Promise<string> {
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
