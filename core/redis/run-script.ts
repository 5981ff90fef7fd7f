import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Redis } from 'ioredis'
import { fromRoot } from '../root.ts'
import { type KeysOf, SCRIPTS, type ScriptName } from './scripts.ts'

export type RedisClient = Redis

interface Script {
  readonly text: string
  readonly sha1: string
}

/** A line `-- @include <part>` is replaced by the text of `core/lua/include/<part>.lua`. */
const INCLUDE = /^-- @include ([a-z-]+)$/gm

const readLua = (...path: readonly string[]): string =>
  readFileSync(fromRoot('core', 'lua', ...path), 'utf8')

function loadScript(name: string): Script {
  const text = readLua(`${name}.lua`).replace(INCLUDE, (_line, part: string) =>
    readLua('include', `${part}.lua`),
  )
  return { text, sha1: createHash('sha1').update(text).digest('hex') }
}

/** Read when the process starts, so that no call waits for a file. */
const LOADED = Object.fromEntries(
  Object.keys(SCRIPTS).map((name) => [name, loadScript(name)]),
) as Readonly<Record<ScriptName, Script>>

/**
 * Runs `core/lua/<name>.lua`. The header of that file says what it does, takes and returns.
 * @throws the error that Redis returns, or a timeout of the connection
 */
export async function runScript<Name extends ScriptName>(
  redis: RedisClient,
  name: Name,
  keys: KeysOf<Name>,
  args: readonly (string | number | Buffer)[],
): Promise<unknown> {
  const { text, sha1 } = LOADED[name]
  const all: readonly string[] = keys
  try {
    return await redis.evalsha(sha1, all.length, ...all, ...args)
  } catch (error) {
    if (!isUnknownScript(error)) throw error
    return await redis.eval(text, all.length, ...all, ...args)
  }
}

/** The same, with Buffers where Redis returns texts: for values that are not UTF-8. */
export async function runScriptBuffer<Name extends ScriptName>(
  redis: RedisClient,
  name: Name,
  keys: KeysOf<Name>,
  args: readonly (string | number | Buffer)[],
): Promise<unknown> {
  const { text, sha1 } = LOADED[name]
  const all: readonly string[] = keys
  const client = redis as unknown as BufferScripts
  try {
    return await client.evalshaBuffer(sha1, all.length, ...all, ...args)
  } catch (error) {
    if (!isUnknownScript(error)) throw error
    return await client.evalBuffer(text, all.length, ...all, ...args)
  }
}

type RunBuffer = (
  script: string,
  keys: number,
  ...args: (string | number | Buffer)[]
) => Promise<unknown>

/** ioredis has both, but its types do not. `callBuffer`, which the types have, loses the name of the command in a pipeline. */
interface BufferScripts {
  readonly evalshaBuffer: RunBuffer
  readonly evalBuffer: RunBuffer
}

const isUnknownScript = (error: unknown): boolean =>
  error instanceof Error && error.message.startsWith('NOSCRIPT')
