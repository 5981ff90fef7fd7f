import { deflateRawSync } from 'node:zlib'
import { timeOfActivityId } from './activity-id.ts'
import type { ActivityEntry } from './activity-entry.ts'
import { indexName, INDEXED_MEMBERS, type IndexedMember } from './activity-index.ts'
import { type AllowedLine, readAllowedLine } from './allowed-line.ts'
import { BLOCK_DICTIONARY } from './block-dictionary.ts'
import { requestHash } from './request-hash.ts'

/** The first byte of a block: raw DEFLATE with the dictionary of core/activity/block-dictionary.ts. */
export const BLOCK_FORM = 1
/**
 * This many entries are about 8 kB, roughly the size of one node of a stream in the store. Larger blocks save little and make
 * each lookup of an entry more expensive.
 */
export const BLOCK_ENTRIES_MAX = 64
/** Further entries go to another block, so that a row of the log stays small whatever paths agents request. */
export const BLOCK_CHARACTERS_MAX = 131_072
/** Maximum size of what a block expands to. */
export const BLOCK_BYTES_MAX = BLOCK_ENTRIES_MAX * 65_536
/** As fast as level 1 for such texts, with a tenth less output. */
const LEVEL = 3
/** Half of the default for the hash table, which is allocated and cleared for each block: a tenth less time, and the same output. */
const MEM_LEVEL = 7

/** Of an id of Envoy: 48 random bits. */
const ID_END = 12

/** A block in the form that core/lua/record-blocks.lua expects. */
export interface PackedBlock {
  readonly count: number
  /** `<count> <oldest> <newest>`: the times, in ms, at which its entries were made. */
  readonly head: string
  /**
   * `<count>:<name>` of each index that contains entries of the block, separated by tabs; after a line feed
   * `<count> <minute> <positions of its names in that list>` of the entries that share all of them, separated by tabs.
   */
  readonly names: string
  /** The hashes of the request ids. */
  readonly requests: string
  /** The ends of the request ids, with blanks between them; see core/lua/include/once-per-call.lua. */
  readonly ids: string
  readonly block: Buffer
}

/** Compresses entries, and computes what the indexes need, so that the block need not be expanded for them. */
export function packBlock(texts: readonly string[]): PackedBlock {
  const { alike, requests, ids, oldest_ms, newest_ms } = digestOf(texts)
  const counts = new Map<string, number>()
  for (const { count, names } of alike)
    for (const name of names) counts.set(name, (counts.get(name) ?? 0) + count)
  const compressed = deflateRawSync(Buffer.from(texts.join('\n'), 'utf8'), {
    level: LEVEL,
    memLevel: MEM_LEVEL,
    dictionary: BLOCK_DICTIONARY,
  })
  return {
    count: texts.length,
    head: `${texts.length} ${oldest_ms} ${newest_ms}`,
    names: `${[...counts].map(([name, count]) => `${count}:${name}`).join('\t')}\n${writeAlike([...counts.keys()], alike)}`,
    requests,
    ids,
    block: Buffer.concat([Buffer.of(BLOCK_FORM), compressed]),
  }
}

/** Entries that share their minute and all indexed members. */
interface Alike {
  count: number
  readonly minute: string
  readonly names: readonly string[]
}

function digestOf(texts: readonly string[]): {
  readonly alike: readonly Alike[]
  readonly requests: string
  readonly ids: string
  readonly oldest_ms: number
  readonly newest_ms: number
} {
  const allowed = new Map<string, Alike>()
  const others = new Map<string, Alike>()
  let requests = ''
  let ids = ''
  let oldest_ms = Infinity
  let newest_ms = 0
  for (const text of texts) {
    const line = readAllowedLine(text)
    if (line === null) countOther(others, text)
    else countAllowed(allowed, line, isForwarded(text, line.length))
    const request_id = line === null ? memberOf(text, 'request_id') : line.request_id
    if (request_id !== null) {
      requests += requestHash(request_id)
      ids += ` ${request_id.slice(-ID_END)}`
    }
    const made_ms = timeOfActivityId(line?.id ?? memberOf(text, 'id') ?? '') ?? 0
    oldest_ms = Math.min(oldest_ms, made_ms)
    newest_ms = Math.max(newest_ms, made_ms)
  }
  return { alike: [...allowed.values(), ...others.values()], requests, ids, oldest_ms, newest_ms }
}

function countAllowed(alike: Map<string, Alike>, line: AllowedLine, is_forwarded: boolean): void {
  const { timestamp, agent_id, integration_id } = line
  const minute = timestamp.slice(0, MINUTE_LENGTH)
  const key = `${minute}\t${agent_id}\t${integration_id}${is_forwarded ? '\tforward' : ''}`
  const same = alike.get(key)
  if (same !== undefined) {
    same.count++
    return
  }
  const members = {
    event: 'request_allowed',
    agent_id,
    integration_id,
    decision: 'allowed',
    reason: null,
    via: is_forwarded ? 'forward' : null,
  }
  alike.set(key, { count: 1, minute, names: namesOf((member) => members[member]) })
}

function countOther(alike: Map<string, Alike>, text: string): void {
  const minute = memberOf(text, 'timestamp')?.slice(0, MINUTE_LENGTH) ?? ''
  const names = namesOf((member) =>
    member === 'via' ? (isForwarded(text, 0) ? 'forward' : null) : memberOf(text, member),
  )
  const key = `${minute}\t${names.join('\t')}`
  const same = alike.get(key)
  if (same === undefined) alike.set(key, { count: 1, minute, names })
  else same.count++
}

const MEMBERS = Object.keys(INDEXED_MEMBERS) as readonly IndexedMember[]

const namesOf = (valueOf: (member: IndexedMember) => string | null): readonly string[] =>
  MEMBERS.flatMap((member) => {
    const value = valueOf(member)
    const name = value === null ? '' : indexName(member, value)
    return name !== '' && fitsList(name) ? [name] : []
  })

/** `2026-01-31T12:00` */
const MINUTE_LENGTH = 16

const writeAlike = (names: readonly string[], alike: readonly Alike[]): string => {
  const positions = new Map(names.map((name, at) => [name, at]))
  return alike
    .map(({ count, minute, names: own }) =>
      [count, minute || '-', ...own.map((name) => positions.get(name))].join(' '),
    )
    .join('\t')
}

/**
 * Whether the call came through the forward proxy: an edge writes that first into `data`. No text before `data` has an unescaped
 * quote, so from any position before it the first match is `data` itself.
 */
function isForwarded(text: string, from: number): boolean {
  const at = text.indexOf(DATA, from)
  return at >= 0 && text.startsWith('"via":"forward"', at + DATA.length)
}

const DATA = '"data":{'

/** The list is separated by tabs and line breaks. */
const fitsList = (name: string): boolean => !/[\t\n]/.test(name)

/**
 * The value of a member of an entry; null if it is absent or not a string. `data` is the last member of an entry, and strings
 * have no unescaped quotes, so the first match before `data` is the member of the entry itself. Parsing each entry took longer than
 * compressing it.
 */
function memberOf(
  text: string,
  member: Exclude<IndexedMember, 'via'> | 'id' | 'request_id' | 'timestamp',
): string | null {
  const opening = `"${member}":"`
  const at = text.indexOf(opening)
  if (at < 0 || text.lastIndexOf('"data":{', at) >= 0) return null
  const begin = at + opening.length
  const end = text.indexOf('"', begin)
  const value = text.slice(begin, end)
  if (!value.includes('\\')) return value
  return (JSON.parse(text) as ActivityEntry)[member]
}
