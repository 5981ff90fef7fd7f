import type { ActivityEntry } from '../../core/activity/activity-entry.ts'
import {
  INDEXED_MEMBERS,
  type IndexedMember,
  valueOfMember,
} from '../../core/activity/activity-index.ts'
import { isFloodEntry } from '../../core/activity/is-flood-entry.ts'
import { WRITTEN_AFTER_MAX_MS, WRITTEN_BEFORE_MAX_MS } from './activity-filter.ts'
import {
  combinationsMax,
  MINUTE_S,
  MINUTES_KEPT_S,
  QUARTER_S,
  TWO_HOURS_S,
} from './count-buckets.ts'

const MINUTE_MS = MINUTE_S * 1000
/** The order of the members in a combination. The last is only written if it is not what `decision` implies. */
export const COMBINED_MEMBERS = [
  'agent_id',
  'integration_id',
  'event',
  'decision',
  'reason',
  'via',
] as const
/** Stands for a member without a value. */
export const NO_VALUE = '-'
const LETTERS = COMBINED_MEMBERS.map((member) => `${INDEXED_MEMBERS[member]}:`)

interface Tally {
  entries: number
  /** Calls that an entry stands for in addition to one: those of a flood. */
  calls: number
}

/** Counts the entries of a piece of the log by the time at which they are filed (admin/activity/activity-filter.ts). */
export class ActivityTally {
  readonly #buckets = new Map<string, Map<string, Tally>>()
  #minuteText = ''
  #minuteMs = 0
  readonly #minutesFromMs: number

  /** Older entries are not counted by the minute. */
  constructor(minutesFrom_ms: number = Date.now() - MINUTES_KEPT_S * 1000) {
    this.#minutesFromMs = minutesFrom_ms
  }

  addEntry(written_ms: number, entry: ActivityEntry): void {
    const combination = combine((member) => valueOfMember(entry, member))
    const calls = isFloodEntry(entry) ? Math.max(0, Number(entry.data['suppressed']) - 1) : 0
    this.#add(filedMs(written_ms, Date.parse(entry.timestamp)), combination, 1, calls)
  }

  /** Both texts are those of core/activity/pack-block.ts. */
  addBlock(written_ms: number, names: string, alike: string): void {
    if (alike === '') return
    const list = names.split('\t').map((name) => name.slice(name.indexOf(':') + 1))
    for (const item of alike.split('\t')) {
      const [count, minute = '', ...positions] = item.split(' ')
      const own = positions.map((at) => list[Number(at)] ?? '')
      const combination = combine((member) => {
        const letter = LETTERS[COMBINED_MEMBERS.indexOf(member)] ?? ''
        const value = own.find((name) => name.startsWith(letter))?.slice(letter.length)
        // A block has only calls, and those by base URL do not say so.
        return value ?? (member === 'via' ? 'base_url' : null)
      })
      this.#add(filedMs(written_ms, this.#msOfMinute(minute)), combination, Number(count), 0)
    }
  }

  /**
   * What core/lua/digest-activity.lua takes. Of a bucket with very many combinations the smallest are left to the sum of
   * others, so that those that matter are there.
   */
  lines(): string {
    let lines = ''
    for (const [bucket, tallies] of this.#buckets)
      for (const [combination, { entries, calls }] of bounded(
        tallies,
        combinationsMax(Number.parseInt(bucket, 10)),
      ))
        lines += `${bucket} ${entries} ${calls} ${combination}\n`
    return lines
  }

  #add(filed_ms: number, combination: string, entries: number, calls: number): void {
    for (const step_s of [MINUTE_S, QUARTER_S, TWO_HOURS_S]) {
      if (step_s === MINUTE_S && filed_ms < this.#minutesFromMs) continue
      const start_s = Math.floor(filed_ms / 1000 / step_s) * step_s
      const bucket = `${step_s} ${start_s}`
      const tallies = this.#buckets.get(bucket) ?? new Map<string, Tally>()
      this.#buckets.set(bucket, tallies)
      const tally = tallies.get(combination)
      if (tally === undefined) tallies.set(combination, { entries, calls })
      else {
        tally.entries += entries
        tally.calls += calls
      }
    }
  }

  #msOfMinute(text: string): number {
    if (text !== this.#minuteText) {
      this.#minuteText = text
      this.#minuteMs = Date.parse(`${text}Z`)
    }
    return this.#minuteMs
  }
}

/**
 * The values of a combination, with spaces between. An entry that no one of ours wrote may have values that would break the list.
 * `via` is left out where the decision implies it: `base_url` with one, nothing without. So the counts of calls by base URL have the
 * names that they had before there was a `via`.
 */
function combine(valueOf: (member: IndexedMember) => unknown): string {
  const words = COMBINED_MEMBERS.map((member) => {
    const value = valueOf(member)
    return typeof value === 'string' && /^[^\s*]+$/.test(value) ? value : NO_VALUE
  })
  const decision = words[COMBINED_MEMBERS.indexOf('decision')]
  const isImplied = words.at(-1) === (decision === NO_VALUE ? NO_VALUE : 'base_url')
  return (isImplied ? words.slice(0, -1) : words).join(' ')
}

function filedMs(written_ms: number, made_ms: number): number {
  if (Number.isNaN(made_ms)) return written_ms
  const first_ms = Math.floor((written_ms - WRITTEN_AFTER_MAX_MS) / MINUTE_MS) * MINUTE_MS
  return Math.max(0, Math.min(Math.max(made_ms, first_ms), written_ms + WRITTEN_BEFORE_MAX_MS))
}

function bounded(
  tallies: ReadonlyMap<string, Tally>,
  max: number,
): Iterable<readonly [string, Tally]> {
  if (tallies.size <= max) return tallies
  const [most, others] = [new Map<string, Tally>(), new Map<string, Tally>()]
  const falling = [...tallies].sort(([, a], [, b]) => b.entries - a.entries)
  for (const [at, [combination, { entries, calls }]] of falling.entries()) {
    const isMost = at < max
    const name = isMost ? combination : `* * ${combination.split(' ').slice(2).join(' ')}`
    const into = isMost ? most : others
    const tally = into.get(name) ?? { entries: 0, calls: 0 }
    into.set(name, { entries: tally.entries + entries, calls: tally.calls + calls })
  }
  return [...most, ...others]
}
