import { setImmediate as nextTurn } from 'node:timers/promises'
import { chunksOf } from '../../core/system/chunks-of.ts'
import type { ControlTarget } from '../../core/control/control-message.ts'
import type { Denial } from '../verdict/denial.ts'
import type { CallInFlight, CallsInFlight } from './calls-in-flight.ts'

/** Changes within this time are reviewed together. An operator's change is answered before; this is done a second later at most. */
const GATHER_MS = 100
/** Calls that are reviewed in one turn of the event loop, some 30 µs each. */
const REVIEWED_AT_ONCE = 32
/** Keys, agents and organizations whose calls wait to be reviewed; beyond it, all calls are. */
const NOTED_MAX = 10_000
/** While the store cannot be read. */
const TRY_AGAIN_MS = 500
/** How often calls are looked at whose scope ends, at most and at least. */
const END_WAIT_MIN_MS = 20
const END_WAIT_MAX_MS = 1_000
/**
 * A tunnel is cut this long after it is refused, so that the calls inside it end with their own refusals: another process may hold
 * them, which gathers changes for itself.
 */
const TUNNEL_DELAY_MS = 2 * GATHER_MS

interface Parts {
  readonly inFlight: CallsInFlight
  readonly nowMs: () => number
  readonly log: { warn(data: object, message: string): void }
}

/**
 * Decides running calls and tunnels again when a key, an agent, a scope or an integration has changed that they depend on, and ends
 * those that would not be admitted any more (threat model, rule 44). In slices, and never before a kill.
 */
export class ReviewQueue {
  readonly #parts: Parts
  readonly #noted = new Set<string>()
  #isAll = false
  /** Decided while something changed, or not yet reviewed because the store could not be read. */
  #calls = new Set<CallInFlight>()
  /** Passed calls that have to be decided again at a time, and calls of these that have ended within the last second. */
  readonly #ending = new Set<CallInFlight>()
  #nextEnd: NodeJS.Timeout | undefined
  #nextEnd_ms = Number.POSITIVE_INFINITY
  #generation = 0
  #isRunning = false

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** A call that was decided while this number changed may have been decided by facts of before; then `add` it. */
  get generation(): number {
    return this.#generation
  }

