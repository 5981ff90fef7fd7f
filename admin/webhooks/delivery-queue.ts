import { randomUUID } from 'node:crypto'
import { eventRow } from '../../core/catalogue/events.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { type RedisClient, runScript } from '../../core/redis/run-script.ts'
import type { SCRIPTS, ScriptName } from '../../core/redis/scripts.ts'
import { STORE_FORMAT } from '../../core/store/stored-record.ts'
import type { Attempt } from './attempt-outcome.ts'
import { QUEUE_KEYS } from './queue-keys.ts'

/** Deliveries of one organization that wait for an attempt; an event that finds so many is dropped and counted. */
const PENDING_MAX = 50_000
/** Envelopes that an organization keeps for attempts and replays; the oldest ones that no attempt needs are dropped. */
const EVENT_BYTES_MAX = 64 * 1024 * 1024
/** Ended deliveries of an organization that are kept. */
const SETTLED_MAX = 10_000
/** Attempts of one delivery that are kept; retries by hand can make more than the schedule has. */
export const ATTEMPTS_KEPT = 25
/** An attempt takes at most 10 s; the rest allows for a slow store. */
const DELIVERY_LEASE_MS = 15_000
const RETENTION_MS = 30 * 24 * 3600 * 1000
const TRIM_BATCH = 500
const REPLAY_BATCH = 200
/** Events of one replay; a longer range is replayed in several calls. */
const REPLAY_MAX = 10_000

export interface ClaimedDelivery {
  readonly delivery_id: string
  readonly organization_id: string
  readonly webhook_id: string
  readonly event_id: string
  readonly event: string
  readonly attempts: number
  readonly body: string
  readonly claim: string
}

export interface Settled {
  /** False if another process has the lease. */
  readonly is_noted: boolean
  readonly next_attempt_ms: number | null
  readonly became_failing: boolean
  readonly became_active: boolean
}

export interface OutboxEvent {
  readonly outbox_id: string
  readonly organization_id: string
  readonly event_id: string
  readonly event: string
  readonly at_ms: number
  readonly body: string
  readonly entry_bytes: number
}

type QueueScript = {
  [Name in ScriptName]: (typeof SCRIPTS)[Name] extends (typeof QUEUE_KEYS)['length'] ? Name : never
}[ScriptName]

export type RetryAnswer = 'queued' | 'not_found' | 'in_flight' | 'test' | 'event_gone'

export interface Bounds {
  readonly pending_max: number
  readonly event_bytes_max: number
  readonly settled_max: number
  readonly lease_ms: number
}

const BOUNDS: Bounds = {
  pending_max: PENDING_MAX,
  event_bytes_max: EVENT_BYTES_MAX,
  settled_max: SETTLED_MAX,
  lease_ms: DELIVERY_LEASE_MS,
}

/** The queue of deliveries: every move is one script (docs/decisions/004-webhook-queue.md). */
export class DeliveryQueue {
  readonly #redis: RedisClient
  readonly #delays_ms: readonly number[]
  readonly #bounds: Bounds

  /** @param delays_ms the wait before each attempt, counted from the failure before */
  constructor(redis: RedisClient, delays_ms: readonly number[], bounds: Partial<Bounds> = {}) {
    this.#redis = redis
    this.#delays_ms = delays_ms
    this.#bounds = { ...BOUNDS, ...bounds }
  }

