import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Cluster, Redis } from 'ioredis'
import { fromRoot } from '../root.ts'

export type RedisClient = Redis | Cluster

interface Script {
  readonly text: string
  readonly sha1: string
}

const loaded = new Map<string, Script>()

/**
 * Runs `core/lua/<name>.lua`. The header of that file says what it does, takes and answers.
 * @throws what Redis answers, and a time-out of the connection
 */
export async function runScript(
  redis: RedisClient,
  name: string,
  keys: readonly string[],
  args: readonly (string | number | Buffer)[],
): Promise<unknown> {
  const { text, sha1 } = loadScript(name)
  try {
    return await redis.evalsha(sha1, keys.length, ...keys, ...args)
  } catch (error) {
    if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error
    return await redis.eval(text, keys.length, ...keys, ...args)
  }
}

/** A line `-- @include <part>` stands for the text of `core/lua/include/<part>.lua`. */
const INCLUDE = /^-- @include ([a-z-]+)$/gm

const readLua = (...path: readonly string[]): string =>
  readFileSync(fromRoot('core', 'lua', ...path), 'utf8')

function loadScript(name: string): Script {
  const known = loaded.get(name)
  if (known !== undefined) return known
  const text = readLua(`${name}.lua`).replace(INCLUDE, (_line, part: string) =>
    readLua('include', `${part}.lua`),
  )
  const script = { text, sha1: createHash('sha1').update(text).digest('hex') }
  loaded.set(name, script)
  return script
}
