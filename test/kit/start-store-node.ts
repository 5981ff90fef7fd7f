import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { findValkey } from '../../cli/deployment/binaries.ts'
import { readSettings } from '../../core/settings/settings.ts'
import { freePort } from './free-port.ts'
import { storeFolder } from './temp-folder.ts'
import { until } from './until.ts'

/** One Valkey process on a port of 127.0.0.1: a data node, a member of a cluster, or a Sentinel. */
export interface StoreNode {
  readonly port: number
  /** A plain connection to this very node. */
  readonly redis: Redis
  readonly isRunning: () => boolean
  readonly signal: (name: NodeJS.Signals) => void
  /** Ends it with -9, as a crash would. */
  readonly kill: () => Promise<void>
  readonly start: () => Promise<void>
  readonly stop: () => Promise<void>
}

interface NodeOptions {
  /** Lines of the configuration file, in addition to the port. */
  readonly config: readonly string[]
  readonly is_sentinel?: boolean
  readonly password?: string
  readonly port?: number
}

/** One listener for all, however many nodes a test starts. */
const running = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

const DURABLE = ['appendonly yes', 'save ""', 'maxmemory-policy noeviction']

export async function startStoreNode(options: NodeOptions): Promise<StoreNode> {
  const { config, is_sentinel = false, password } = options
  const read = readSettings({
    VALKEY_BIN: process.env['VALKEY_BIN'],
    AGW_CACHE_DIR: process.env['AGW_CACHE_DIR'],
  })
  if (!read.ok) throw new Error(read.problems.join('\n'))
  const binary = await findValkey(read.settings)
  const port = options.port ?? (await freePort())
  const folder = storeFolder('node')
  const file = join(folder, 'node.conf')
  const lines = [`port ${port}`, 'bind 127.0.0.1', `dir ${folder}`, 'loglevel warning']
  writeFileSync(file, [...lines, ...(is_sentinel ? [] : DURABLE), ...config, ''].join('\n'))
  const redis = new Redis(port, '127.0.0.1', {
    retryStrategy: () => 50,
    maxRetriesPerRequest: 0,
    ...(password === undefined ? {} : { password }),
  })
  redis.on('error', () => undefined)
  let child: ChildProcess | null = null
  const start = async (): Promise<void> => {
    const started = spawn(binary, [file, ...(is_sentinel ? ['--sentinel'] : [])], {
      stdio: 'ignore',
    })
    running.add(started)
    started.once('exit', () => {
      running.delete(started)
      if (child === started) child = null
    })
    child = started
    await until('the node answers', () => redis.ping().catch(() => null))
  }
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    const ending = child
    if (ending === null) return
    child = null
    const exited = once(ending, 'exit')
    ending.kill(signal)
    await exited
  }
  await start()
  return {
    port,
    redis,
    isRunning: () => child !== null,
    signal: (name) => void child?.kill(name),
    kill: () => end('SIGKILL'),
    start,
    stop: async () => {
      redis.disconnect()
      await end('SIGKILL')
    },
  }
}
