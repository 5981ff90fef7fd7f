import type { BusiestAgents } from '../../core/control/control-message.ts'
import type { Lock } from '../../core/catalogue/model.ts'
import type { Denial } from '../verdict/denial.ts'
import type { Standing } from '../verdict/standing.ts'
import { CutPace } from './cut-pace.ts'
import { UnwatchedCalls } from './unwatched-calls.ts'

/** A call in flight in this process: from the moment its agent is known until Envoy ends its stream. */
export interface CallInFlight {
  readonly organization_id: string
  readonly agent_id: string
  /** Ends the call with an error response, or cuts its response; false if it was already cut, refused or over. */
  cut(why: Cut): boolean
  /** Resolves when Envoy has ended the ext_proc stream of this call. */
  readonly ended: Promise<void>
  /** When it was allowed, by `performance.now()`; null while undecided. */
  readonly passed_ms: number | null
  /** It is a tunnel of the forward proxy that has been opened. */
  readonly is_tunnel?: boolean
  /** The same object for all calls of one connection of Envoy. */
  readonly connection?: object
  /** By what it is decided again; null while it is undecided. */
  readonly standing?: Standing | null
  /** Where `CallsInFlight` keeps it. */
  list_place?: number
}

export type Cut =
  | { readonly reason: 'agent_killed'; readonly killed_at: string }
  | { readonly reason: 'locked'; readonly lock: Lock; readonly at_ms: number }
  | { readonly reason: 'gateway_unavailable' }
  /** A change of key, agent, scope or integration: it would not be admitted any more. */
  | { readonly reason: 'not_admitted'; readonly denial: Denial }

/** The result of cutting the calls of one agent. */
export interface CutCounts {
  /** Calls and tunnels that this cut has ended, as confirmed by Envoy. */
  readonly terminated: number
  /** Of these, the tunnels, if there were any. */
  readonly tunnels?: number
  /** Calls that were cut but not closed by Envoy in time, and calls whose stream Envoy had closed before their response ended. */
  readonly unconfirmed: number
  /** If Envoy has not closed all in time: how many, and the result when it has closed the last one. */
  readonly ending?: number
  readonly rest?: Promise<CutCounts>
}

export const NONE_CUT: CutCounts = { terminated: 0, unconfirmed: 0 }

/** What several cuts have ended together. */
export function sumOfCuts(cuts: readonly CutCounts[]): CutCounts {
  const sum = (count: 'terminated' | 'tunnels' | 'unconfirmed' | 'ending'): number =>
    cuts.reduce((total, one) => total + (one[count] ?? 0), 0)
  const [tunnels, ending] = [sum('tunnels'), sum('ending')]
  return {
    terminated: sum('terminated'),
    ...(tunnels > 0 ? { tunnels } : {}),
    unconfirmed: sum('unconfirmed'),
    ...(ending > 0
      ? {
          ending,
          rest: Promise.all(cuts.map((one) => one.rest ?? Promise.resolve(one))).then(sumOfCuts),
        }
      : {}),
  }
}

/** Since the cut began. Envoy ends a stream within a millisecond or so; thousands take longer, and are unconfirmed until they have ended. */
const END_WAIT_MS = 400

/** A call that was allowed less than this time before its cut may already have been forwarded by Envoy. */
const RECENT_PASS_MS = 100
/** For such a call the acknowledgement waits this long, because a nearby API may still be reading what Envoy had written. */
const SETTLE_MS = 5

/**
 * How much later than the calls inside them tunnels are cut. Cut together with them, they would take their refusals along: Envoy
 * writes these within a few milliseconds.
 */
const TUNNEL_DELAY_MS = 30
/** For the calls inside to be ended by Envoy first, which takes longer when they are many. */
const TUNNEL_WAIT_MS = 200

/** What a cut has ended, as confirmed by Envoy. */
interface EndedCount {
  calls: number
  tunnels: number
}

