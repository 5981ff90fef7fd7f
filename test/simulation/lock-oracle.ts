import { EVERYWHERE, type Lock, type LockTarget } from '../../core/catalogue/model.ts'
import type { ControlTarget } from '../../core/control/control-message.ts'
import { LEASE_MARGIN_MS } from '../../core/kill/lease-margin.ts'
import type { LockReceipt } from '../../core/kill/lock-record.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { agentId, INTEGRATION, keyId, ORG, teamOf } from './deployment.ts'
import type { SimCall } from './sim-call.ts'
import type { SimEdge } from './sim-edge.ts'
import type { SimStore } from './sim-store.ts'
import { Violation, type World } from './world.ts'

/** For what an edge has heard to be written, and for drifting clocks. */
const SLACK_MS = 60
/** By how much an edge may misjudge the clock of the store: half of what a slow way adds. */
export const CLOCK_ERROR_MS = 250

interface LockTruth {
  readonly lock: Lock
  /** By the clock of the store; infinity: it has no end. */
  readonly until_ms: number
  /** Since when the store has it. */
  since_ms: number
  /** A receipt has said that it is in force everywhere. */
  isComplete: boolean
  /** Since when the store has its end, and since when that is answered. */
  lifted_ms: number | null
  answered_ms: number | null
  /** The store has lost it: only edges that have confirmed it before keep it. */
  isLost: boolean
  keepers: ReadonlySet<string>
}

/** Knows which locks were made and lifted, and what each of them forbids. It does not ask the product's code. */
export class LockOracle {
  readonly #world: World
  readonly #store: SimStore
  readonly #lease_ms: number
  /** The clock of the store steps, so ends are not known exactly. */
  readonly #isStepped: boolean
  readonly #locks = new Map<string, LockTruth>()
  readonly #ofEpoch = new Map<number, string>()
  /** By lock, the edge processes that have acknowledged it. */
  readonly #acknowledged = new Map<string, Set<string>>()

  constructor(world: World, store: SimStore, lease_ms: number, isStepped: boolean) {
    this.#world = world
    this.#store = store
    this.#lease_ms = lease_ms
    this.#isStepped = isStepped
  }

  get count(): number {
    return this.#locks.size
  }

