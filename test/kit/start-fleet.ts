import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { connectRedis } from '../../core/redis/connect-redis.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { fromRoot } from '../../core/system/root.ts'
import { type StoreAccess, storeAccess } from '../../core/redis/store-access.ts'
import { type Environment, readSettings } from '../../core/settings/settings.ts'
import { type Operator, operatorAt } from './operator.ts'
import { type AdminIdentity, type KitAdmin, newAdminIdentity, startAdmin } from './start-admin.ts'
import { type KitEnvoy, startEnvoy } from './start-envoy.ts'
import { type KitValkey, startValkey } from './start-valkey.ts'
import { tempFolder } from './temp-folder.ts'
import { until } from './until.ts'

export interface EdgeOptions {
  readonly region?: string
  /** Where this edge reaches the store; a relay in front of it, say. */
  readonly redis_url?: string
}

export interface FleetEdge {
  readonly edge_id: string
  /** The listener of the Envoy that asks this edge. */
  readonly url: string
  readonly pid: () => number
  readonly log: () => string
  readonly signal: (name: NodeJS.Signals) => void
  readonly exited: () => Promise<void>
  /** A new process in the place of one that has ended. */
  readonly restart: () => Promise<void>
}

export interface Fleet {
  readonly valkey: KitValkey
  readonly redis: RedisClient
  readonly admin: KitAdmin
  readonly identity: AdminIdentity
  readonly operator: Operator
  readonly edges: readonly FleetEdge[]
  readonly envoys: readonly KitEnvoy[]
  readonly upstream: FleetUpstream
  /** One more Envoy in front of all edges, with a configuration that is changed by `edit`, and settings of its own. */
  readonly addEnvoy: (edit: (yaml: string) => string, more?: Environment) => Promise<KitEnvoy>
  /** One more admin process on the same store. */
  readonly restartAdmin: () => Promise<KitAdmin>
  readonly stop: () => Promise<void>
}

export interface FleetOptions {
  readonly edges?: readonly EdgeOptions[]
  /** One Envoy in front of all edges, or one for each. */
  readonly envoys?: 'one' | 'each'
  readonly env?: Environment
  readonly valkey?: KitValkey
  /** Processors that Envoy reaches over the network; without it they have Unix sockets. */
  readonly network?: {
    /** `host:port` where each edge listens. */
    readonly addresses: readonly string[]
    /** `host:port` that stands for all of them. */
    readonly name: string
    readonly edit: (yaml: string) => string
  }
  /** Run in place of the ext-proc program, for tests that make it slow on purpose. */
  readonly program?: string
}

/** Several edges on one store, with an admin service, Envoy, and an API to call. */
export async function startFleet(options: FleetOptions = {}): Promise<Fleet> {
  const { edges: wanted = [{}], envoys: number = 'one', env = {}, network } = options
  const folder = tempFolder('fleet')
  const valkey = options.valkey ?? (await startValkey())
  const identity = newAdminIdentity()
  const upstream = await startUpstream()
  const addresses =
    network?.addresses ?? wanted.map((_edge, i) => `unix:${join(folder, `${i}.sock`)}`)
  const reached = network === undefined ? addresses : [network.name]
  const settings = {
    AGW_EGRESS_ALLOW_CIDRS: '127.0.0.0/8',
    ENVOY_BIN: process.env['ENVOY_BIN'],
    AGW_CACHE_DIR: process.env['AGW_CACHE_DIR'],
    AGW_EXT_PROC_TRANSPORT: process.env['AGW_EXT_PROC_TRANSPORT'],
    REDIS_URL: valkey.url,
    ...env,
  }
  const verdict_secret = randomBytes(32).toString('hex')
  const groups = number === 'one' ? [reached] : addresses.map((address) => [address])
  const envoys = await Promise.all(
    groups.map((ext_proc_addresses) =>
      startEnvoy(settings, { ext_proc_addresses, verdict_secret }, network?.edit),
    ),
  )
  const admin = await startAdmin(valkey.url, identity, env)
  const edges = await Promise.all(
    wanted.map((edge, i) =>
      startEdge({
        edge_id: `edge-${i + 1}`,
        url: (envoys[i] ?? envoys[0])?.url ?? '',
        program: options.program ?? fromRoot('dist', 'ext-proc', 'main.js'),
        env: {
          REDIS_URL: edge.redis_url ?? valkey.url,
          AGW_ENCRYPTION_KEY: identity.encryption_key,
          AGW_VERDICT_SECRET: verdict_secret,
          AGW_EXT_PROC_ADDRESS: addresses[i],
          AGW_EDGE_ID: `edge-${i + 1}`,
          // One process of a name at a time, as with agw start.
          AGW_EDGE_BOOT: 'fleet',
          AGW_REGION: edge.region ?? 'local',
          ...env,
        },
      }),
    ),
  )
  const redis = connectRedis(accessOf(valkey.url, env), { name: 'fleet', role: 'commands' })
  await until('every edge beats', async () => {
    const beating = await redis.zcard(REDIS_KEYS.edgeBeats).catch(() => 0)
    return beating >= edges.length
  })
  await until('every listener decides', async () => {
    const statuses = await Promise.all(
      envoys.map(({ url }) =>
        fetch(`${url}/not-a-url`).then(
          ({ status }) => status,
          () => 0,
        ),
      ),
    )
    return statuses.every((status) => status === 400)
  })
  const admins = [admin]
  return {
    valkey,
    redis,
    admin,
    addEnvoy: async (edit, more = {}) => {
      const facts = { ext_proc_addresses: reached, verdict_secret }
      const another = await startEnvoy({ ...settings, ...more }, facts, edit)
      envoys.push(another)
      return another
    },
    restartAdmin: async () => {
      const another = await startAdmin(valkey.url, identity, env)
      admins.push(another)
      return another
    },
    identity,
    operator: operatorAt(admin.url, admin.token),
    edges,
    envoys,
    upstream,
    stop: async () => {
      redis.disconnect()
      for (const edge of edges) edge.signal('SIGKILL')
      await Promise.all(edges.map((edge) => edge.exited()))
      await Promise.all([
        ...envoys.map((envoy) => envoy.stop()),
        ...admins.map((one) => one.kill()),
      ])
      await Promise.all([upstream.stop(), valkey.stop()])
    },
  }
}

