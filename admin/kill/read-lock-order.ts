import {
  LOCK_MODES,
  LOCK_TARGETS,
  type LockMode,
  type LockTarget,
} from '../../core/catalogue/model.ts'
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

export interface LockWishes {
  readonly target: LockTarget
  readonly mode: LockMode
  readonly message: string | null
  readonly reference: string | null
  readonly expires_at: string | null
  /** Members that were not understood. */
  readonly ignored: readonly string[]
}

type Members = Readonly<Record<string, unknown>>

/**
 * Reads a lock from any body. It must name exactly one target. Nothing else makes it fail: an unknown mode is `deny`, and an end that
 * cannot be read, or has passed, is none.
 */
export function readLockOrder(body: string, now_ms: number): LockWishes | readonly Issue[] {
  const members = membersOf(parsed(body))
  const target = readTarget(members['target'])
  if ('issues' in target) return target.issues
  const ignored = [
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

function parsed(body: string): unknown {
  try {
    return JSON.parse(body.replace(/^\ufeff/, ''))
  } catch {
    return null
  }
}

const membersOf = (value: unknown): Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Members) : {}

const textOf = (value: unknown, limit: number): string | null =>
  value == null || value === '' ? null : readReason(value).slice(0, limit)

type ReadTarget =
  | { readonly target: LockTarget; readonly unknown: readonly string[] }
  | { readonly issues: readonly Issue[] }

function readTarget(value: unknown): ReadTarget {
  const members = membersOf(value)
  const given = Object.keys(members).filter((name) => members[name] != null)
  const named = LOCK_TARGETS.filter((name) => given.includes(name))
  const [name] = named
  if (name === undefined || named.length > 1)
    return wrong(
      '/target',
      `must have exactly one of ${LOCK_TARGETS.join(', ')}. Nothing is locked.`,
    )
  const unknown = given.filter((one) => one !== name)
  const about = members[name]
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
