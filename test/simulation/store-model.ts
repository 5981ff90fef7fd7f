import { createHash } from 'node:crypto'
import { compileLua, type CompiledLua } from './compile-lua.ts'
import { libraryFor, LuaTable, numberText } from './lua-library.ts'
import { SortedSet } from './sorted-set.ts'

/** A reply: a number, a text of bytes, nothing, a status or a list. */
export type Reply = number | string | null | Status | readonly Reply[]

export class Status {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}
const OK = new Status('OK')

export class ReplyError extends Error {
  override readonly name = 'ReplyError'
}

interface Stream {
  rows: (readonly [id: string, fields: readonly string[]])[]
  last: readonly [ms: number, number: number]
}

type Value =
  | string
  | Map<string, string>
  | SortedSet
  | Set<string>
  | string[]
  | { readonly stream: Stream }

interface Entry {
  value: Value
  expires_ms: number | null
}

/** What a restart or another node has of a store. */
export type StoreContent = ReadonlyMap<string, Entry>

type Arguments = readonly string[]

/** Commands that need no memory, and those that only read. A store that is full refuses the others. */
const RUN_WHEN_FULL =
  /^(H?DEL|UNLINK|Z?REM|ZREM|SREM|X?DEL|XTRIM|LTRIM|P?EXPIRE(AT)?|ZREMRANGEBY(RANK|SCORE)|ZPOPMIN|PUBLISH|EVAL|EVALSHA|CONFIG|FLUSHALL|TIME|PING|INFO|WAIT)$/
const READS =
  /^(H?GET|H?EXISTS|HMGET|HGETALL|HVALS|HKEYS|H?LEN|HSTRLEN|Z(CARD|M?SCORE|RANGE|RANGEBYSCORE|REVRANGE)|X(RANGE|REVRANGE|LEN|INFO|READ)|L(LEN|INDEX|RANGE)|SMEMBERS|KEYS|P?TTL|MEMORY|MGET|SCAN)$/
const FULL = "OOM command not allowed when used memory > 'maxmemory'."

/**
 * The part of Redis that the product uses, in memory and without any IO. It passes the same tests of the product's scripts as the
 * real store (`test/unit/store-model.test.ts`). A command that is not modelled fails.
 */
export class StoreModel {
  /** Microseconds of its clock. */
  readonly #nowUs: () => number
  readonly #publish: (channel: string, text: string) => number
  #content = new Map<string, Entry>()
  readonly #scripts = new Map<string, { readonly run: CompiledLua; readonly when_full: boolean }>()
  #isFull = false
  #isScriptWhenFull = false
  readonly #library = libraryFor((...args) => this.#callFromScript(args))
  /** Runs of scripts so far. */
  runs = 0
  restarts = 0
  readonly replicas = { connected: 0, acknowledged: 0 }

  constructor(nowUs: () => number, publish: (channel: string, text: string) => number) {
    this.#nowUs = nowUs
    this.#publish = publish
  }

  get #nowMs(): number {
    return Math.floor(this.#nowUs() / 1000)
  }

