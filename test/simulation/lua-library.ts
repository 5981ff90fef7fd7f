import { createHash } from 'node:crypto'

// What a script of the store finds: the operators and the functions of Lua 5.1 that the product's scripts use. Strings are
// sequences of bytes, one character each; nil is undefined.

/** A table: its places from 1 on, and all other keys. */
export class LuaTable {
  readonly list: unknown[]
  readonly named = new Map<unknown, unknown>()

  constructor(list: unknown[] = []) {
    this.list = list
  }
}

/** What JSON calls null is not nil. */
export const JSON_NULL = Symbol('cjson.null')

export class LuaError extends Error {
  readonly value: unknown

  constructor(value: unknown) {
    super(typeof value === 'string' ? value : 'an error that is no text')
    this.value = value
  }
}

type LuaFunction = (...args: unknown[]) => readonly unknown[]

const isTrue = (value: unknown): boolean => value !== undefined && value !== false

function toNumber(value: unknown): number | undefined {
  if (typeof value === 'number') return value
  if (typeof value !== 'string' || !/^\s*-?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?\s*$/i.test(value))
    return value === 'inf' || value === '+inf'
      ? Number.POSITIVE_INFINITY
      : value === '-inf'
        ? Number.NEGATIVE_INFINITY
        : undefined
  return Number(value)
}

function num(value: unknown): number {
  if (typeof value === 'number') return value
  const number = toNumber(value)
  if (number === undefined) throw new LuaError(`attempt to perform arithmetic on ${kindOf(value)}`)
  return number
}

const kindOf = (value: unknown): string =>
  value === undefined ? 'a nil value' : `a ${value instanceof LuaTable ? 'table' : typeof value}`

/** As `%.14g` writes it. */
export function numberText(value: number): string {
  if (Number.isInteger(value) && Math.abs(value) < 1e14) return String(value)
  const text = value.toPrecision(14)
  if (/e/.test(text) || Math.abs(value) >= 1e14)
    return value.toExponential(13).replace(/\.?0+e/, 'e')
  return text.replace(/\.?0+$/, '')
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  if (typeof value === 'number') return numberText(value)
  throw new LuaError(`attempt to use ${kindOf(value)} as a string`)
}

function get(table: unknown, key: unknown): unknown {
  if (!(table instanceof LuaTable)) throw new LuaError(`attempt to index ${kindOf(table)}`)
  if (typeof key === 'number' && key >= 1 && key <= table.list.length) return table.list[key - 1]
  return table.named.size === 0 ? undefined : table.named.get(key)
}

function set(table: unknown, key: unknown, value: unknown): void {
  if (!(table instanceof LuaTable)) throw new LuaError(`attempt to index ${kindOf(table)}`)
  const { list, named } = table
  if (typeof key === 'number' && key >= 1 && key <= list.length) {
    list[key - 1] = value
    while (list.length > 0 && list.at(-1) === undefined) list.pop()
  } else if (typeof key === 'number' && key === list.length + 1) {
    if (value !== undefined) list.push(value)
  } else if (value === undefined) named.delete(key)
  else named.set(key, value)
}

function len(value: unknown): number {
  if (typeof value === 'string') return value.length
  if (value instanceof LuaTable) return value.list.length
  throw new LuaError(`attempt to get the length of ${kindOf(value)}`)
}

function compare(left: unknown, right: unknown, holds: (l: any, r: any) => boolean): boolean {
  if (typeof left !== typeof right || (typeof left !== 'number' && typeof left !== 'string'))
    throw new LuaError(`attempt to compare ${kindOf(left)} with ${kindOf(right)}`)
  return holds(left, right)
}

function table(list: unknown[], named: readonly (readonly [unknown, unknown])[]): LuaTable {
  while (list.length > 0 && list.at(-1) === undefined) list.pop()
  const made = new LuaTable(list)
  for (const [key, value] of named) set(made, key, value)
  return made
}

const CLASSES: Readonly<Record<string, string>> = {
  S: '[^\\s]',
  s: '[\\s]',
  d: '[0-9]',
  w: '[0-9A-Za-z]',
  x: '[0-9a-fA-F]',
}
const patterns = new Map<string, RegExp>()