  published(epoch: number, target: ControlTarget): void {
    if (target.what === 'unlock') {
      const truth = this.#locks.get(target.lock_id)
      if (truth !== undefined) truth.lifted_ms ??= this.#world.now_ms
      this.#acknowledged.delete(target.lock_id)
    }
    if (target.what !== 'lock') return
    const { lock, again_of } = target
    const { lock_id } = lock
    this.#ofEpoch.set(epoch, lock_id)
    if (again_of !== undefined) this.#ofEpoch.set(again_of, lock_id)
    const known = this.#locks.get(lock_id)
    if (known === undefined)
      this.#locks.set(lock_id, {
        lock,
        until_ms: lock.expires_at === null ? Number.POSITIVE_INFINITY : Date.parse(lock.expires_at),
        since_ms: this.#world.now_ms,
        isComplete: false,
        lifted_ms: null,
        answered_ms: null,
        isLost: false,
        keepers: new Set(),
      })
    else if (known.isLost) Object.assign(known, { isLost: false, since_ms: this.#world.now_ms })
  }

  acknowledged(edge: SimEdge, epoch: number, unconfirmed: number, open: readonly SimCall[]): void {
    const lock_id = this.#ofEpoch.get(epoch)
    const truth = lock_id === undefined ? undefined : this.#locks.get(lock_id)
    if (lock_id === undefined || truth === undefined || truth.lifted_ms !== null) return
    this.#acknowledged.set(
      lock_id,
      (this.#acknowledged.get(lock_id) ?? new Set()).add(nameOf(edge)),
    )
    const call = open.find((one) => one.edge === edge && this.#forbids(truth, one, SLACK_MS))
    if (unconfirmed === 0 && call !== undefined)
      this.#violated('lock: acknowledged while a call goes on', truth, call)
  }

  answered(lock: Lock, receipt: LockReceipt, open: readonly SimCall[]): void {
    const truth = this.#locks.get(lock.lock_id)
    if (truth === undefined || truth.lifted_ms !== null || truth.isLost || !receipt.complete) return
    truth.isComplete = true
    for (const call of open) {
      const { process } = call.edge
      const isSilent = process.isPaused || process.resumed_ms > this.#world.now_ms - SLACK_MS
      if (!isSilent && this.#forbids(truth, call, SLACK_MS))
        this.#violated('lock: complete while a call goes on', truth, call)
    }
  }

  liftAnswered({ lock_id }: Lock): void {
    const truth = this.#locks.get(lock_id)
    if (truth?.lifted_ms != null) truth.answered_ms ??= this.#world.now_ms
  }

  /** Before the content of the store is replaced; the result is called after it. */
  forgets(edges: readonly SimEdge[]): () => void {
    const confirmed = new Map<string, Set<string>>()
    for (const edge of edges) {
      const board = edge.fleet?.killBoard
      if (!edge.process.isAlive || board === undefined) continue
      const unconfirmed = new Set(board.locksToConfirm().map(([, lock_id]) => lock_id))
      for (const [lock_id, { lock }] of this.#locks)
        if (board.hasLock(lock) && !unconfirmed.has(lock_id))
          confirmed.set(lock_id, (confirmed.get(lock_id) ?? new Set()).add(nameOf(edge)))
    }
    return () => {
      for (const [lock_id, truth] of this.#locks) {
        const isThere = this.isStored(truth.lock)
        if (isThere && truth.lifted_ms !== null)
          // That it was lifted is lost: it is in force until it is lifted again, from when the edges know it.
          Object.assign(truth, {
            lifted_ms: null,
            answered_ms: null,
            isComplete: false,
            since_ms: this.#world.now_ms,
          })
        if (isThere || truth.lifted_ms !== null) continue
        const keepers = confirmed.get(lock_id) ?? new Set<string>()
        Object.assign(truth, { isLost: true, isComplete: false, keepers })
        // An acknowledgement that is on its way is of the lock that was lost.
        for (const [epoch, id] of this.#ofEpoch) if (id === lock_id) this.#ofEpoch.delete(epoch)
        const acknowledged = this.#acknowledged.get(lock_id) ?? []
        this.#acknowledged.set(
          lock_id,
          new Set([...acknowledged].filter((name) => keepers.has(name))),
        )
      }
    }
  }

  isStored({ organization_id, lock_id }: Lock): boolean {
    return this.#store.model.run('HGET', [REDIS_KEYS.locks(organization_id), lock_id]) !== null
  }

  passed(call: SimCall): void {
    for (const [lock_id, truth] of this.#locks) {
      if (!this.#forbids(truth, call, CLOCK_ERROR_MS)) continue
      if (this.#acknowledged.get(lock_id)?.has(nameOf(call.edge)))
        this.#violated('lock: passed after the acknowledgement', truth, call)
      if (truth.isLost) continue
      if (truth.isComplete) this.#violated('lock: passed after complete', truth, call)
      if (this.#world.now_ms > this.#limitOf(truth))
        this.#violated('lock: passed after the lease', truth, call)
    }
  }

  goesOn(call: SimCall): void {
    for (const truth of this.#locks.values())
      if (
        !truth.isLost &&
        this.#world.now_ms > this.#limitOf(truth) &&
        this.#forbids(truth, call, CLOCK_ERROR_MS)
      )
        this.#violated('lock: a call goes on after the lease', truth, call)
  }

  /** Whether a lock explains a refusal: one that was there, not lifted before the call, and not over. */
  explains(call: SimCall): boolean {
    for (const truth of this.#locks.values()) {
      const isLifted = truth.answered_ms !== null && truth.answered_ms <= call.arrived_ms
      const waited_ms = this.#world.now_ms - call.arrived_ms
      if (
        !isLifted &&
        concerns(truth.lock, call) &&
        this.#isBefore(truth, -CLOCK_ERROR_MS - waited_ms)
      )
        return true
    }
    return false
  }

  /** What the store says of a call now; `unknown` where a lock is about to end or was lost. */
  verdict(call: SimCall): 'locked' | 'free' | 'unknown' {
    let found: 'free' | 'unknown' = 'free'
    for (const truth of this.#locks.values()) {
      if (!concerns(truth.lock, call) || truth.lifted_ms !== null) continue
      if (this.#isStepped && Number.isFinite(truth.until_ms)) found = 'unknown'
      else if (this.#isBefore(truth, CLOCK_ERROR_MS + 100)) {
        if (this.isStored(truth.lock)) return 'locked'
        found = 'unknown'
      } else if (this.#isBefore(truth, -CLOCK_ERROR_MS)) found = 'unknown'
    }
    return found
  }

  /** A lock that an edge has kept over a failover is in the store again. */
  checkEnd(edges: readonly SimEdge[]): void {
    const running = new Set(edges.map(nameOf))
    for (const truth of this.#locks.values()) {
      const isKept = [...truth.keepers].some((name) => running.has(name))
      const isOver = this.#isStepped
        ? Number.isFinite(truth.until_ms)
        : !this.#isBefore(truth, 2_000)
      if (truth.lifted_ms === null && isKept && !isOver && !this.isStored(truth.lock))
        throw new Violation('lock: lost with the store', truth.lock.lock_id)
    }
  }

  #limitOf({ since_ms }: LockTruth): number {
    return since_ms + this.#lease_ms + LEASE_MARGIN_MS + SLACK_MS
  }

  /** Whether it ends later than so long after now. */
  #isBefore({ until_ms }: LockTruth, margin_ms: number): boolean {
    return this.#store.process.wallMs() < until_ms - margin_ms
  }

  #forbids(truth: LockTruth, call: SimCall, margin_ms: number): boolean {
    if (this.#isStepped && Number.isFinite(truth.until_ms)) return false
    return (
      truth.lifted_ms === null && this.#isBefore(truth, margin_ms) && concerns(truth.lock, call)
    )
  }

  #violated(rule: string, { lock }: LockTruth, call: SimCall): never {
    throw new Violation(rule, `${call.edge.process.name}, ${lock.lock_id}, ${call.request_id}`)
  }
}

const nameOf = ({ process }: SimEdge): string => `${process.name} ${process.incarnation}`

function concerns({ target, mode, organization_id }: Lock, { step }: SimCall): boolean {
  if (mode === 'read_only' && step.method === undefined) return false
  if (organization_id !== ORG && organization_id !== EVERYWHERE) return false
  return isNamed(target, step.agent, step.key)
}

function isNamed(target: LockTarget, agent: number, key: number): boolean {
  if ('agent_id' in target) return target.agent_id === agentId(agent)
  if ('key_id' in target) return target.key_id === keyId(agent, key)
  if ('scope_id' in target) return target.scope_id === `scp_${agent}`
  if ('integration_id' in target) return target.integration_id === INTEGRATION
  if ('agent_selector' in target)
    return target.agent_selector.match_labels?.['team'] === teamOf(agent)
  return true
}