  /** @throws ReplyError */
  run(name: string, args: Arguments): Reply {
    const command = COMMANDS[name]
    if (command === undefined) throw new Error(`the model of the store has no ${name}`)
    if (this.#isFull && !this.#isScriptWhenFull && !READS.test(name) && !RUN_WHEN_FULL.test(name))
      throw new ReplyError(FULL)
    return command(this, args)
  }

  content(): StoreContent {
    return new Map([...this.#content].map(([key, entry]) => [key, copyOf(entry)]))
  }

  /** What another node has, or what was on the disk. Scripts are not part of it. */
  replace(content: StoreContent): void {
    this.#content = new Map([...content].map(([key, entry]) => [key, copyOf(entry)]))
    this.#scripts.clear()
    this.restarts++
  }

  #callFromScript(args: readonly unknown[]): readonly unknown[] {
    const [name = '', ...rest] = args.map((one) =>
      typeof one === 'number' ? redisNumber(one) : String(one),
    )
    return [toLua(this.run(name, rest))]
  }

  evaluate(text: string, sha1: string, keys: Arguments, args: Arguments): Reply {
    let script = this.#scripts.get(sha1)
    if (script === undefined) {
      script = compiled(text, sha1)
      this.#scripts.set(sha1, script)
    }
    return this.#evaluate(script, keys, args)
  }

  evaluateKnown(sha1: string, keys: Arguments, args: Arguments): Reply {
    const script = this.#scripts.get(sha1)
    if (script === undefined) throw new ReplyError('NOSCRIPT No matching script.')
    return this.#evaluate(script, keys, args)
  }

  #evaluate(
    { run, when_full }: { readonly run: CompiledLua; readonly when_full: boolean },
    keys: Arguments,
    args: Arguments,
  ): Reply {
    this.runs++
    this.#library.KEYS = new LuaTable([...keys])
    this.#library.ARGV = new LuaTable([...args])
    this.#isScriptWhenFull = when_full
    try {
      return fromLua(run(this.#library)[0])
    } finally {
      this.#isScriptWhenFull = false
    }
  }

  // What the commands are made of.

  nowUs(): number {
    return this.#nowUs()
  }

  publish(channel: string, text: string): number {
    return this.#publish(channel, text)
  }

  setFull(isFull: boolean): void {
    this.#isFull = isFull
  }

  flush(): void {
    this.#content.clear()
  }

  keys(): string[] {
    return [...this.#content.keys()].filter((key) => this.#find(key) !== undefined)
  }

  #find(key: string): Entry | undefined {
    const entry = this.#content.get(key)
    if (entry === undefined) return undefined
    if (entry.expires_ms === null || entry.expires_ms > this.#nowMs) return entry
    this.#content.delete(key)
    return undefined
  }

  /** @throws ReplyError if the key holds something else */
  read<T extends Value>(key: string, is: (value: Value) => value is T): T | undefined {
    const value = this.#find(key)?.value
    if (value === undefined) return undefined
    if (!is(value)) throw new ReplyError('WRONGTYPE Operation against a key holding another kind')
    return value
  }

  /** The value of a key, made if it is not there. What is left empty must be removed. */
  open<T extends Value>(key: string, is: (value: Value) => value is T, make: () => T): T {
    const known = this.read(key, is)
    if (known !== undefined) return known
    const value = make()
    this.#content.set(key, { value, expires_ms: null })
    return value
  }

  write(key: string, value: Value, expires_ms: number | null = null): void {
    this.#content.set(key, { value, expires_ms })
  }

  remove(key: string): boolean {
    return this.#find(key) !== undefined && this.#content.delete(key)
  }

  exists(key: string): boolean {
    return this.#find(key) !== undefined
  }

  expire(key: string, ms: number): number {
    const entry = this.#find(key)
    if (entry === undefined) return 0
    if (ms <= 0) this.#content.delete(key)
    else entry.expires_ms = this.#nowMs + ms
    return 1
  }

  expiresIn(key: string): number {
    const entry = this.#find(key)
    if (entry === undefined) return -2
    return entry.expires_ms === null ? -1 : entry.expires_ms - this.#nowMs
  }
}

const digests = new Map<string, string>()

function sha1Of(text: string): string {
  const known = digests.get(text)
  if (known !== undefined) return known
  const sha1 = createHash('sha1').update(Buffer.from(text, 'latin1')).digest('hex')
  digests.set(text, sha1)
  return sha1
}

const scriptCache = new Map<string, { readonly run: CompiledLua; readonly when_full: boolean }>()

function compiled(text: string, sha1: string) {
  const known = scriptCache.get(sha1)
  if (known !== undefined) return known
  const when_full = /^#!lua .*\ballow-oom\b/.test(text)
  const script = { run: compileLua(text), when_full }
  scriptCache.set(sha1, script)
  return script
}

function copyOf({ value, expires_ms }: Entry): Entry {
  if (typeof value === 'string') return { value, expires_ms }
  if (value instanceof Map) return { value: new Map(value), expires_ms }
  if (value instanceof SortedSet) return { value: new SortedSet(value.entries()), expires_ms }
  if (value instanceof Set) return { value: new Set(value), expires_ms }
  if (Array.isArray(value)) return { value: [...value], expires_ms }
  const { rows, last } = value.stream
  return { value: { stream: { rows: [...rows], last } }, expires_ms }
}

/** As a script gives a number to a command. */
const redisNumber = (value: number): string =>
  Number.isSafeInteger(value)
    ? String(value)
    : Number.isInteger(value)
      ? String(BigInt(value))
      : String(Number(value.toPrecision(17)))

function toLua(reply: Reply): unknown {
  if (reply === null) return false
  if (reply instanceof Status) {
    const status = new LuaTable()
    status.named.set('ok', reply.text)
    return status
  }
  return Array.isArray(reply) ? new LuaTable(reply.map(toLua)) : reply
}

function fromLua(value: unknown): Reply {
  if (value === undefined || value === false) return null
  if (value === true) return 1
  if (typeof value === 'number') return Math.trunc(value)
  if (typeof value === 'string') return value
  if (!(value instanceof LuaTable)) throw new Error('a script returned what is no reply')
  if (value.named.has('err')) throw new ReplyError(String(value.named.get('err')))
  if (value.named.has('ok')) return new Status(String(value.named.get('ok')))
  const replies: Reply[] = []
  for (const one of value.list) {
    if (one === undefined) break
    replies.push(fromLua(one))
  }
  return replies
}

const isText = (value: Value): value is string => typeof value === 'string'
const isHash = (value: Value): value is Map<string, string> => value instanceof Map
const isSorted = (value: Value): value is SortedSet => value instanceof SortedSet
const isSet = (value: Value): value is Set<string> => value instanceof Set
const isList = (value: Value): value is string[] => Array.isArray(value)
const isStream = (value: Value): value is { readonly stream: Stream } =>
  typeof value === 'object' && 'stream' in value

const emptyHash = (): Map<string, string> => new Map()
const emptySorted = (): SortedSet => new SortedSet()
const emptyStream = (): { readonly stream: Stream } => ({ stream: { rows: [], last: [0, 0] } })

const toInteger = (text: string | undefined): number => {
  const value = Number(text)
  if (text === undefined || text === '' || !Number.isFinite(value))
    throw new ReplyError('ERR value is not an integer or out of range')
  return value
}

/** Scores are told as the shortest text that reads back as the same number. */
const scoreText = (score: number): string =>
  Math.abs(score) < 1e21 ? String(score) : numberText(score)

/** A bound of a range of scores. */
function bound(text: string, isLower: boolean): (score: number) => boolean {
  if (text === '-inf' || text === '+inf' || text === 'inf')
    return () => (text === '-inf') === isLower
  const isOpen = text.startsWith('(')
  const value = toInteger(isOpen ? text.slice(1) : text)
  if (isLower) return (score) => (isOpen ? score > value : score >= value)
  return (score) => (isOpen ? score < value : score <= value)
}

function slice<T>(list: readonly T[], from: number, to: number): readonly T[] {
  const { length } = list
  const place = (at: number): number => (at < 0 ? length + at : at)
  return list.slice(Math.max(0, place(from)), place(to) + 1)
}

const withScores = (set: SortedSet, members: readonly string[], isWanted: boolean): string[] =>
  isWanted ? members.flatMap((member) => [member, scoreText(set.score(member) ?? 0)]) : [...members]

function byScore(store: StoreModel, [key = '', min = '', max = '', ...rest]: Arguments): string[] {
  const set = store.read(key, isSorted)
  if (set === undefined) return []
  const [isAbove, isBelow] = [bound(min, true), bound(max, false)]
  const all = set.sorted.filter((member) => {
    const score = set.score(member) ?? 0
    return isAbove(score) && isBelow(score)
  })
  const limit = rest.findIndex((word) => word.toUpperCase() === 'LIMIT')
  const [from, count] =
    limit < 0 ? [0, -1] : [toInteger(rest[limit + 1]), toInteger(rest[limit + 2])]
  const members = all.slice(from, count < 0 ? undefined : from + count)
  return withScores(
    set,
    members,
    rest.some((word) => word.toUpperCase() === 'WITHSCORES'),
  )
}

type Place = readonly [ms: number, number: number]
const placeOf = (id: string, missing: number): Place => {
  const [ms = '0', number] = id.split('-')
  return [Number(ms), number === undefined ? missing : Number(number)]
}
const comparePlaces = (a: Place, b: Place): number => a[0] - b[0] || a[1] - b[1]

function rowsBetween(
  store: StoreModel,
  key: string,
  from: string,
  to: string,
  { most = Number.POSITIVE_INFINITY, isFromEnd = false } = {},
): (readonly [string, readonly string[]])[] {
  const found = store.read(key, isStream)
  if (found === undefined) return []
  const [lower, upper] = [from.replace('(', ''), to.replace('(', '')]
  const first: Place = lower === '-' ? [0, 0] : placeOf(lower, 0)
  const last: Place =
    upper === '+' ? [Infinity, Infinity] : placeOf(upper, Number.POSITIVE_INFINITY)
  const { rows } = found.stream
  const begin = firstAfter(rows, first, from.startsWith('('))
  const end = Math.max(begin, firstAfter(rows, last, !to.startsWith('(')))
  return isFromEnd
    ? rows.slice(Math.max(begin, end - most), end).toReversed()
    : rows.slice(begin, Math.min(end, begin + most))
}

/** The number of the first row at a place or after it. */
function firstAfter(rows: Stream['rows'], place: Place, isPassed: boolean): number {
  let [low, high] = [0, rows.length]
  while (low < high) {
    const middle = (low + high) >> 1
    const order = comparePlaces(placeOf(rows[middle]?.[0] ?? '', 0), place)
    if (order < 0 || (isPassed && order === 0)) low = middle + 1
    else high = middle
  }
  return low
}

const mostOf = ([word, count]: Arguments): number =>
  word === undefined ? Number.POSITIVE_INFINITY : toInteger(count)

function pairsOf(words: Arguments): (readonly [string, string])[] {
  const pairs: (readonly [string, string])[] = []
  for (let i = 0; i + 1 < words.length; i += 2) pairs.push([words[i] ?? '', words[i + 1] ?? ''])
  return pairs
}

const COMMANDS: Readonly<Record<string, (store: StoreModel, args: Arguments) => Reply>> = {
  PING: () => new Status('PONG'),
  TIME: (store) => {
    const us = Math.floor(store.nowUs())
    return [String(Math.floor(us / 1_000_000)), String(us % 1_000_000)]
  },
  INFO: ({ replicas, runs, restarts }) =>
    `run_id:${restarts.toString(16).padStart(40, '0')}\r\nconnected_slaves:${replicas.connected}\r\ncmdstat_evalsha:calls=${runs}\r\n`,
  WAIT: ({ replicas }) => replicas.acknowledged,
  CONFIG: (store, [, name, value]) => {
    if (name === 'maxmemory') store.setFull(value !== '0')
    return OK
  },
  FLUSHALL: (store) => {
    store.flush()
    return OK
  },
  PUBLISH: (store, [channel = '', text = '']) => store.publish(channel, text),
  EVAL: (store, [text = '', count, ...rest]) => {
    const keys = toInteger(count)
    const sha1 = sha1Of(text)
    return store.evaluate(text, sha1, rest.slice(0, keys), rest.slice(keys))
  },
  EVALSHA: (store, [sha1 = '', count, ...rest]) => {
    const keys = toInteger(count)
    return store.evaluateKnown(sha1, rest.slice(0, keys), rest.slice(keys))
  },

  KEYS: (store, [pattern]) => {
    if (pattern !== '*') throw new Error('KEYS is modelled for * alone')
    return store.keys()
  },
  EXISTS: (store, keys) => keys.filter((key) => store.exists(key)).length,
  DEL: (store, keys) => keys.filter((key) => store.remove(key)).length,
  UNLINK: (store, keys) => keys.filter((key) => store.remove(key)).length,
  EXPIRE: (store, [key = '', seconds]) => store.expire(key, toInteger(seconds) * 1000),
  PEXPIRE: (store, [key = '', ms]) => store.expire(key, toInteger(ms)),
  PTTL: (store, [key = '']) => store.expiresIn(key),
  TTL: (store, [key = '']) => {
    const ms = store.expiresIn(key)
    return ms < 0 ? ms : Math.round(ms / 1000)
  },
  MEMORY: (store, [, key = '']) => (store.exists(key) ? 1000 : null),

  GET: (store, [key = '']) => store.read(key, isText) ?? null,
  MGET: (store, keys) => keys.map((key) => store.read(key, isText) ?? null),
  SET: (store, [key = '', value = '', ...options]) => {
    const words = options.map((word) => word.toUpperCase())
    if (words.includes('NX') && store.exists(key)) return null
    if (words.includes('XX') && !store.exists(key)) return null
    const at = words.indexOf('PX')
    const ms = at < 0 ? words.indexOf('EX') : at
    const unit = at < 0 ? 1000 : 1
    const now_ms = Math.floor(store.nowUs() / 1000)
    store.write(key, value, ms < 0 ? null : now_ms + toInteger(words[ms + 1]) * unit)
    return OK
  },
  SETRANGE: (store, [key = '', , value]) => {
    if (value !== '') throw new Error('SETRANGE is modelled for an empty text')
    return (store.read(key, isText) ?? '').length
  },
  INCR: (store, [key = '']) => {
    const next = toInteger(store.read(key, isText) ?? '0') + 1
    store.write(key, String(next))
    return next
  },

  HGET: (store, [key = '', field = '']) => store.read(key, isHash)?.get(field) ?? null,
  HMGET: (store, [key = '', ...fields]) => {
    const hash = store.read(key, isHash)
    return fields.map((field) => hash?.get(field) ?? null)
  },
  HGETALL: (store, [key = '']) => [...(store.read(key, isHash) ?? [])].flat(),
  HKEYS: (store, [key = '']) => [...(store.read(key, isHash)?.keys() ?? [])],
  HVALS: (store, [key = '']) => [...(store.read(key, isHash)?.values() ?? [])],
  HLEN: (store, [key = '']) => store.read(key, isHash)?.size ?? 0,
  HEXISTS: (store, [key = '', field = '']) => (store.read(key, isHash)?.has(field) ? 1 : 0),
  HSTRLEN: (store, [key = '', field = '']) => store.read(key, isHash)?.get(field)?.length ?? 0,
  HSET: (store, [key = '', ...words]) => {
    const hash = store.open(key, isHash, emptyHash)
    const before = hash.size
    for (const [field, value] of pairsOf(words)) hash.set(field, value)
    return hash.size - before
  },
  HSETNX: (store, [key = '', field = '', value = '']) => {
    const hash = store.open(key, isHash, emptyHash)
    if (hash.has(field)) return 0
    hash.set(field, value)
    return 1
  },
  HINCRBY: (store, [key = '', field = '', by]) => {
    const hash = store.open(key, isHash, emptyHash)
    const next = toInteger(hash.get(field) ?? '0') + toInteger(by)
    hash.set(field, String(next))
    return next
  },
  HDEL: (store, [key = '', ...fields]) => {
    const hash = store.read(key, isHash)
    if (hash === undefined) return 0
    const count = fields.filter((field) => hash.delete(field)).length
    if (hash.size === 0) store.remove(key)
    return count
  },

  ZADD: (store, [key = '', ...words]) => {
    const set = store.open(key, isSorted, emptySorted)
    return pairsOf(words).filter(([score, member]) => set.add(member, toInteger(score))).length
  },
  ZINCRBY: (store, [key = '', by, member = '']) => {
    const set = store.open(key, isSorted, emptySorted)
    const score = (set.score(member) ?? 0) + toInteger(by)
    set.add(member, score)
    return scoreText(score)
  },
  ZREM: (store, [key = '', ...members]) => {
    const set = store.read(key, isSorted)
    if (set === undefined) return 0
    const count = members.filter((member) => set.remove(member)).length
    if (set.size === 0) store.remove(key)
    return count
  },
  ZSCORE: (store, [key = '', member = '']) => {
    const score = store.read(key, isSorted)?.score(member)
    return score === undefined ? null : scoreText(score)
  },
  ZMSCORE: (store, [key = '', ...members]) => {
    const set = store.read(key, isSorted)
    return members.map((member) => {
      const score = set?.score(member)
      return score === undefined ? null : scoreText(score)
    })
  },
  ZREMRANGEBYSCORE: (store, [key = '', min = '', max = '']) => {
    const members = byScore(store, [key, min, max])
    const set = store.read(key, isSorted)
    for (const member of members) set?.remove(member)
    if (set?.size === 0) store.remove(key)
    return members.length
  },
  PEXPIREAT: (store, [key = '', at_ms]) =>
    store.expire(key, toInteger(at_ms) - Math.floor(store.nowUs() / 1000)),
  ZCARD: (store, [key = '']) => store.read(key, isSorted)?.size ?? 0,
  ZRANGE: (store, [key = '', from, to, word]) => {
    const set = store.read(key, isSorted)
    if (set === undefined) return []
    const members = slice(set.sorted, toInteger(from), toInteger(to))
    return withScores(set, members, word?.toUpperCase() === 'WITHSCORES')
  },
  ZRANGEBYSCORE: (store, args) => byScore(store, args),
  ZREMRANGEBYRANK: (store, [key = '', from, to]) => {
    const set = store.read(key, isSorted)
    if (set === undefined) return 0
    const members = slice(set.sorted, toInteger(from), toInteger(to))
    for (const member of members) set.remove(member)
    if (set.size === 0) store.remove(key)
    return members.length
  },
  ZPOPMIN: (store, [key = '']) => {
    const set = store.read(key, isSorted)
    const [member] = set?.sorted ?? []
    if (set === undefined || member === undefined) return []
    const popped = withScores(set, [member], true)
    set.remove(member)
    if (set.size === 0) store.remove(key)
    return popped
  },

  SADD: (store, [key = '', ...members]) => {
    const set = store.open(key, isSet, () => new Set<string>())
    const before = set.size
    for (const member of members) set.add(member)
    return set.size - before
  },
  SREM: (store, [key = '', ...members]) => {
    const set = store.read(key, isSet)
    if (set === undefined) return 0
    const count = members.filter((member) => set.delete(member)).length
    if (set.size === 0) store.remove(key)
    return count
  },
  SMEMBERS: (store, [key = '']) => [...(store.read(key, isSet) ?? [])],

  LPUSH: (store, [key = '', ...values]) =>
    store.open(key, isList, () => []).unshift(...values.toReversed()),
  RPUSH: (store, [key = '', ...values]) => store.open(key, isList, () => []).push(...values),
  LRANGE: (store, [key = '', from, to]) =>
    slice(store.read(key, isList) ?? [], toInteger(from), toInteger(to)),
  LLEN: (store, [key = '']) => store.read(key, isList)?.length ?? 0,
  LINDEX: (store, [key = '', at]) => store.read(key, isList)?.at(toInteger(at)) ?? null,
  LSET: (store, [key = '', at, value = '']) => {
    store.read(key, isList)?.splice(toInteger(at), 1, value)
    return OK
  },
  LTRIM: (store, [key = '', from, to]) => {
    const kept = slice(store.read(key, isList) ?? [], toInteger(from), toInteger(to))
    if (kept.length === 0) store.remove(key)
    else store.read(key, isList)?.splice(0, Number.POSITIVE_INFINITY, ...kept)
    return OK
  },

  XADD: (store, [key = '', ...words]) => {
    let at = 0
    let most = Number.POSITIVE_INFINITY
    if (words[0]?.toUpperCase() === 'MAXLEN') {
      at = words[1] === '~' || words[1] === '=' ? 3 : 2
      // Trimmed roughly, a stream loses whole nodes only.
      if (words[1] !== '~') most = toInteger(words[at - 1])
    }
    const { stream } = store.open(key, isStream, emptyStream)
    const wanted = words[at] ?? '*'
    const now: Place = [Math.floor(store.nowUs() / 1000), 0]
    const [last_ms, last_number] = stream.last
    if (wanted === '*') stream.last = now[0] > last_ms ? now : [last_ms, last_number + 1]
    else if (wanted.endsWith('-*'))
      stream.last = placeOf(
        wanted.slice(0, -2),
        wanted.startsWith(`${last_ms}-`) ? last_number + 1 : 0,
      )
    else stream.last = placeOf(wanted, 0)
    const id = stream.last.join('-')
    stream.rows.push([id, words.slice(at + 1)])
    if (stream.rows.length > most) stream.rows.splice(0, stream.rows.length - most)
    return id
  },
  XINFO: (store, [, key = '']) => {
    const stream = store.read(key, isStream)?.stream
    if (stream === undefined) throw new ReplyError('ERR no such key')
    const { rows, last } = stream
    const all = [
      'length',
      rows.length,
      'last-generated-id',
      last.join('-'),
      'entries-added',
      rows.length,
    ]
    return [...all, 'first-entry', rows[0] ?? null]
  },
  XLEN: (store, [key = '']) => store.read(key, isStream)?.stream.rows.length ?? 0,
  XRANGE: (store, [key = '', from = '', to = '', ...rest]) =>
    rowsBetween(store, key, from, to, { most: mostOf(rest) }),
  XREVRANGE: (store, [key = '', to = '', from = '', ...rest]) =>
    rowsBetween(store, key, from, to, { most: mostOf(rest), isFromEnd: true }),
  XDEL: (store, [key = '', ...ids]) => {
    const stream = store.read(key, isStream)?.stream
    if (stream === undefined) return 0
    const before = stream.rows.length
    stream.rows = stream.rows.filter(([id]) => !ids.includes(id))
    return before - stream.rows.length
  },
  XTRIM: () => 0,
  /** Without waiting: the connection waits. */
  XREAD: (store, words) => {
    const at = words.indexOf('STREAMS')
    const [key = '', after = ''] = words.slice(at + 1)
    const rows = rowsBetween(store, key, `(${after}`, '+', { most: 1 })
    return rows.length === 0 ? null : [[key, rows]]
  },
}