/** @throws for what the scripts do not use */
function regexOf(pattern: string): RegExp {
  const known = patterns.get(pattern)
  if (known !== undefined) return known
  let text = ''
  let inSet = false
  for (let i = 0; i < pattern.length; i++) {
    const char = pattern[i] ?? ''
    if (char === '%') {
      const next = pattern[++i] ?? ''
      const own = CLASSES[next]
      if (own === undefined && /[A-Za-z0-9]/.test(next)) throw new Error(`pattern ${pattern}`)
      text += own === undefined ? `\\${next}` : inSet ? own.slice(1, -1) : own
    } else if (inSet) {
      inSet = char !== ']'
      text += char === '\\' ? '\\\\' : char
    } else if (char === '[') {
      inSet = true
      text += char
    } else if (char === '-') text += '*?'
    else if (char === '.') text += '[^]'
    else if ('{}|\\/'.includes(char)) text += `\\${char}`
    else text += char
  }
  const regex = new RegExp(text, 'g')
  patterns.set(pattern, regex)
  return regex
}

function matches(text: string, pattern: string, from: number): (string | undefined)[] | null {
  const regex = regexOf(pattern)
  regex.lastIndex = from
  const found = regex.exec(text)
  if (found === null) return null
  return found.length === 1 ? [found[0]] : found.slice(1)
}

function format(pattern: string, args: readonly unknown[]): string {
  if (pattern === '%.0f') return num(args[0]).toFixed(0)
  let at = 0
  return pattern.replace(/%(0?)(\d*)(?:\.(\d+))?([dfs%])/g, (_all, zero, width, digits, kind) => {
    if (kind === '%') return '%'
    const value = args[at++]
    const text =
      kind === 's'
        ? textOf(value)
        : kind === 'd'
          ? String(Math.trunc(num(value)))
          : num(value).toFixed(Number(digits ?? 6))
    return text.padStart(Number(width), zero === '0' ? '0' : ' ')
  })
}

/** Bytes are read as they are; only the escape of a character beyond them becomes its UTF-8. */
function decodeJson(text: string): unknown {
  try {
    return fromJson(JSON.parse(text), text.includes('\\u'))
  } catch {
    throw new LuaError('Expected value but found invalid token')
  }
}

function fromJson(value: unknown, hasEscapes: boolean): unknown {
  if (value === null) return JSON_NULL
  if (typeof value === 'string' && hasEscapes)
    return value.replaceAll(/[\u{100}-\u{10ffff}]/gu, (char) =>
      Buffer.from(char, 'utf8').toString('latin1'),
    )
  if (typeof value !== 'object') return value
  if (Array.isArray(value)) return new LuaTable(value.map((one) => fromJson(one, hasEscapes)))
  const made = new LuaTable()
  for (const [key, one] of Object.entries(value)) made.named.set(key, fromJson(one, hasEscapes))
  return made
}

const ipairsNext: LuaFunction = (list, at) => {
  const next = (at as number) + 1
  const value = get(list, next)
  return value === undefined ? [undefined] : [next, value]
}

/** The operators, for the compiled code. */
const OPERATORS = {
  T: isTrue,
  num,
  neg: (value: unknown) => -num(value),
  cat: (left: unknown, right: unknown) => textOf(left) + textOf(right),
  get,
  set,
  len,
  lt: (left: unknown, right: unknown) => compare(left, right, (l, r) => l < r),
  le: (left: unknown, right: unknown) => compare(left, right, (l, r) => l <= r),
  table,
  call: (value: unknown) => value as LuaFunction,
}