  /** Call this when what the target names was dropped from the caches. */
  note(target: ControlTarget): void {
    const name = nameOf(target)
    if (name === null) return
    if (this.#noted.size < NOTED_MAX) this.#noted.add(name)
    else this.#isAll = true
    this.#begin()
  }

  /** Messages may have been missed. */
  noteAll(): void {
    this.#isAll = true
    this.#begin()
  }

  add(call: CallInFlight): void {
    this.#calls.add(call)
    this.#begin(0)
  }

  /** Call this when a call has passed: it is decided again at `ends_ms` of its standing, if it has one. */
  watchEnd(call: CallInFlight): void {
    if (call.standing?.ends_ms == null) return
    this.#ending.add(call)
    this.#waitForEnd(call.standing.ends_ms)
  }

  /** The clock may be corrected, so a wait is short. */
  #waitForEnd(ends_ms: number): void {
    if (ends_ms >= this.#nextEnd_ms) return
    clearTimeout(this.#nextEnd)
    this.#nextEnd_ms = ends_ms
    const left_ms = Math.max(ends_ms - this.#parts.nowMs(), END_WAIT_MIN_MS)
    this.#nextEnd = setTimeout(() => this.#lookForEnds(), Math.min(left_ms, END_WAIT_MAX_MS))
  }

  #lookForEnds(): void {
    this.#nextEnd_ms = Number.POSITIVE_INFINITY
    const now_ms = this.#parts.nowMs()
    let next_ms = Number.POSITIVE_INFINITY
    for (const call of this.#ending) {
      const ends_ms = call.standing?.ends_ms ?? null
      if (ends_ms === null || ends_ms <= now_ms || !this.#parts.inFlight.holds(call)) {
        this.#ending.delete(call)
        if (ends_ms !== null && ends_ms <= now_ms) this.add(call)
      } else next_ms = Math.min(next_ms, ends_ms)
    }
    if (this.#ending.size > 0) this.#waitForEnd(next_ms)
  }

  #begin(changes = 1): void {
    this.#generation += changes
    if (this.#isRunning) return
    this.#isRunning = true
    void this.#run()
  }

  async #run(): Promise<void> {
    let pause_ms = GATHER_MS
    while (this.#isAll || this.#noted.size > 0 || this.#calls.size > 0) {
      await wait(pause_ms)
      const began_ms = performance.now()
      const isWhole = await this.#review(this.#take())
      // Half of the time at most, however often something changes.
      pause_ms = isWhole ? Math.max(GATHER_MS, performance.now() - began_ms) : TRY_AGAIN_MS
    }
    this.#isRunning = false
  }

  #take(): readonly CallInFlight[] {
    const { inFlight } = this.#parts
    const [isAll, noted, added] = [this.#isAll, new Set(this.#noted), this.#calls]
    this.#isAll = false
    this.#noted.clear()
    this.#calls = new Set()
    const isConcerned = ({ organization_id, agent_id, standing }: CallInFlight): boolean =>
      isAll ||
      noted.has(`organization ${organization_id}`) ||
      noted.has(`agent ${organization_id} ${agent_id}`) ||
      noted.has(`key ${standing?.key_hash}`)
    return isAll || noted.size > 0
      ? [...new Set([...inFlight.find(isConcerned), ...added])]
      : [...added]
  }

  /** Returns whether all could be decided. */
  async #review(calls: readonly CallInFlight[]): Promise<boolean> {
    const { inFlight } = this.#parts
    let isWhole = true
    const tunnels: { readonly tunnel: CallInFlight; readonly denial: Denial }[] = []
    const review = async (call: CallInFlight): Promise<void> => {
      try {
        const denial = await call.standing?.review()
        if (!denial) this.watchEnd(call)
        // A cut that looks for its calls may count it.
        else if (inFlight.isFinding) this.#calls.add(call)
        else if (inFlight.isBeingCut(call)) return
        else if (call.is_tunnel === true) tunnels.push({ tunnel: call, denial })
        else await inFlight.cutReviewed(call, denial)
      } catch (error) {
        if (!inFlight.holds(call)) return
        if (isWhole)
          this.#parts.log.warn(
            { error: String(error) },
            'running calls could not be decided again after a change; it will be retried',
          )
        isWhole = false
        this.#calls.add(call)
      }
    }
    await this.#inSlices(calls, review)
    if (tunnels.length > 0) {
      const agents = new Set(tunnels.map(({ tunnel }) => agentOf(tunnel)))
      // Those inside may have been reviewed before the change that the tunnel has met.
      const inside = inFlight.find((call) => !call.is_tunnel && agents.has(agentOf(call)))
      await this.#inSlices(inside, review)
      void wait(TUNNEL_DELAY_MS).then(() => {
        for (const { tunnel, denial } of tunnels) tunnel.cut({ reason: 'not_admitted', denial })
      })
    }
    return isWhole
  }

  async #inSlices(
    calls: readonly CallInFlight[],
    review: (call: CallInFlight) => Promise<void>,
  ): Promise<void> {
    for (const chunk of chunksOf(calls, REVIEWED_AT_ONCE)) {
      do await nextTurn()
      while (this.#parts.inFlight.isCutting)
      await Promise.all(chunk.map(review))
    }
  }
}

/** Null if no running call depends on it; kills, locks and deleted organizations end their calls themselves. */
function nameOf(target: ControlTarget): string | null {
  switch (target.what) {
    case 'key':
      return `key ${target.hash}`
    case 'agent':
      return `agent ${target.organization_id} ${target.agent_id}`
    case 'integrations':
    case 'scopes':
      return `organization ${target.organization_id}`
    case 'organization':
    case 'kill':
    case 'reactivate':
    case 'access_request':
    case 'forward_ca':
    case 'lock':
    case 'unlock':
      return null
  }
}

const agentOf = ({ organization_id, agent_id }: CallInFlight): string =>
  `${organization_id} ${agent_id}`

const wait = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms)
  })