/** With the certificates that the processes use. */
function accessOf(url: string, env: Environment): StoreAccess {
  const read = readSettings({ ...env, REDIS_URL: url })
  if (!read.ok) throw new Error(read.problems.join('\n'))
  return storeAccess(read.settings, url)
}

async function startEdge(start: {
  readonly edge_id: string
  readonly url: string
  readonly env: Environment
  readonly program: string
}): Promise<FleetEdge> {
  let log = ''
  let child: ChildProcess
  let exited: Promise<unknown>
  const run = async (): Promise<void> => {
    child = spawn(process.execPath, [start.program], {
      env: { PATH: process.env['PATH'], ...start.env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    exited = once(child, 'exit')
    for (const output of [child.stdout, child.stderr])
      output?.setEncoding('utf8').on('data', (text: string) => {
        log += text
      })
    const started = child
    process.once('exit', () => started.kill('SIGKILL'))
    const from = log.length
    await until(`${start.edge_id} serves`, () => {
      if (started.exitCode !== null) throw new Error(`${start.edge_id} ended:\n${log}`)
      return log.slice(from).includes('"serving"')
    }).catch((error: Error) => {
      throw new Error(`${error.message}\n${log.slice(from)}`)
    })
  }
  await run()
  return {
    edge_id: start.edge_id,
    url: start.url,
    pid: () => child.pid ?? 0,
    log: () => log,
    signal: (name) => void child.kill(name),
    exited: async () => void (await exited),
    restart: run,
  }
}

export interface FleetUpstream {
  /** `http://127.0.0.1:port` */
  readonly origin: string
  /** What began: when, by `performance.now()`, and the path with its query. */
  readonly begun: { readonly at_ms: number; readonly path: string }[]
  readonly stop: () => Promise<void>
}

/**
 * `/sse` sends an event at once and then every 20 ms without end · `/quiet` sends headers and one event, then nothing ·
 * `/wait` never answers · all else is answered `ok`.
 */
async function startUpstream(): Promise<FleetUpstream> {
  const begun: FleetUpstream['begun'] = []
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    const path = request.url ?? ''
    begun.push({ at_ms: performance.now(), path })
    response.on('error', () => {})
    request.resume()
    if (path.includes('/wait')) return
    if (!path.includes('/sse') && !path.includes('/quiet')) {
      response.end('ok')
      return
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write('data: first\n\n')
    if (path.includes('/quiet')) return
    const timer = setInterval(() => response.write('data: next\n\n'), 20)
    response.once('close', () => clearInterval(timer))
  }
  const server = createServer(answer)
  server.keepAliveTimeout = 60_000
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    begun,
    stop: async () => {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}