  /** Null if another process has claimed it. */
  async relay(
    event: OutboxEvent,
    webhook_ids: readonly string[],
  ): Promise<{ readonly created: number; readonly dropped: number } | null> {
    const { pending_max, event_bytes_max } = this.#bounds
    const [created, dropped] = (await this.#run('relay-event', [
      event.outbox_id,
      event.organization_id,
      event.event_id,
      event.event,
      event.at_ms,
      event.body,
      event.entry_bytes,
      this.#delays_ms[0] ?? 0,
      pending_max,
      event_bytes_max,
      eventRow(event.event)?.delivery?.handling ?? 'bounded',
      ...webhook_ids,
    ])) as [number, number]
    return created < 0 ? null : { created, dropped }
  }

  /** @param passed due webhooks to pass over, which waited in the claim before */
  async claim(
    most: number,
    passed = 0,
  ): Promise<{
    readonly deliveries: readonly ClaimedDelivery[]
    readonly next_due_in_ms: number | null
    /** Due webhooks that a newer version has stored, as `organization_id webhook_id`. */
    readonly waiting: readonly string[]
  }> {
    const claim = randomUUID()
    const [next, waiting, ...parts] = (await this.#run('claim-deliveries', [
      most,
      this.#bounds.lease_ms,
      claim,
      STORE_FORMAT,
      passed,
    ])) as [number, string[], ...string[]]
    const deliveries: ClaimedDelivery[] = []
    for (let i = 0; i < parts.length; i += 7) {
      const [delivery_id = '', organization_id = '', webhook_id = ''] = parts.slice(i)
      const [event_id = '', event = '', attempts = '', body = ''] = parts.slice(i + 3)
      deliveries.push({
        delivery_id,
        organization_id,
        webhook_id,
        event_id,
        event,
        attempts: Number(attempts),
        body,
        claim,
      })
    }
    return { deliveries, next_due_in_ms: next < 0 ? null : next, waiting }
  }

  /** @param slots how many attempts at this webhook may run at a time from now on */
  async settle(delivery: ClaimedDelivery, attempt: Attempt, slots: number): Promise<Settled> {
    const [noted, next_ms, failing, active] = (await this.#run('settle-delivery', [
      delivery.delivery_id,
      delivery.claim,
      attempt.is_success ? 1 : 0,
      JSON.stringify(attempt),
      Date.parse(attempt.started_at),
      slots,
      this.#bounds.settled_max,
      ATTEMPTS_KEPT,
      ...this.#delays_ms,
    ])) as [number, number, number, number]
    return {
      is_noted: noted === 1,
      next_attempt_ms: next_ms === 0 ? null : next_ms,
      became_failing: failing === 1,
      became_active: active === 1,
    }
  }

  /** Ends a claimed delivery whose webhook was deleted. */
  async drop({ delivery_id, claim }: ClaimedDelivery): Promise<void> {
    await this.#run('drop-delivery', [delivery_id, claim])
  }

  async retry(
    organization_id: string,
    webhook_id: string,
    delivery_id: string,
  ): Promise<RetryAnswer> {
    return (await this.#run('retry-delivery', [
      delivery_id,
      organization_id,
      webhook_id,
    ])) as RetryAnswer
  }

  /** Returns how many deliveries were created, and where to go on when a bound was reached (Unix ms). */
  async replay(
    webhook: {
      readonly organization_id: string
      readonly webhook_id: string
      readonly events: readonly string[]
    },
    range: { readonly from_ms: number; readonly to_ms: number },
  ): Promise<{ readonly created: number; readonly next_from_ms: number | null }> {
    const { organization_id, webhook_id, events } = webhook
    const times = REDIS_KEYS.webhookEventTimes(organization_id)
    const found = await this.#redis.zrangebyscore(
      times,
      range.from_ms,
      range.to_ms,
      'WITHSCORES',
      'LIMIT',
      0,
      REPLAY_MAX + 1,
    )
    const ids = found.filter((_, i) => i % 2 === 0)
    const timeAt = (place: number): number | null =>
      place < ids.length ? Number(found[place * 2 + 1]) : null
    const replay = randomUUID()
    let created = 0
    let place = 0
    const end = Math.min(ids.length, REPLAY_MAX)
    // Also without an event: then nothing of the range is stored any more, and nothing more can be replayed.
    do {
      const batch = ids.slice(place, Math.min(place + REPLAY_BATCH, end))
      const [made, looked] = (await this.#run('replay-events', [
        organization_id,
        webhook_id,
        replay,
        this.#delays_ms[0] ?? 0,
        this.#bounds.pending_max,
        ` ${events.join(' ')} `,
        ...(place + batch.length === ids.length ? [range.from_ms, range.to_ms] : ['', '']),
        ...batch,
      ])) as [number, number]
      created += made
      place += looked
      if (looked < batch.length) break
    } while (place < end)
    return { created, next_from_ms: timeAt(place) }
  }

  /** False if the webhook was deleted. */
  async noteTest(
    test: {
      readonly delivery_id: string
      readonly organization_id: string
      readonly webhook_id: string
      readonly event_id: string
      readonly body: string
    },
    attempt: Attempt,
  ): Promise<boolean> {
    const created_ms = await this.#run('note-test-delivery', [
      test.delivery_id,
      test.organization_id,
      test.webhook_id,
      test.event_id,
      attempt.is_success ? 'delivered' : 'failed',
      JSON.stringify(attempt),
      this.#bounds.settled_max,
      test.body,
    ])
    return created_ms !== 0
  }

  /** Removes what deleted webhooks left; true when there is nothing more to remove. */
  async purgeDeleted(): Promise<boolean> {
    const members = await this.#redis.srandmember(REDIS_KEYS.webhooksDeleted, 10)
    for (const member of members ?? []) {
      const [organization_id = '', webhook_id = ''] = member.split(' ')
      const left =
        webhook_id === '*'
          ? await this.#run('purge-organization', [organization_id, TRIM_BATCH])
          : await this.#run('purge-webhook', [organization_id, webhook_id, TRIM_BATCH])
      if (left === 0) await this.#redis.srem(REDIS_KEYS.webhooksDeleted, member)
    }
    return (members ?? []).length === 0
  }

  /** Removes data older than the retention, a part in each call. */
  async trim(organization_id: string): Promise<number> {
    return (await this.#run('trim-webhook-history', [
      organization_id,
      RETENTION_MS,
      TRIM_BATCH,
    ])) as number
  }

  #run(script: QueueScript, args: readonly (string | number)[]): Promise<unknown> {
    return runScript(this.#redis, script, QUEUE_KEYS, args)
  }
}
