import type { ObservedCall } from '../core/anomaly/observed-call.ts'

export interface TimedCall {
  readonly at_ms: number
  readonly call: ObservedCall
}

/** Numbers that are the same for the same seed. */
export class Chance {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
    for (let warm = 0; warm < 8; warm++) this.next()
  }

  /** From 0 up to 1 (mulberry32). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = this.#state
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }

  between(low: number, high: number): number {
    return low + (high - low) * this.next()
  }

  whole(low: number, high: number): number {
    return Math.floor(this.between(low, high + 1))
  }

  oneOf<T>(items: readonly T[]): T {
    return items[Math.floor(this.next() * items.length)] as T
  }

  happens(probability: number): boolean {
    return this.next() < probability
  }

  normal(): number {
    return Math.sqrt(-2 * Math.log(1 - this.next())) * Math.cos(2 * Math.PI * this.next())
  }

  logNormal(median: number, sigma: number): number {
    return median * Math.exp(sigma * this.normal())
  }

  logBetween(low: number, high: number): number {
    return low * (high / low) ** this.next()
  }

  poisson(mean: number): number {
    if (mean > 50) return Math.max(0, Math.round(mean + Math.sqrt(mean) * this.normal()))
    const limit = Math.exp(-mean)
    let product = this.next()
    let count = 0
    while (product > limit) {
      product *= this.next()
      count++
    }
    return count
  }
}

export const MINUTE_MS = 60_000
export const HOUR_MS = 60 * MINUTE_MS
export const DAY_MS = 24 * HOUR_MS
/** A Monday, so that weeks of the generator are calendar weeks. */
export const START_MS = Date.UTC(2024, 0, 1)

export const RHYTHMS = ['steady', 'daily', 'sessions', 'batches', 'drift', 'sparse'] as const
export type Rhythm = (typeof RHYTHMS)[number]

/** A harmless agent: everything about it that differs from another. */
export interface Habits {
  readonly rhythm: Rhythm
  readonly first_ms: number
  readonly base_rpm: number
  readonly growth_per_day: number
  readonly works_weekends: boolean
  readonly day_begins_hour: number
  readonly day_hours: number
  readonly night_share: number
  readonly sessions_per_hour: number
  readonly batch_calls: number
  readonly endpoints: number
  readonly releases_per_week: number
  readonly error_share: number
  readonly blips_per_day: number
  readonly denials_per_week: number
  readonly size_bytes: number
  readonly size_sigma: number
  readonly addresses: number
  readonly moves_per_week: number
}

export function chooseHabits(rhythm: Rhythm, chance: Chance): Habits {
  return {
    rhythm,
    // Learning may begin on any day of the week and at any hour.
    first_ms: START_MS + Math.floor(chance.between(0, 7 * DAY_MS)),
    base_rpm: rhythm === 'sparse' ? chance.logBetween(0.05, 0.5) : chance.logBetween(1, 60),
    growth_per_day: rhythm === 'drift' ? chance.between(0.02, 0.05) : chance.between(-0.005, 0.01),
    works_weekends: chance.happens(0.4),
    day_begins_hour: chance.whole(0, 23),
    day_hours: chance.between(8, 14),
    night_share: chance.oneOf([0, 0.02, 0.1]),
    sessions_per_hour: chance.between(1, 8),
    batch_calls: chance.logBetween(20, 300),
    endpoints: chance.whole(2, 25),
    releases_per_week: chance.between(0, 1),
    error_share: chance.logBetween(0.001, 0.05),
    blips_per_day: chance.between(0, 2),
    denials_per_week: chance.oneOf([0, 0, 1, 7]),
    size_bytes: chance.logBetween(300, 20_000),
    size_sigma: chance.between(0.3, 1.2),
    addresses: chance.oneOf([1, 1, 2, 8, 40]),
    moves_per_week: chance.oneOf([0, 0.2, 0.5]),
  }
}

const NAMES = [
  'orders',
  'customers',
  'invoices',
  'search',
  'files',
  'threads',
  'messages',
  'models',
]

/** Makes the calls of a harmless agent, minute by minute. */
export class Traffic {
  readonly habits: Habits
  readonly #chance: Chance
  readonly #paths: string[] = []
  readonly #addresses: string[] = []
  #at_ms: number
  #day = -1
  #day_level = 1
  #day_shift_h = 0
  #session_until_ms = 0
  #session_rate = 0
  #blip_until_ms = 0
  #hour_level = 1

  constructor(habits: Habits, chance: Chance, goes_on_from?: Traffic) {
    this.habits = habits
    this.#chance = chance
    this.#at_ms = goes_on_from?.now_ms ?? habits.first_ms
    if (goes_on_from !== undefined) {
      this.#paths.push(...goes_on_from.#paths)
      this.#addresses.push(...goes_on_from.#addresses)
      return
    }
    for (let n = 0; n < habits.endpoints; n++) this.#paths.push(this.#newPath())
    for (let n = 0; n < habits.addresses; n++) this.#addresses.push(this.#newAddress())
  }

  get now_ms(): number {
    return this.#at_ms
  }

