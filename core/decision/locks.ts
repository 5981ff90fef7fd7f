import type { Agent, Lock, LockMode } from '../catalogue/model.ts'
import { matchesSelector } from './selector.ts'

/** All locks that may concern calls of one organization, by what they name. */
export interface LockTable {
  /** Of the organization, and of everything. */
  readonly all: readonly CompiledLock[]
  /** By the kind and the id of what they name. */
  readonly named: Readonly<Record<Named, ReadonlyMap<string, readonly CompiledLock[]>>>
  readonly selecting: readonly CompiledLock[]
  /** Those of `selecting` that select an agent, by its labels: each call asks several times. */
  readonly selected: WeakMap<object, readonly CompiledLock[]>
}

type Named = 'agent_id' | 'key_id' | 'scope_id' | 'integration_id'

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
  /** The scope that an approval for a time has made, if the call needs it. */
  readonly grant_id?: string | null
}

/** An end that cannot be read, which admin refuses to store, is none. */
export function endOfLock({ expires_at }: Pick<Lock, 'expires_at'>): number {
  const until_ms = expires_at === null ? Number.NaN : Date.parse(expires_at)
  return Number.isNaN(until_ms) ? Number.POSITIVE_INFINITY : until_ms
}

export function compileLocks(locks: Iterable<Lock>): LockTable {
  const all: CompiledLock[] = []
  const selecting: CompiledLock[] = []
  const named = {
    agent_id: new Map<string, CompiledLock[]>(),
    key_id: new Map<string, CompiledLock[]>(),
    scope_id: new Map<string, CompiledLock[]>(),
    integration_id: new Map<string, CompiledLock[]>(),
  }
  for (const lock of locks) {
    const one = { lock, until_ms: endOfLock(lock) }
    const { target } = lock
    if ('agent_selector' in target) selecting.push(one)
    else if ('agent_id' in target) add(named.agent_id, target.agent_id, one)
    else if ('key_id' in target) add(named.key_id, target.key_id, one)
    else if ('scope_id' in target) add(named.scope_id, target.scope_id, one)
    else if ('integration_id' in target) add(named.integration_id, target.integration_id, one)
    // A target that only a newer version knows concerns everything: what it forbids is not known.
    else all.push(one)
  }
  return { all, named, selecting, selected: new WeakMap() }
}

function add(named: Map<string, CompiledLock[]>, name: string, one: CompiledLock): void {
  const known = named.get(name)
  if (known === undefined) named.set(name, [one])
  else known.push(one)
}

const NONE: readonly CompiledLock[] = []
const NO_LABELS = {}

/**
 * The lock that refuses a call: one of the mode `deny`, or one of the mode `read_only` unless the call only reads. Of several, the
 * one that ends last. Null if there is none.
 */
export function findLock(
  table: LockTable | null,
  { agent, key_id, integration_id, scope_id, grant_id = null }: LockSubject,
  at_ms: number,
  modes: 'deny' | 'read_only' | 'any',
): Lock | null {
  if (table === null) return null
  let found: CompiledLock | null = null
  const look = (one: CompiledLock): void => {
    if (one.until_ms <= at_ms || (modes !== 'any' && modeOf(one.lock) !== modes)) return
    if (found === null || isStronger(one, found)) found = one
  }
  for (const one of table.all) look(one)
  const named = (kind: Named, id: string | null): void => {
    for (const one of id === null ? NONE : (table.named[kind].get(id) ?? NONE)) look(one)
  }
  named('agent_id', agent.agent_id)
  named('key_id', key_id)
  named('integration_id', integration_id)
  named('scope_id', scope_id)
  named('scope_id', grant_id)
  for (const one of selectedBy(table, agent.labels)) look(one)
  return (found as CompiledLock | null)?.lock ?? null
}

function selectedBy(
  { selecting, selected }: LockTable,
  labels: Agent['labels'] = NO_LABELS,
): readonly CompiledLock[] {
  if (selecting.length === 0) return NONE
  let found = selected.get(labels)
  if (found === undefined) {
    found = selecting.filter(({ lock }) => selects(lock, labels))
    selected.set(labels, found)
  }
  return found
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
