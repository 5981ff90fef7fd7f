import type { AnomalyType } from './anomaly-type.ts'
import { combineSigns } from './combine-signs.ts'
import { EndpointBook } from './endpoint-book.ts'
import { HourProfile, type HourProfileState } from './hour-profile.ts'
import { Novelty, type NoveltyState } from './novelty.ts'
import type { ObservedCall } from './observed-call.ts'
import {
  COARSE_MS,
  COARSE_REACH_MS,
  COLUMN,
  FINE_REACH_MS,
  RATE_SIGNS,
  RateSigns,
  type RateSignsState,
  TICK_MS,
} from './rate-signs.ts'
import { SizeProfile, type SizeProfileState } from './size-profile.ts'

const HOUR_MS = 3_600_000
/** Expectations are rounded to this, so that their sums do not depend on the order. */
const EXPECTED_STEP = 2 ** -20
/** After this time without calls the baseline is obsolete. */
const SILENCE_MAX_MS = 28 * 24 * HOUR_MS

/** Minimum number of calls before the first score. */
export const LEARNING_CALLS = 100
/** An hour with a score from here on is not learned as usual… */
const SUSPICIOUS_SCORE = 0.5
/** …but two hours of it are recorded, so that a third occurrence is known… */
const NOTED_HOURS = 2
/** …and this many of them, reduced by each normal hour, are accepted as normal. */
const ADOPTED_HOURS = 24
const CALM_TAKES_BACK = 1 / 8
/** Hours without suspicion after which another suspicious hour begins a new incident. */
const CALM_HOURS = 6
const MEMORY_HOURS = 14 * 24
const QUIET_MEMORY_HOURS = 28 * 24
/** The prior for quiet hours: calls in 0.3 of 30. */
const QUIET_PRIOR = { broken: 0.3, hours: 30 }
const QUIET_HOURS_MIN = 48
/** The weight of the prior, in calls. */
const SHARE_PRIOR_CALLS = 200

const ADDRESSES = { items_max: 128, assumed_size: 1.5 }

export interface ScopeModelState {
  readonly first_ms: number
  readonly tick_ms: number
  readonly calls: number
  readonly judged_hours: number
  readonly integration_id: string | null
  readonly ready_ms: number | null
  /** Score, peak of the hour, suspicious hours of the incident, normal hours since, recent suspicious hours. */
  readonly suspicion: readonly [
    score: number,
    peak: number,
    run: number,
    calm: number,
    lately: number,
  ]
  readonly types: readonly AnomalyType[]
  /** By column: the counts of the current hour, and the learned ones, with less weight for older hours. */
  readonly tally: readonly number[]
  readonly learned: readonly number[]
  /** Quiet hours seen, nights that were not quiet, whether the last hour was one. */
  readonly quiet: readonly [hours: number, broken: number, last: number]
  readonly has_news: boolean
  readonly rates: RateSignsState
  readonly profile: HourProfileState
  readonly endpoints: NoveltyState
  readonly addresses: NoveltyState
  readonly sizes_in: SizeProfileState
  readonly sizes_out: SizeProfileState
}

/** The baseline of one scope, and how unusual its current traffic is. Time is always passed in. */
export class ScopeModel {
  readonly #learning_ms: number
  readonly #rates: RateSigns
  readonly #profile: HourProfile
  readonly #endpoints: EndpointBook
  readonly #addresses: Novelty
  readonly #sizes_in: SizeProfile
  readonly #sizes_out: SizeProfile
  readonly #first_ms: number
  #tick_ms: number
  #calls: number
  #judged_hours: number
  #integration_id: string | null
  #ready_ms: number | null
  #score: number
  #peak: number
  #run: number
  #calm: number
  #lately: number
  #types: readonly AnomalyType[]
  readonly #tally: number[]
  readonly #learned: number[]
  readonly #quiet: [hours: number, broken: number, last: number]
  #has_news: boolean
  /** For the current slot; computed again after a start from the profile. */
  #expected_slot = -1
  #expected_per_tick = 0
  #quiet_hour = -1
  #is_quiet = false
  #usual_hour = -1
  #usual_calls = 0
  #shares: readonly number[]
  readonly #rate_days = new Float64Array(RATE_SIGNS.length)

