import type { Agent, Lock, LockMode } from '../catalogue/model.ts'
import { matchesSelector } from './selector.ts'

/** All locks that may concern calls of one organization, by what they name. */
export interface LockTable {
  /** Of the organization, and of everything. */
  readonly all: readonly CompiledLock[]
  /** By the kind and the id of what they name. */
  readonly named: ReadonlyMap<string, readonly CompiledLock[]>
  readonly selecting: readonly CompiledLock[]
}

interface CompiledLock {
  readonly lock: Lock
  readonly until_ms: number
}

/** What a lock may name of a call; null where nothing is known yet, or there is none. */
export interface LockSubject {
  readonly agent: Pick<Agent, 'agent_id' | 'labels'>
  readonly key_id: string | null
  readonly integration_id: string | null
  readonly scope_id: string | null
}

/** An end that cannot be read, which admin refuses to store, is none. */
export function endOfLock({ expires_at }: Pick<Lock, 'expires_at'>): number {
  const until_ms = expires_at === null ? Number.NaN : Date.parse(expires_at)
  return Number.isNaN(until_ms) ? Number.POSITIVE_INFINITY : until_ms
}

export function compileLocks(locks: Iterable<Lock>): LockTable {
  const all: CompiledLock[] = []
  const selecting: CompiledLock[] = []
  const named = new Map<string, CompiledLock[]>()
  for (const lock of locks) {
    const one = { lock, until_ms: endOfLock(lock) }
    const { target } = lock
    if ('agent_selector' in target) selecting.push(one)
    else if ('agent_id' in target) add(named, `agent ${target.agent_id}`, one)
    else if ('key_id' in target) add(named, `key ${target.key_id}`, one)
    else if ('scope_id' in target) add(named, `scope ${target.scope_id}`, one)
    else if ('integration_id' in target) add(named, `integration ${target.integration_id}`, one)
    // A target that only a newer version knows concerns everything: what it forbids is not known.
    else all.push(one)
  }
  return { all, named, selecting }
}

function add(named: Map<string, CompiledLock[]>, name: string, one: CompiledLock): void {
  const known = named.get(name)
  if (known === undefined) named.set(name, [one])
  else known.push(one)
}

const NONE: readonly CompiledLock[] = []

/**
 * The lock that refuses a call: one of the mode `deny`, or one of the mode `read_only` unless the call only reads. Of several, the
 * one that ends last. Null if there is none.
 */
export function findLock(
  table: LockTable | null,
  { agent, key_id, integration_id, scope_id }: LockSubject,
  at_ms: number,
  modes: 'deny' | 'read_only' | 'any',
): Lock | null {
  if (table === null) return null
  let found: CompiledLock | null = null
  const look = (one: CompiledLock): void => {
    if (one.until_ms <= at_ms || (modes !== 'any' && modeOf(one.lock) !== modes)) return
    if (found === null || isStronger(one, found)) found = one
  }
  const named = (kind: string, id: string | null): void => {
    for (const one of id === null ? NONE : (table.named.get(`${kind} ${id}`) ?? NONE)) look(one)
  }
  for (const one of table.all) look(one)
  named('agent', agent.agent_id)
  named('key', key_id)
  named('integration', integration_id)
  named('scope', scope_id)
  for (const one of table.selecting) if (selects(one.lock, agent.labels)) look(one)
  return (found as CompiledLock | null)?.lock ?? null
}

/** A mode that only a newer version knows is one that forbids all. */
export const modeOf = ({ mode }: Lock): LockMode => (mode === 'read_only' ? mode : 'deny')

const isStronger = (one: CompiledLock, other: CompiledLock): boolean =>
  modeOf(one.lock) === modeOf(other.lock)
    ? one.until_ms > other.until_ms
    : modeOf(one.lock) === 'deny'

const selects = ({ target }: Lock, labels: Agent['labels']): boolean =>
  'agent_selector' in target && matchesSelector(target.agent_selector, labels)

/** What a refused caller is told. */
export const lockDetails = ({ lock_id, message, expires_at }: Lock) => ({
  lock_id,
  message,
  expires_at,
})