/** All calls in flight in this process, by agent. Bounded by Envoy's circuit breaker for ext_proc streams. */
export class CallsInFlight {
  /** Calls that may be in flight but can no longer be cut. */
  readonly unwatched: UnwatchedCalls = new UnwatchedCalls(() => performance.now())
  /**
   * Lists in any order, not sets: a set that changes all the time replaces its table often, and the old tables would keep each call until the
   * old generation is collected.
   */
  readonly #byAgent = new Map<string, CallInFlight[]>()
  /** By the first cut of its agent that found the call, which counts it, even if another one reaches it before: a kill may come twice. */
  readonly #counts = new WeakMap<CallInFlight, EndedCount>()
  readonly #pace = new CutPace()
  #size = 0
  /** Cuts that still look for their calls. */
  #finding = 0
  #total = 0

  get isFinding(): boolean {
    return this.#finding > 0
  }

  /** A cut has work to do, and does not wait for Envoy. */
  get isCutting(): boolean {
    return this.isFinding || this.#pace.isBusy
  }

  /** A cut counts the call, and has cut it or will. */
  isBeingCut(call: CallInFlight): boolean {
    return this.#counts.has(call)
  }

  holds(call: CallInFlight): boolean {
    const calls = this.#byAgent.get(keyOf(call.organization_id, call.agent_id))
    return call.list_place !== undefined && calls?.[call.list_place] === call
  }

  find(matches: (call: CallInFlight) => boolean): readonly CallInFlight[] {
    return [...this.#byAgent.values()].flatMap((calls) => calls.filter(matches))
  }

  get size(): number {
    return this.#size
  }

  /** How many there have been. */
  get total(): number {
    return this.#total
  }

  add(call: CallInFlight): void {
    this.#total++
    const key = keyOf(call.organization_id, call.agent_id)
    const calls = this.#byAgent.get(key)
    call.list_place = calls?.length ?? 0
    if (calls === undefined) this.#byAgent.set(key, [call])
    else calls.push(call)
    this.#size++
  }

  remove(call: CallInFlight): void {
    const key = keyOf(call.organization_id, call.agent_id)
    const calls = this.#byAgent.get(key)
    const place = call.list_place
    if (calls === undefined || place === undefined || calls[place] !== call) return
    const last = calls.pop()
    if (last !== undefined && last !== call) {
      calls[place] = last
      last.list_place = place
    }
    if (calls.length === 0) this.#byAgent.delete(key)
    this.#size--
  }

  /** Agents with calls in flight, as pairs of organization and agent. */
  agents(): readonly (readonly [organization_id: string, agent_id: string])[] {
    return [...this.#byAgent.values()].flatMap((calls) => {
      const [first] = calls
      return first === undefined ? [] : [[first.organization_id, first.agent_id] as const]
    })
  }