  constructor(at_ms: number, learning_ms: number, state?: ScopeModelState) {
    this.#learning_ms = learning_ms
    this.#first_ms = state?.first_ms ?? at_ms
    this.#tick_ms = state?.tick_ms ?? Math.floor(at_ms / TICK_MS) * TICK_MS
    this.#calls = state?.calls ?? 0
    this.#judged_hours = state?.judged_hours ?? 0
    this.#integration_id = state?.integration_id ?? null
    this.#ready_ms = state?.ready_ms ?? null
    ;[this.#score, this.#peak, this.#run, this.#calm, this.#lately] = state?.suspicion ?? [
      0, 0, 0, 0, 0,
    ]
    this.#types = state?.types ?? []
    this.#tally = [...(state?.tally ?? [0, 0, 0, 0])]
    this.#learned = [...(state?.learned ?? [0, 0, 0, 0])]
    this.#quiet = [...(state?.quiet ?? ([0, 0, 0] as const))]
    this.#has_news = state?.has_news ?? false
    this.#rates = new RateSigns(this.#tick_ms, state?.rates)
    this.#profile = new HourProfile(state?.profile)
    this.#endpoints = new EndpointBook(state?.endpoints)
    this.#addresses = new Novelty(ADDRESSES, state?.addresses)
    this.#sizes_in = new SizeProfile(state?.sizes_in)
    this.#sizes_out = new SizeProfile(state?.sizes_out)
    this.#shares = this.#sharesNow()
  }

