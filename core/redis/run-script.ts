import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Redis } from 'ioredis'
import { fromRoot } from '../system/root.ts'
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

type Argument = string | number | Buffer
type Evaluate = (script: string, keys: number, ...args: Argument[]) => Promise<unknown>

/** ioredis has all four; its types lack the last two. `callBuffer`, which the types have, loses the name of the command in a pipeline. */
interface ScriptCommands {
  readonly evalsha: Evaluate
  readonly eval: Evaluate
  readonly evalshaBuffer: Evaluate
  readonly evalBuffer: Evaluate
}

/**
 * Runs `core/lua/<name>.lua`. The header of that file says what it does, takes and returns.
 * @throws the error that Redis returns, or a timeout of the connection
 */
export const runScript = <Name extends ScriptName>(
  redis: RedisClient,
  name: Name,
  keys: KeysOf<Name>,
  args: readonly Argument[],
): Promise<unknown> => evaluate(redis, 'evalsha', 'eval', name, keys, args)

/** The same, but the text itself is sent, so that it never takes a second round trip because the store does not have it. */
export const sendScript = <Name extends ScriptName>(
  redis: RedisClient,
  name: Name,
  keys: KeysOf<Name>,
  args: readonly Argument[],
): Promise<unknown> =>
  (redis as unknown as ScriptCommands).eval(LOADED[name].text, keys.length, ...keys, ...args)

/** The same, but strings in the reply are Buffers: for values that are not UTF-8. */
export const runScriptBuffer = <Name extends ScriptName>(
  redis: RedisClient,
  name: Name,
  keys: KeysOf<Name>,
  args: readonly Argument[],
): Promise<unknown> => evaluate(redis, 'evalshaBuffer', 'evalBuffer', name, keys, args)

async function evaluate(
  redis: RedisClient,
  bySha1: 'evalsha' | 'evalshaBuffer',
  byText: 'eval' | 'evalBuffer',
  name: ScriptName,
  keys: readonly string[],
  args: readonly Argument[],
): Promise<unknown> {
  const { text, sha1 } = LOADED[name]
  const commands = redis as unknown as ScriptCommands
  try {
    return await commands[bySha1](sha1, keys.length, ...keys, ...args)
  } catch (error) {
    if (!isUnknownScript(error)) throw error
    return await commands[byText](text, keys.length, ...keys, ...args)
  }
}

const isUnknownScript = (error: unknown): boolean =>
  error instanceof Error && error.message.startsWith('NOSCRIPT')