  /** The agents with the most calls in flight and tunnels, by organization and agent. */
  busiest(limit: number): BusiestAgents {
    const all = [...this.#byAgent]
    const most =
      all.length <= limit ? all : all.sort(([, a], [, b]) => b.length - a.length).slice(0, limit)
    const counts = most.map(([key, calls]) => {
      const tunnels = calls.filter(isTunnel).length
      return { key, tunnels, calls: calls.length - tunnels }
    })
    return {
      calls: Object.fromEntries(counts.map(({ key, calls }) => [key, calls])),
      tunnels: Object.fromEntries(
        counts.flatMap(({ key, tunnels }) => (tunnels === 0 ? [] : [[key, tunnels]])),
      ),
      is_whole: all.length <= limit,
    }
  }

  /**
   * Cuts every call of an agent immediately, and its tunnels shortly after; then counts those that Envoy has ended in time. Calls
   * that an earlier cut is already ending are awaited too, but counted by that cut. `rest` counts them all, however late they end.
   */
  cutAgent(organization_id: string, agent_id: string, why: Cut): Promise<CutCounts> {
    const calls = this.#byAgent.get(keyOf(organization_id, agent_id)) ?? []
    return this.cut([...calls], why, () => this.unwatched.count(organization_id, agent_id))
  }

  /** The same for calls that have to be looked for. While they are, no review ends one of them, so that the cut counts it. */
  async cutFound(
    find: () => Promise<readonly CallInFlight[]>,
    why: Cut,
    unwatched: () => number,
  ): Promise<CutCounts> {
    this.#finding++
    let cut: Promise<CutCounts>
    try {
      cut = this.cut(await find(), why, unwatched)
    } finally {
      this.#finding--
    }
    return await cut
  }

  /** The same for any calls. @param unwatched how many more may be running that cannot be cut any more */
  async cut(calls: readonly CallInFlight[], why: Cut, unwatched: () => number): Promise<CutCounts> {
    if (calls.length === 0) return { terminated: 0, unconfirmed: unwatched() }
    const began_ms = performance.now()
    const recent_ms = began_ms - RECENT_PASS_MS
    const own: EndedCount = { calls: 0, tunnels: 0 }
    let ended = 0
    const tunnels = calls.filter(isTunnel)
    for (const call of calls) if (!this.#counts.has(call)) this.#counts.set(call, own)
    const cutNow = (call: CallInFlight): Promise<void> => {
      this.#cut(call, why)
      // The end of a call may end its tunnel before this cut does.
      const isOurs = isTunnel(call) && this.#counts.get(call) === own
      return call.ended.then(() => {
        ended++
        if (isOurs) own.tunnels++
      })
    }
    const requests = this.#pace.cut(
      calls.filter((call) => !isTunnel(call)),
      cutNow,
    )
    const ends = [requests]
    if (tunnels.length > 0)
      ends.push(
        Promise.race([requests, wait(TUNNEL_WAIT_MS)])
          .then(() => wait(TUNNEL_DELAY_MS))
          .then(() => this.#pace.cut(tunnels, cutNow)),
      )
    let timer: NodeJS.Timeout | undefined
    const limit = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, began_ms + END_WAIT_MS - performance.now())
    })
    const all = Promise.all(ends)
    await Promise.race([all, limit])
    clearTimeout(timer)
    if (calls.some(({ passed_ms }) => passed_ms !== null && passed_ms > recent_ms))
      await wait(SETTLE_MS)
    const countNow = (): CutCounts => ({
      terminated: own.calls + own.tunnels,
      ...(own.tunnels > 0 ? { tunnels: own.tunnels } : {}),
      unconfirmed: calls.length - ended + unwatched(),
    })
    const ending = calls.length - ended
    return ending === 0 ? countNow() : { ...countNow(), ending, rest: all.then(countNow) }
  }

  #cut(call: CallInFlight, why: Cut): void {
    if (!call.cut(why) || isTunnel(call)) return
    const count = this.#counts.get(call)
    if (count !== undefined) void call.ended.then(() => void count.calls++)
  }

  /** Cuts a call that its review has refused, no faster than Envoy ends others. */
  async cutReviewed(call: CallInFlight, denial: Denial): Promise<void> {
    await this.#pace.cutOne(call, () => call.cut({ reason: 'not_admitted', denial }))
  }

  /** Cuts all calls, because this edge cannot guarantee for any agent that it is not killed. */
  cutAll(why: Cut): void {
    const tunnels: CallInFlight[] = []
    // A copy: a call that ends at once leaves its list.
    const all = [...this.#byAgent.values()].flat()
    for (const call of all) {
      if (isTunnel(call)) tunnels.push(call)
      else this.#cut(call, why)
    }
    if (tunnels.length > 0)
      setTimeout(() => {
        for (const tunnel of tunnels) tunnel.cut(why)
      }, TUNNEL_DELAY_MS)
  }

  /** Open tunnels of the forward proxy; of one agent, or of all. */
  tunnels(organization_id?: string, agent_id?: string): number {
    const lists =
      organization_id === undefined || agent_id === undefined
        ? this.#byAgent.values()
        : [this.#byAgent.get(keyOf(organization_id, agent_id)) ?? []]
    let count = 0
    for (const calls of lists) for (const call of calls) if (isTunnel(call)) count++
    return count
  }
}

const wait = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms)
  })

const isTunnel = (call: CallInFlight): boolean => call.is_tunnel === true

const keyOf = (organization_id: string, agent_id: string): string =>
  `${organization_id} ${agent_id}`