  /** Calls of the next minute, in order. */
  minute(): TimedCall[] {
    const start_ms = this.#at_ms
    this.#turn(start_ms)
    const count = this.#chance.poisson(this.rateAt(start_ms))
    const times = Array.from(
      { length: count },
      () => start_ms + Math.floor(this.#chance.next() * MINUTE_MS),
    )
    times.sort((a, b) => a - b)
    this.#at_ms += MINUTE_MS
    return times.map((at_ms) => ({ at_ms, call: this.call() }))
  }

  /** Calls a minute at this time. */
  rateAt(at_ms: number): number {
    const { rhythm, base_rpm, growth_per_day, batch_calls, first_ms } = this.habits
    const grown = base_rpm * (1 + growth_per_day) ** ((at_ms - first_ms) / DAY_MS)
    const usual = grown * this.#day_level * this.#hour_level
    switch (rhythm) {
      case 'steady':
      case 'sparse':
        return usual
      case 'drift':
      case 'daily':
        return usual * this.#daylight(at_ms)
      case 'sessions':
        return at_ms < this.#session_until_ms
          ? this.#session_rate
          : usual * 0.1 * this.#daylight(at_ms)
      case 'batches': {
        const minute = Math.floor(at_ms / MINUTE_MS) % 60
        return usual * 0.2 + (minute < 2 ? (batch_calls * this.#hour_level) / 2 : 0)
      }
    }
  }

  /** The mean rate while the agent works as it does now. */
  workingRpm(at_ms: number): number {
    const { rhythm, base_rpm, batch_calls } = this.habits
    if (rhythm === 'sessions') return base_rpm
    if (rhythm === 'batches') return base_rpm * 0.2 + batch_calls / 60
    return this.rateAt(at_ms)
  }

  /** A call as this agent makes it. */
  call(): ObservedCall {
    const { error_share, size_bytes, size_sigma } = this.habits
    const failing = this.#at_ms < this.#blip_until_ms ? 0.2 : error_share
    return {
      agent_id: 'agt_bench',
      scope_id: 'scp_bench',
      integration_id: 'int_bench',
      method: 'POST',
      // A few endpoints take most of the calls.
      endpoint: this.#paths[Math.floor(this.#paths.length * this.#chance.next() ** 2)] as string,
      outcome: this.#chance.happens(failing) ? 'failed' : 'passed',
      source_ip: this.#chance.oneOf(this.#addresses),
      bytes_in: Math.round(this.#chance.logNormal(size_bytes, size_sigma)),
      bytes_out: Math.round(this.#chance.logNormal(size_bytes * 2, size_sigma)),
    }
  }

  /** Lets happen what happens now and then. */
  #turn(at_ms: number): void {
    const chance = this.#chance
    const { habits } = this
    const day = Math.floor(at_ms / DAY_MS)
    if (day !== this.#day) {
      this.#day = day
      this.#day_level = chance.logNormal(1, 0.15)
      this.#day_shift_h = chance.between(-0.5, 0.5)
    }
    if (at_ms % HOUR_MS < MINUTE_MS) this.#hour_level = chance.logNormal(1, 0.1)
    const perWeek = (times: number): boolean => chance.happens((times * MINUTE_MS) / (7 * DAY_MS))
    if (perWeek(habits.releases_per_week))
      for (let n = chance.whole(1, 2); n > 0; n--) this.#paths.unshift(this.#newPath())
    if (perWeek(habits.moves_per_week))
      this.#addresses[chance.whole(0, this.#addresses.length - 1)] = this.#newAddress()
    if (perWeek(habits.blips_per_day * 7))
      this.#blip_until_ms = at_ms + chance.between(1, 8) * MINUTE_MS
    if (habits.rhythm === 'sessions' && at_ms >= this.#session_until_ms) {
      const per_minute = (habits.sessions_per_hour / 60) * this.#daylight(at_ms)
      if (chance.happens(per_minute)) {
        this.#session_until_ms = at_ms + chance.logNormal(4, 0.6) * MINUTE_MS
        this.#session_rate = chance.logNormal(habits.base_rpm, 0.5)
      }
    }
  }

  /** Denials that happen to a harmless agent: a call or two that its scope does not allow. */
  denials(at_ms: number): TimedCall[] {
    if (!this.#chance.happens((this.habits.denials_per_week * MINUTE_MS) / (7 * DAY_MS))) return []
    const again = this.#chance.whole(1, 2)
    return Array.from({ length: again }, (_, n) => ({
      at_ms: at_ms + n * 2000,
      call: { ...this.call(), outcome: 'denied' as const, scope_id: null },
    }))
  }

  #daylight(at_ms: number): number {
    const { day_begins_hour, day_hours, night_share, works_weekends } = this.habits
    const day = Math.floor((at_ms - START_MS) / DAY_MS)
    const hour = (at_ms % DAY_MS) / HOUR_MS - this.#day_shift_h
    const since = (((hour - day_begins_hour) % 24) + 24) % 24
    if (!works_weekends && day % 7 >= 5) return night_share * 0.5
    if (since > day_hours) return night_share
    return Math.max(night_share, Math.min(1, since * 2, (day_hours - since) * 2))
  }

  #newPath(): string {
    const chance = this.#chance
    const word = (): string =>
      Array.from({ length: 7 }, () => 'abcdefghiklmnoprstu'[chance.whole(0, 18)]).join('')
    return `/v1/${chance.oneOf(NAMES)}/${word()}${chance.happens(0.3) ? `/${word()}` : ''}`
  }

  #newAddress(): string {
    const part = (): number => this.#chance.whole(1, 254)
    return `10.${part()}.${part()}.${part()}`
  }
}
