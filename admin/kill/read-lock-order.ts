import {
  LOCK_MODES,
  LOCK_TARGETS,
  type LockMode,
  type LockTarget,
} from '../../core/catalogue/model.ts'
import { readString, skipStart } from '../../core/request/json-lexis.ts'
import { skipValue, walkMembers } from '../../core/request/walk-json.ts'
import { checkInput } from '../http/check-input.ts'
import type { Issue } from '../http/outcome.ts'
import { readTime } from '../http/read-time.ts'
import { readReason } from './read-reason.ts'
import { checkSelector, completeSelector } from '../labels/check-labels.ts'
import { SelectorSchema } from '../labels/label-schemas.ts'

export const MESSAGE_LENGTH_LIMIT = 500
export const REFERENCE_LENGTH_LIMIT = 200
/** Members that are named because they were ignored. */
const IGNORED_MAX = 20
const NAME_LENGTH_LIMIT = 100
const ID_LENGTH_LIMIT = 1_200
/** Of a body that is not JSON; each is read to its end. */
const TARGETS_MAX = 8
const OPEN_OBJECT = 0x7b

export interface LockWishes {
  readonly target: LockTarget
  readonly mode: LockMode
  readonly message: string | null
  readonly reference: string | null
  readonly expires_at: string | null
  /** Members that were not understood. */
  readonly ignored: readonly string[]
}

/** A member and its JSON. */
type Pair = readonly [name: string, text: string]
type Members = Readonly<Record<string, unknown>>

/**
 * Reads a lock from any body. It must name exactly one target. Nothing else makes it fail: an unknown mode is `deny`, an end that
 * cannot be read, or has passed, is none, and of a body that is not JSON, or is cut, only the target is read.
 */
export function readLockOrder(body: string, now_ms: number): LockWishes | readonly Issue[] {
  // UTF-16 has an empty byte beside each ASCII character.
  const bytes = Buffer.from(body.replaceAll('\0', '').replace(/^[\ufeff\ufffd]+/, ''))
  const parsed = membersOf(bytes.toString())
  const members = parsed ?? {}
  const target = readTarget(targetsOf(bytes, parsed !== null).flatMap((at) => pairsAt(bytes, at)))
  if ('issues' in target) return target.issues
  const ignored = [
    ...(parsed === null ? ['body'] : []),
    ...Object.keys(members).filter((name) => !KNOWN.has(name)),
    ...target.unknown.map((name) => `target.${name}`),
  ]
  const { mode, expires_at } = members
  const isMode = LOCK_MODES.some((known) => known === mode)
  if (!isMode && mode != null) ignored.push('mode')
  const ends_ms = typeof expires_at === 'string' ? readTime(expires_at) : null
  const isEnd = ends_ms !== null && ends_ms > now_ms
  if (!isEnd && expires_at != null) ignored.push('expires_at')
  return {
    target: target.target,
    mode: isMode ? (mode as LockMode) : 'deny',
    message: textOf(members['message'], MESSAGE_LENGTH_LIMIT),
    reference: textOf(members['reference'], REFERENCE_LENGTH_LIMIT),
    expires_at: isEnd ? new Date(ends_ms).toISOString() : null,
    ignored: ignored
      .slice(0, IGNORED_MAX)
      .map((name) => readReason(name).slice(0, NAME_LENGTH_LIMIT)),
  }
}

const KNOWN: ReadonlySet<string> = new Set(['target', 'mode', 'message', 'reference', 'expires_at'])

/** Null if the text is not JSON. */
function membersOf(text: string): Members | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Members)
      : {}
  } catch {
    return null
  }
}

/** Where the values of `target` begin: of a body that is not JSON, wherever they are. */
function targetsOf(bytes: Buffer, isJson: boolean): readonly number[] {
  if (!isJson)
    return [...bytes.toString('latin1').matchAll(/(?<!\\)"target"\s*:\s*(?=\{)/g)]
      .slice(0, TARGETS_MAX)
      .map(({ index, 0: { length } }) => index + length)
  const found: number[] = []
  walkObject(bytes, skipStart(bytes), (name, start) => {
    if (name === 'target') found.push(start)
  })
  return found
}

function walkObject(
  bytes: Buffer,
  at: number,
  onMember: (name: string, start: number, end: number) => void,
): number {
  if (bytes[at] !== OPEN_OBJECT) return -1
  return walkMembers(bytes, at, ({ key_start, key_end, value_start }) => {
    const end = skipValue(bytes, value_start)
    if (end >= 0) onMember(readString(bytes, key_start, key_end), value_start, end)
    return end
  })
}

/** The members of an object, those that are repeated too; none of one that is not whole. */
function pairsAt(bytes: Buffer, at: number): readonly Pair[] {
  const pairs: Pair[] = []
  const end = walkObject(bytes, at, (name, start, after) => {
    const text = bytes.toString('utf8', start, after)
    if (text !== 'null') pairs.push([name, text])
  })
  return end < 0 ? [] : pairs
}

const textOf = (value: unknown, limit: number): string | null =>
  value == null || value === '' ? null : readReason(value).slice(0, limit)

type ReadTarget =
  | { readonly target: LockTarget; readonly unknown: readonly string[] }
  | { readonly issues: readonly Issue[] }

function readTarget(pairs: readonly Pair[]): ReadTarget {
  const isTarget = ([name]: Pair): boolean => LOCK_TARGETS.some((known) => known === name)
  const named = new Map(pairs.filter(isTarget).map((pair) => [pair.join(' '), pair]))
  const [first] = named.values()
  if (first === undefined || named.size > 1)
    return wrong(
      '/target',
      `must have exactly one of ${LOCK_TARGETS.join(', ')}, in the first MiB of a JSON object. Nothing is locked.`,
    )
  const unknown = pairs.filter((pair) => !isTarget(pair)).map(([one]) => one)
  const name = first[0] as (typeof LOCK_TARGETS)[number]
  const about: unknown = JSON.parse(first[1])
  if (name === 'everything')
    return about === true
      ? { target: { everything: true }, unknown }
      : wrong('/target/everything', 'must be true. Nothing is locked.')
  if (name === 'agent_selector') {
    const read = checkInput(SelectorSchema, about, '/target/agent_selector')
    if (!read.ok) return { issues: read.issues }
    const agent_selector = completeSelector(about as Parameters<typeof completeSelector>[0])
    if (agent_selector === null) return wrong('/target', 'has no selector. Nothing is locked.')
    const issues = checkSelector(agent_selector, '/target/agent_selector')
    return issues.length > 0 ? { issues } : { target: { agent_selector }, unknown }
  }
  if (typeof about !== 'string' || about === '' || about.length > ID_LENGTH_LIMIT)
    return wrong(`/target/${name}`, 'must be an id. Nothing is locked.')
  // The store reads no lone surrogate, and no id has one.
  const id = Buffer.from(about).toString()
  return { target: { [name]: id } as unknown as LockTarget, unknown }
}

const wrong = (path: string, message: string): ReadTarget => ({ issues: [{ path, message }] })