  get state(): ScopeModelState {
    return {
      first_ms: this.#first_ms,
      tick_ms: this.#tick_ms,
      calls: this.#calls,
      judged_hours: this.#judged_hours,
      integration_id: this.#integration_id,
      ready_ms: this.#ready_ms,
      suspicion: [this.#score, this.#peak, this.#run, this.#calm, this.#lately],
      types: this.#types,
      tally: [...this.#tally],
      learned: [...this.#learned],
      quiet: [...this.#quiet],
      has_news: this.#has_news,
      rates: this.#rates.state,
      profile: this.#profile.state,
      endpoints: this.#endpoints.state,
      addresses: this.#addresses.state,
      sizes_in: this.#sizes_in.state,
      sizes_out: this.#sizes_out.state,
    }
  }

  get first_ms(): number {
    return this.#first_ms
  }
  get tick_ms(): number {
    return this.#tick_ms
  }
  get calls(): number {
    return this.#calls
  }
  get judged_hours(): number {
    return this.#judged_hours
  }
  get integration_id(): string | null {
    return this.#integration_id
  }
  get score(): number {
    return this.#score
  }
  get types(): readonly AnomalyType[] {
    return this.#types
  }
  get learning(): boolean {
    return this.#ready_ms === null
  }
  /** Whether calls came since the last score. */
  get has_news(): boolean {
    return this.#has_news
  }
  get current_rpm(): number {
    return this.#rates.current_rpm
  }
  get endpoints(): readonly string[] {
    return this.#endpoints.templates
  }
  get addresses(): readonly string[] {
    return this.#addresses.items
  }
  get usual_bytes_in(): number | null {
    return this.#sizes_in.usual_bytes
  }
  get usual_bytes_out(): number | null {
    return this.#sizes_out.usual_bytes
  }
  /** The normal shares of calls that fail or are denied. */
  get usual_shares(): { readonly failed: number; readonly denied: number } {
    return { failed: this.#shares[COLUMN.failed] ?? 0, denied: this.#shares[COLUMN.denied] ?? 0 }
  }

  /** Expected calls per minute in the hour of `at_ms`. */
  usualRpm(at_ms: number): number {
    return (this.#profile.usualCalls(Math.floor(at_ms / HOUR_MS)) ?? 0) / 60
  }

  /** Adds a call; `at_ms` may be slightly in the past, but never after the next tick. */
  observe(call: ObservedCall, at_ms: number): void {
    this.#calls++
    this.#has_news = true
    this.#integration_id = call.integration_id ?? this.#integration_id
    this.#count(COLUMN.calls, 1, at_ms)
    if (call.outcome === 'failed') this.#count(COLUMN.failed, 1, at_ms)
    if (call.outcome === 'denied') {
      this.#count(COLUMN.denied, 1, at_ms)
      return
    }
    const calm = this.#score < SUSPICIOUS_SCORE
    const oversize =
      this.#sizes_in.oversize(call.bytes_in) + this.#sizes_out.oversize(call.bytes_out)
    if (oversize > 0) this.#count(COLUMN.oversize, oversize, at_ms)
    if (calm) {
      this.#sizes_in.learn(call.bytes_in)
      this.#sizes_out.learn(call.bytes_out)
    }
    const counts = this.#tick_ms - this.#first_ms >= this.#learning_ms / 2
    this.#endpoints.see(call.method, call.endpoint, at_ms, counts)
    if (call.source_ip !== null) this.#addresses.see(networkOf(call.source_ip), at_ms, counts)
  }

  /** Moves on to a tick, through a silence in long steps; the result is the same as with short steps. */
  advance(tick_ms: number): void {
    if (tick_ms - this.#tick_ms > SILENCE_MAX_MS) this.#tick_ms = tick_ms - SILENCE_MAX_MS
    while (this.#tick_ms < tick_ms) {
      const step_ms = stepOf(this.#tick_ms, tick_ms)
      // The expectation for an hour that is in no window does not matter.
      if (step_ms < HOUR_MS) {
        const expected = this.#expectedPerTick() * (step_ms / TICK_MS)
        this.#rates.add(this.#tick_ms, COLUMN.expected, expected)
      }
      this.#tick_ms += step_ms
      this.#rates.advance(this.#tick_ms)
      if (this.#tick_ms % HOUR_MS === 0) this.#endHour(this.#tick_ms / HOUR_MS - 1)
    }
  }

  evaluate(): number {
    this.#has_news = false
    const now_ms = this.#tick_ms
    const days = this.#rate_days
    this.#rates.returnDays(this.#shares, days)
    if (this.learning) return 0
    const { score, types } = combineSigns({
      frequency: days[0] as number,
      error_rate: days[1] as number,
      denied_rate: days[2] as number,
      payload_size: days[3] as number,
      new_endpoint: this.#endpoints.returnDays(now_ms),
      new_source_ip: this.#addresses.returnDays(now_ms),
      off_hours: this.#offHoursDays(),
    })
    this.#score = score
    this.#types = types
    this.#peak = Math.max(this.#peak, score)
    return score
  }

  normalRpm(): number {
    const hour = Math.floor(this.#tick_ms / HOUR_MS)
    if (hour !== this.#usual_hour) {
      this.#usual_hour = hour
      this.#usual_calls = this.#profile.usualCalls(hour) ?? 0
    }
    return this.#usual_calls / 60
  }

  /** Resets the current state and keeps the baseline: a reactivated agent starts without a score. */
  calmDown(): void {
    this.#rates.clearWindows()
    this.#score = 0
    this.#types = []
    this.#run = 0
  }

  #count(column: number, count: number, at_ms: number): void {
    this.#tally[column] = (this.#tally[column] as number) + count
    this.#rates.add(at_ms, column, count)
  }

  #expectedPerTick(): number {
    const slot = Math.floor(this.#tick_ms / COARSE_MS)
    if (slot !== this.#expected_slot) {
      this.#expected_slot = slot
      const per_tick = this.#profile.expectedCalls((slot + 0.5) * COARSE_MS) * (TICK_MS / HOUR_MS)
      this.#expected_per_tick = Math.round(per_tick / EXPECTED_STEP) * EXPECTED_STEP
    }
    return this.#expected_per_tick
  }

  #offHoursDays(): number {
    if ((this.#tally[COLUMN.calls] as number) === 0) return 0
    const hour = Math.floor(this.#tick_ms / HOUR_MS)
    if (hour !== this.#quiet_hour) {
      this.#quiet_hour = hour
      this.#is_quiet = this.#profile.isQuiet(hour)
    }
    const [hours, broken] = this.#quiet
    if (!this.#is_quiet || hours < QUIET_HOURS_MIN) return 0
    return (hours + QUIET_PRIOR.hours) / (broken + QUIET_PRIOR.broken) / 24
  }

  #endHour(hour: number): void {
    const age_ms = this.#tick_ms - this.#first_ms
    const calls = this.#tally[COLUMN.calls] as number
    const learns = this.#judgeHour()
    this.#noteQuiet(hour, calls)
    if (age_ms >= HOUR_MS) this.#profile.record(hour, learns ? calls : null)
    const has_profile = age_ms >= this.#learning_ms / 2
    this.#rates.hourPassed(hour, has_profile && (learns || this.#run <= NOTED_HOURS))
    if (has_profile) {
      this.#judged_hours++
      this.#endpoints.hourPassed(this.#tick_ms)
      this.#addresses.hourPassed(this.#tick_ms)
    }
    if (learns) this.#learnShares()
    this.#sizes_in.hourPassed()
    this.#sizes_out.hourPassed()
    this.#tally.fill(0)
    this.#peak = 0
    this.#expected_slot = -1
    if (this.learning && age_ms >= this.#learning_ms && this.#calls >= LEARNING_CALLS)
      this.#ready_ms = this.#tick_ms
  }

  /** Whether the ending hour may become part of the baseline. */
  #judgeHour(): boolean {
    if (this.#peak >= SUSPICIOUS_SCORE) {
      this.#run++
      this.#calm = 0
      this.#lately = Math.min(this.#lately + 1, 2 * ADOPTED_HOURS)
      return this.#lately > ADOPTED_HOURS
    }
    this.#lately = Math.max(this.#lately - CALM_TAKES_BACK, 0)
    if (++this.#calm >= CALM_HOURS) this.#run = 0
    return true
  }

  #noteQuiet(hour: number, calls: number): void {
    if (!this.#profile.isQuiet(hour)) {
      this.#quiet[2] = 0
      return
    }
    const keep = 1 - 1 / QUIET_MEMORY_HOURS
    const [hours, broken, last] = this.#quiet
    const is_first = calls > 0 && last === 0
    this.#quiet[0] = hours * keep + 1
    this.#quiet[1] = broken * keep + (is_first ? 1 : 0)
    this.#quiet[2] = calls > 0 ? 1 : 0
  }

  #learnShares(): void {
    const keep = 1 - 1 / MEMORY_HOURS
    for (let column = 0; column < this.#learned.length; column++)
      this.#learned[column] =
        (this.#learned[column] as number) * keep + (this.#tally[column] as number)
    this.#shares = this.#sharesNow()
  }

  #sharesNow(): readonly number[] {
    const calls = (this.#learned[COLUMN.calls] as number) + SHARE_PRIOR_CALLS
    return this.#learned.map((count) => count / calls)
  }
}

/** The longest step through a silence after which the windows contain the same as after single ticks. */
function stepOf(tick_ms: number, end_ms: number): number {
  if (tick_ms % HOUR_MS === 0 && end_ms - tick_ms >= HOUR_MS + COARSE_REACH_MS) return HOUR_MS
  if (tick_ms % COARSE_MS === 0 && end_ms - tick_ms >= COARSE_MS + FINE_REACH_MS) return COARSE_MS
  return TICK_MS
}

/** IPv6 hosts change the lower half of their address, so the network prefix is used. */
function networkOf(address: string): string {
  if (!address.includes(':')) return address
  const [head = '', tail] = address.split('::')
  const groups = head === '' ? [] : head.split(':')
  if (tail !== undefined) {
    const after = tail === '' ? [] : tail.split(':')
    while (groups.length + after.length < 8) groups.push('0')
    groups.push(...after)
  }
  return `${groups.slice(0, 4).join(':')}::/64`
}