const FUNCTIONS: Readonly<Record<string, LuaFunction>> = {
  ipairs: (list) => [ipairsNext, list, 0],
  pairs: (table) => {
    const { list, named } = table as LuaTable
    const entries = [...list.map((value, i) => [i + 1, value]), ...named]
    return [() => entries.shift() ?? [undefined]]
  },
  tonumber: (value) => [toNumber(value)],
  tostring: (value) => [typeof value === 'boolean' ? String(value) : textOf(value)],
  type: (value) => [
    value === undefined ? 'nil' : value instanceof LuaTable ? 'table' : typeof value,
  ],
  unpack: (list, from = 1, to) =>
    (list as LuaTable).list.slice(Number(from) - 1, to === undefined ? undefined : Number(to)),
  pcall: (run, ...args) => {
    try {
      return [true, ...(run as LuaFunction)(...args)]
    } catch (error) {
      if (error instanceof LuaError) return [false, error.value]
      throw error
    }
  },
  'math.floor': (value) => [Math.floor(num(value))],
  'math.ceil': (value) => [Math.ceil(num(value))],
  'math.min': (...values) => [Math.min(...values.map(num))],
  'math.max': (...values) => [Math.max(...values.map(num))],
  'string.sub': (text, from, to = -1) => {
    const { length } = textOf(text)
    const place = (at: number): number => (at < 0 ? Math.max(0, length + at + 1) : at)
    return [textOf(text).slice(Math.max(1, place(num(from))) - 1, place(num(to)))]
  },
  'string.lower': (text) => [textOf(text).replaceAll(/[A-Z]/g, (char) => char.toLowerCase())],
  'string.format': (pattern, ...args) => [format(textOf(pattern), args)],
  'string.match': (text, pattern) => matches(textOf(text), textOf(pattern), 0) ?? [undefined],
  'string.find': (text, wanted, from, isPlain) => {
    if (!isTrue(isPlain)) throw new Error('string.find with a pattern')
    const at = textOf(text).indexOf(textOf(wanted), num(from) - 1)
    return at < 0 ? [undefined] : [at + 1, at + textOf(wanted).length]
  },
  'string.gmatch': (text, pattern) => {
    let from = 0
    const regex = regexOf(textOf(pattern))
    return [
      () => {
        const found = matches(textOf(text), textOf(pattern), from)
        from = regex.lastIndex
        return found ?? [undefined]
      },
    ]
  },
  'string.gsub': (text, pattern, by, most) => {
    let left = most === undefined ? Number.POSITIVE_INFINITY : num(most)
    const done = textOf(text).replaceAll(regexOf(textOf(pattern)), (all, ...rest: unknown[]) => {
      if (left-- <= 0) return all
      // After the captures come the place and the whole text.
      const captures = rest.length > 2 ? rest.slice(0, -2) : [all]
      const value =
        by instanceof LuaTable
          ? get(by, captures[0])
          : typeof by === 'function'
            ? (by as LuaFunction)(...captures)[0]
            : by
      return isTrue(value) ? textOf(value) : all
    })
    return [done]
  },
  'table.concat': (list, by = '') => [(list as LuaTable).list.map(textOf).join(textOf(by))],
  'cjson.decode': (text) => [decodeJson(textOf(text))],
  'cjson.encode': (value) => {
    if (value === JSON_NULL) return ['null']
    if (typeof value === 'number' || typeof value === 'boolean') return [String(value)]
    if (typeof value !== 'string') throw new Error('cjson.encode is modelled for single values')
    return [JSON.stringify(value).replaceAll('/', '\\/').replaceAll('\u007f', '\\u007f')]
  },
  'redis.sha1hex': (text) => [
    createHash('sha1')
      .update(Buffer.from(textOf(text), 'latin1'))
      .digest('hex'),
  ],
  /** The store replaces it. */
  'redis.call': () => {
    throw new Error('no store')
  },
}

const CONSTANTS = { 'cjson.null': JSON_NULL }

/** All that a script may name, besides KEYS and ARGV. */
export const LIBRARY: Readonly<Record<string, unknown>> = { ...FUNCTIONS, ...CONSTANTS }

export type LuaLibrary = typeof OPERATORS & Readonly<Record<string, unknown>>

/** For one store; keys and arguments are set before each run. */
export const libraryFor = (
  redisCall: LuaFunction,
): LuaLibrary & { KEYS: LuaTable; ARGV: LuaTable } => ({
  ...OPERATORS,
  ...FUNCTIONS,
  ...CONSTANTS,
  'redis.call': redisCall,
  KEYS: new LuaTable(),
  ARGV: new LuaTable(),
})
