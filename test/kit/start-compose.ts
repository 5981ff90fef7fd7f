import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { findEnvoy, findValkey } from '../../cli/deployment/binaries.ts'
import { fromRoot } from '../../core/system/root.ts'
import type { ComposeService, ComposeServices } from './compose-file.ts'
import { freePort } from './free-port.ts'
import { until } from './until.ts'

const run = promisify(execFile)

/** The command line of this machine that runs a command line in a container, with the folder's volumes. */
export type Wrap = (
  command: readonly string[],
  env: Readonly<Record<string, string>>,
) => readonly [string, ...string[]]

export interface ComposeParts {
  readonly services: ComposeServices
  /** In place of the volumes; one of this machine. */
  readonly folder: string
  /** Runs all services; without it they run on this machine. */
  readonly inContainer?: Wrap
}

export interface ComposeStack {
  readonly proxyUrl: string
  readonly apiUrl: string
  readonly forwardPort: number
  readonly log: () => string
  readonly process: (service: string) => ChildProcess
  readonly start: (service: string) => Promise<void>
  /** Stops services as Compose does: those that depend on others first, each with its own grace period. */
  readonly stop: () => Promise<readonly string[]>
  /** SIGKILL, to it and what it has started. */
  readonly killService: (service: string) => void
  readonly killAll: () => void
}

const binaries = {
  envoyBin: process.env['ENVOY_BIN'] ?? null,
  valkeyBin: process.env['VALKEY_BIN'] ?? null,
  cacheDir: process.env['AGW_CACHE_DIR'] ?? null,
}
/** Compose's own. */
const GRACE_DEFAULT_S = 10
const IMAGE = 'agw'
const OF_SERVICE = ['/run/agw', '/var/lib/agw', '/data'] as const

/**
 * All services of docker-compose.yml on this machine, without a container engine: their real commands in the order of
 * `depends_on`, each started when the health checks of those before it succeed. Volumes are folders, ports are free ones.
 */
export async function startCompose({
  services,
  folder,
  inContainer,
}: ComposeParts): Promise<ComposeStack> {
  const [proxyPort, apiPort, forwardPort] = [await freePort(), await freePort(), await freePort()]
  for (const place of OF_SERVICE) mkdirSync(join(folder, place), { recursive: true, mode: 0o700 })
  const places = {
    AGW_PROXY_HOST: '127.0.0.1',
    AGW_PROXY_PORT: `${proxyPort}`,
    AGW_API_PORT: `${apiPort}`,
    AGW_FORWARD_PORT: `${forwardPort}`,
  }
  const programs: Readonly<Record<string, string>> = {
    node: process.execPath,
    envoy: await findEnvoy(binaries),
    'valkey-server': await findValkey(binaries),
  }
  const running = new Map<string, ChildProcess>()
  const path = `${binWithAgw(folder)}:${process.env['PATH']}`
  let log = ''

  /** Paths and ports of the containers as those of this machine. */
  const here = (text: string, { isContainer = false } = {}): string => {
    const moved = isContainer
      ? text
      : OF_SERVICE.reduce((now, place) => now.replaceAll(place, join(folder, place)), text)
    const memory = existsSync('/sys/fs/cgroup')
      ? moved
      : moved.replace(/(?<=--envoy-memory\s+)cgroup/, '1GiB')
    return memory
      .replace('127.0.0.1/8080', `127.0.0.1/${proxyPort}`)
      .replace(':8081', `:${apiPort}`)
  }
  const commandOf = (
    service: ComposeService,
    command: readonly string[],
    isEntrypoint: boolean,
  ) => {
    const isOurs = service.image === IMAGE
    const isContainer = inContainer !== undefined
    const env = Object.fromEntries(
      Object.entries({ ...service.environment, ...(isOurs ? places : {}) }).map(([name, value]) => [
        name,
        here(String(value), { isContainer }),
      ]),
    )
    // Without tini, which is the first process of a container.
    const own = isEntrypoint ? (service.entrypoint?.slice(2) ?? null) : null
    const args = [...(own ?? []), ...command].map((arg) => here(arg, { isContainer }))
    if (isContainer) {
      const line = isOurs && isEntrypoint && own === null ? ['agw', ...args] : args
      return { line: inContainer(line, env), env: {} }
    }
    const agw = [process.execPath, fromRoot('dist', 'cli', 'bin.js')]
    const [program = '', ...rest] =
      isOurs && isEntrypoint && own === null ? [...agw, ...args] : args
    return { line: [programs[program] ?? program, ...rest] as const, env: { PATH: path, ...env } }
  }
  const begin = (name: string): ChildProcess => {
    const service = known(services, name)
    const { line, env } = commandOf(service, service.command, true)
    const [program, ...args] = line
    const child = spawn(program, args, {
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    })
    for (const output of [child.stdout, child.stderr])
      output.setEncoding('utf8').on('data', (text: string) => {
        log += text
      })
    running.set(name, child)
    return child
  }
  const isHealthy = async (name: string): Promise<boolean> => {
    const service = known(services, name)
    const [kind, ...test] = service.healthcheck?.test ?? []
    if (kind !== 'CMD') throw new Error(`${name} has no health check`)
    // The store's client is not among the binaries that are installed.
    if (test[0] === 'valkey-cli') return await answersPing(join(folder, '/run/agw', 'valkey.sock'))
    const { line, env } = commandOf(service, test, false)
    const [program, ...args] = line
    return await run(program, args, { env }).then(
      () => true,
      () => false,
    )
  }
  const waitFor = (name: string): Promise<unknown> => {
    const child = running.get(name)
    const meets = (): Promise<boolean> => {
      const code = child?.exitCode ?? null
      if (code !== null) throw new Error(`${name} ended with ${code}:\n${log}`)
      return isHealthy(name)
    }
    return until(`${name} is healthy`, meets).catch((error: Error) => {
      throw new Error(`${error.message}\n${log}`)
    })
  }
  const start = async (name: string): Promise<void> => {
    for (const other of Object.keys(known(services, name).depends_on ?? {})) {
      if (!running.has(other)) await start(other)
      await waitFor(other)
    }
    if (!running.has(name) || running.get(name)?.exitCode !== null) begin(name)
  }

  for (const name of Object.keys(services)) await start(name)
  for (const [name, { healthcheck }] of Object.entries(services))
    if (healthcheck !== undefined) await waitFor(name)
  const apiUrl = `http://127.0.0.1:${apiPort}`
  await until('the gateway is ready', async () => {
    const answer = await fetch(`${apiUrl}/readyz`).catch(() => null)
    return answer?.status === 200
  }).catch((error: Error) => {
    throw new Error(`${error.message}\n${log}`)
  })
  return {
    proxyUrl: `http://127.0.0.1:${proxyPort}`,
    apiUrl,
    forwardPort,
    log: () => log,
    process: (name) => {
      const child = running.get(name)
      if (child === undefined) throw new Error(`${name} does not run`)
      return child
    },
    start: async (name) => {
      begin(name)
      await waitFor(name)
    },
    stop: () => stopInOrder(services, running),
    killService: (name) => {
      const child = running.get(name)
      if (child !== undefined) signalGroup(child, 'SIGKILL')
    },
    killAll: () => {
      for (const child of running.values()) signalGroup(child, 'SIGKILL')
    },
  }
}

