import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { findValkey } from '../../cli/deployment/binaries.ts'
import { connectRedis } from '../../core/redis/connect-redis.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { readSettings } from '../../core/settings/settings.ts'
import { storeFolder } from './temp-folder.ts'
import { until } from './until.ts'

export interface KitValkey {
  /** `unix://…`, the same after a restart. */
  readonly url: string
  readonly pid: () => number
  /** Ends it with -9, as a crash would; what was acknowledged is in the append-only file. */
  readonly kill: () => Promise<void>
  readonly start: () => Promise<void>
  readonly stop: () => Promise<void>
}

/** A test may kill a Valkey that hangs. */
const FILE_LIMIT_MS = 2_000

/**
 * A Valkey of its own on a Unix socket, with the durability that the product asks for.
 * @param more.wrap a command that ends by executing its arguments
 */
export async function startValkey(
  options: readonly string[] = [],
  { wrap = [] }: { readonly wrap?: readonly string[] } = {},
): Promise<KitValkey> {
  const read = readSettings({
    VALKEY_BIN: process.env['VALKEY_BIN'],
    AGW_CACHE_DIR: process.env['AGW_CACHE_DIR'],
  })
  if (!read.ok) throw new Error(read.problems.join('\n'))
  const binary = await findValkey(read.settings)
  const folder = storeFolder('valkey')
  const url = `unix://${join(folder, 'v.sock')}`
  let child: ChildProcess | null = null
  const killWithUs = (): void => void child?.kill('SIGKILL')
  process.once('exit', killWithUs)

  const end = async (signal: NodeJS.Signals): Promise<void> => {
    const ending = child
    if (ending === null) return
    child = null
    const exited = once(ending, 'exit')
    ending.kill(signal)
    await exited
  }
  const start = async (): Promise<void> => {
    const args = ['--port', '0', '--unixsocket', join(folder, 'v.sock'), '--unixsocketperm', '600']
    args.push('--dir', folder, '--appendonly', 'yes', '--maxmemory-policy', 'noeviction')
    args.push('--save', '', '--loglevel', 'warning', ...options)
    const [command = binary, ...rest] = [...wrap, binary, ...args]
    child = spawn(command, rest, { stdio: 'ignore' })
    const redis = connectRedis(url, { name: 'kit', role: 'queue' })
    await until('Valkey answers', () => redis.ping().catch(() => null))
    redis.disconnect()
  }
  await start()
  return {
    url,
    pid: () => child?.pid ?? 0,
    start,
    kill: async () => {
      const redis = connectRedis(url, { name: 'kit', role: 'queue' })
      await Promise.race([writeFile(redis), wait(FILE_LIMIT_MS, undefined, { ref: false })])
      redis.disconnect()
      await end('SIGKILL')
    },
    stop: async () => {
      process.removeListener('exit', killWithUs)
      await end('SIGTERM')
    },
  }
}

/** What is acknowledged is in the append-only file then; with `everysec` a busy disk delays it by up to two seconds. */
async function writeFile(redis: RedisClient): Promise<void> {
  await redis.config('SET', 'appendfsync', 'always')
  await redis.ping()
}
