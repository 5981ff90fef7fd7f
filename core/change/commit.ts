import type { ActivityEntry } from '../activity/activity-entry.ts'
import type { ControlTarget } from '../control/control-message.ts'
import { outboxKeys } from './outbox-keys.ts'
import { deliveryTag } from './delivery-tag.ts'
import { CHANNELS, REDIS_KEYS } from '../redis/redis-keys.ts'
import { type RedisClient, runScript } from '../redis/run-script.ts'

/** `expected`: the text that must be stored, `false` for absent, `true` for present; for HLEN and ZCARD the number as text. */
export type Guard =
  | readonly ['HGET', key: string, field: string, expected: string | boolean]
  | readonly ['ZSCORE', key: string, member: string, expected: boolean]
  | readonly ['EXISTS', key: string, '', expected: boolean]
  | readonly ['HLEN' | 'ZCARD', key: string, '', expected: string]

/** A Redis command, its key, its arguments; `EPOCH` as an argument stands for the number of this change. */
export type Write = readonly [command: string, key: string, ...args: readonly (string | number)[]]
export const EPOCH = '@epoch'
/**
 * The index in KEYS, counted from 1, of the first key that guards and writes refer to. Their places count from this key, the
 * first being 1; the place of an event is its index in KEYS.
 */
const CHANGE_KEYS = [REDIS_KEYS.epoch, REDIS_KEYS.edgeBeats, REDIS_KEYS.beatClock] as const
const FIRST_PLACE = CHANGE_KEYS.length + 1

export interface Change {
  readonly guards: readonly Guard[]
  readonly writes: readonly Write[]
  /**
   * Entries whose events go to the outbox, for the webhooks that subscribe to them. The activity log is written by `writes`: an
   * event can be sent later than its entry, for example for a kill, which waits for its counts.
   */
  readonly events?: readonly ActivityEntry[]
  /** What edges must invalidate; none if no edge caches it. */
  readonly targets: readonly ControlTarget[]
}

export type Committed =
  | {
      readonly kind: 'committed'
      readonly epoch: number
      readonly edges: readonly string[]
      /** Id of the activity entry in its stream; of the last one if there are several, empty if there is none. */
      readonly logged_as: string
    }
  /** `guard` is the index in `guards` of the first one that failed; nothing was written. */
  | { readonly kind: 'refused'; readonly guard: number }

/**
 * Applies a change in one script (core/lua/commit.lua or core/lua/commit-when-full.lua). `lease_ms` decides which edges still count. `even_when_full` is for
 * kills, reactivations and their records, and for the sign-ins that come before them: they also run when the store is full
 * (threat model, rule 21).
 */
export async function commit(
  redis: RedisClient,
  change: Change,
  lease_ms: number,
  room: 'ordinary' | 'even_when_full' = 'ordinary',
): Promise<Committed> {
  const places = new Map<string, number>()
  const placeOf = (key: string): number => {
    const place = places.get(key) ?? places.size + 1
    places.set(key, place)
    return place
  }
  const guards = change.guards.map(([command, key, field, expected]) => [
    command,
    placeOf(key),
    field,
    expected,
  ])
  const writes = change.writes.map(([command, key, ...args]) => [
    command,
    placeOf(key),
    ...args.map(String),
  ])
  const outbox: string[] = []
  const events = (change.events ?? [])
    .filter(({ event }) => deliveryTag(event) !== '')
    .map((entry) => {
      const first = FIRST_PLACE + places.size + outbox.length
      outbox.push(...outboxKeys(entry.organization_id))
      return [first, entry.organization_id, deliveryTag(entry.event), JSON.stringify(entry)]
    })
  const plan = {
    guards,
    writes,
    events,
    // As text, since Lua would write an epoch with 14 digits.
    targets: JSON.stringify(change.targets),
    channel: CHANNELS.control,
    lease_ms,
  }
  const answer = (await runScript(
    redis,
    room === 'ordinary' ? 'commit' : 'commit-when-full',
    [...CHANGE_KEYS, ...places.keys(), ...outbox],
    [JSON.stringify(plan)],
  )) as [1, number, string[], string] | [0, number]
  return answer[0] === 1
    ? { kind: 'committed', epoch: answer[1], edges: answer[2], logged_as: answer[3] }
    : { kind: 'refused', guard: answer[1] - 1 }
}