/** `agw` for what a shell in the image runs. */
function binWithAgw(folder: string): string {
  const bin = join(folder, 'bin')
  mkdirSync(bin, { recursive: true })
  const script = `#!/bin/sh\nexec '${process.execPath}' '${fromRoot('dist', 'cli', 'bin.js')}' "$@"\n`
  writeFileSync(join(bin, 'agw'), script, { mode: 0o755 })
  return bin
}

const known = (services: ComposeServices, name: string): ComposeService => {
  const service = services[name]
  if (service === undefined) throw new Error(`docker-compose.yml has no service ${name}`)
  return service
}

/** @returns the names in the order in which they ended; throws if one had to be killed */
async function stopInOrder(
  services: ComposeServices,
  running: ReadonlyMap<string, ChildProcess>,
): Promise<readonly string[]> {
  const order: string[] = []
  const stopped = new Map<string, Promise<void>>()
  const stop = (name: string): Promise<void> => {
    const before = stopped.get(name)
    if (before !== undefined) return before
    const dependents = Object.entries(services).filter(([, { depends_on }]) => depends_on?.[name])
    const ended = (async () => {
      await Promise.all(dependents.map(([other]) => stop(other)))
      const child = running.get(name)
      if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
      const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
      child.kill('SIGTERM')
      const grace_s = Number.parseInt(services[name]?.stop_grace_period ?? `${GRACE_DEFAULT_S}`, 10)
      const late = setTimeout(() => {
        order.push(`${name} was killed`)
        signalGroup(child, 'SIGKILL')
      }, grace_s * 1000)
      await exited
      clearTimeout(late)
      order.push(name)
    })()
    stopped.set(name, ended)
    return ended
  }
  await Promise.all(Object.keys(services).map(stop))
  return order
}

/** With what it has started, as the end of a container does. */
function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, signal)
  } catch {
    // It has ended already.
  }
}

function answersPing(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path, () => socket.write('PING\r\n'))
    socket.once('data', (answer) => {
      resolve(answer.toString().startsWith('+PONG'))
      socket.destroy()
    })
    socket.once('error', () => resolve(false))
  })
}
