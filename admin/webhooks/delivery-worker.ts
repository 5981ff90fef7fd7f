import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { describeStoreError } from '../../core/redis/describe-store-error.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import type { AttemptOutcome } from './attempt-outcome.ts'
import type { ClaimedDelivery, DeliveryQueue, Settled } from './delivery-queue.ts'
import { Wake } from './wake.ts'
import type { Webhook } from './webhook.ts'
import { readableRecord } from '../../core/store/stored-record.ts'

/** Attempts of one process at a time; each is a socket and, at most, an envelope and 64 KiB of an answer. */
const ATTEMPTS_MAX = 256
const CLAIM_MAX = 64
/** A route or another process may have made a delivery due; this finds out only by polling. Events of this process wake it. */
export const LOOK_INTERVAL_MS = 2_000
const STORE_PAUSE_MS = 300
/** Webhooks of a newer version that the log has named; more are named again. */
const NAMED_MAX = 1000
/**
 * At most this many attempts at a time for a webhook, by how its last one went; core/lua/include/webhook-queue.lua begins with
 * the first.
 */
const SLOTS = { prompt: 8, slow: 4, silent: 2 } as const
const SLOW_MS = 2000

export interface WorkerParts {
  readonly queue: DeliveryQueue
  readonly redis: RedisClient
  /** Makes one attempt; its failure is a value. */
  readonly attempt: (
    webhook: Webhook,
    message: { readonly event_id: string; readonly body: Buffer },
  ) => Promise<AttemptOutcome>
  readonly now: () => Date
  readonly log: Logger
  /** Called when a webhook has begun to fail. */
  readonly onFailing: () => void
  /** Called with every attempt that was made, for metrics. */
  readonly onAttempt?: (outcome: AttemptOutcome) => void
}

/** Attempts due deliveries until it is stopped. Any number of processes may do so. */
export class DeliveryWorker {
  readonly #parts: WorkerParts
  readonly #running = new Set<Promise<void>>()
  readonly #wake = new Wake()
  readonly #named = new Set<string>()
  #isStopping = false
  #isQueueAway = false
  #loop: Promise<void> = Promise.resolve()

  constructor(parts: WorkerParts) {
    this.#parts = parts
  }

  start(): void {
    this.#loop = this.#run()
  }

  /** Looks for due deliveries now. */
  wake(): void {
    this.#wake.ring()
  }

  get running(): number {
    return this.#running.size
  }

  /** Claims no further deliveries and returns when those in progress are settled, after at most the duration of one attempt. */
  async stop(): Promise<void> {
    this.#isStopping = true
    this.#wake.ring()
    await this.#loop
    await Promise.all(this.#running)
  }

  async #run(): Promise<void> {
    const { queue } = this.#parts
    let passed = 0
    while (!this.#isStopping) {
      const free = ATTEMPTS_MAX - this.#running.size
      const most = Math.min(free, CLAIM_MAX)
      let pause_ms: number = LOOK_INTERVAL_MS
      if (most > 0) {
        try {
          const { deliveries, next_due_in_ms, waiting } = await queue.claim(most, passed)
          this.#isQueueAway = false
          this.#nameWaiting(waiting)
          for (const delivery of deliveries) this.#begin(delivery)
          // What is due may wait for a process of a newer version. Asking again at once would keep the store busy; after a pause
          // it is asked for what is due behind them.
          const isStuck = deliveries.length === 0 && next_due_in_ms === 0
          passed = isStuck ? passed + waiting.length : 0
          if (!isStuck) pause_ms = Math.min(next_due_in_ms ?? LOOK_INTERVAL_MS, LOOK_INTERVAL_MS)
        } catch (error) {
          this.#noteAway(error)
          pause_ms = STORE_PAUSE_MS
        }
      }
      if (pause_ms > 0) await this.#wake.wait(pause_ms)
    }
  }

  #nameWaiting(members: readonly string[]): void {
    for (const member of members) {
      if (this.#named.has(member)) continue
      if (this.#named.size >= NAMED_MAX) this.#named.clear()
      this.#named.add(member)
      const [organization_id, webhook_id] = member.split(' ')
      this.#parts.log.warn(
        { organization_id, webhook_id },
        'a newer version has stored this webhook; its deliveries wait for a process that can read it',
      )
    }
  }

  /** Once in an outage, whose cause is announced anyway; with each attempt it would bury that. */
  #noteAway(error: unknown): void {
    if (this.#isQueueAway) return
    this.#isQueueAway = true
    const why = describeStoreError(error)
    this.#parts.log.warn(
      why === null ? { err: error } : { error: why },
      'webhook deliveries wait until the store is available',
    )
  }

  #begin(delivery: ClaimedDelivery): void {
    const attempt = this.#attempt(delivery)
      .catch((error: unknown) => {
        const { delivery_id } = delivery
        this.#parts.log.error({ err: error, delivery_id }, 'unhandled error in a delivery')
      })
      .finally(() => {
        this.#running.delete(attempt)
        this.#wake.ring()
      })
    this.#running.add(attempt)
  }

  async #attempt(delivery: ClaimedDelivery): Promise<void> {
    const { queue, redis, attempt: make, now, log } = this.#parts
    const { organization_id, webhook_id } = delivery
    const text = await this.#untilAnswered(() =>
      redis.hget(REDIS_KEYS.webhooks(organization_id), webhook_id),
    )
    if (text === undefined) return
    if (text === null || delivery.body === '') {
      await this.#untilAnswered(() => queue.drop(delivery))
      return
    }
    const webhook = readableRecord<Webhook>(text)
    // A newer version has stored it since it was claimed. A process that can read it takes the delivery at the end of the lease.
    if (webhook === null) return
    // A process that could not read the events queued it. What was attempted before the events were changed goes on.
    if (delivery.attempts === 0 && !webhook.events.some((event) => event === delivery.event)) {
      await this.#untilAnswered(() => queue.drop(delivery))
      return
    }
    const number = delivery.attempts + 1
    const started_at = now().toISOString()
    const message = { event_id: delivery.event_id, body: Buffer.from(delivery.body) }
    const outcome = await make(webhook, message)
    this.#parts.onAttempt?.(outcome)
    const attempt = { number, started_at, ...outcome }
    const settled = await this.#untilAnswered(() =>
      queue.settle(delivery, attempt, slotsAfter(outcome)),
    )
    logAttempt(log, delivery, attempt, settled)
    if (settled?.became_failing) this.#parts.onFailing()
  }

  /** Tries until the store answers; undefined when this process stops first, and then the lease ends the claim. */
  async #untilAnswered<T>(ask: () => Promise<T>): Promise<T | undefined> {
    for (;;) {
      try {
        return await ask()
      } catch (error) {
        this.#noteAway(error)
        if (this.#isStopping) return undefined
        await delay(STORE_PAUSE_MS)
      }
    }
  }
}

const slotsAfter = ({ error, duration_ms }: AttemptOutcome): number => {
  if (error === 'timeout' || error === 'dns_failed') return SLOTS.silent
  return duration_ms >= SLOW_MS ? SLOTS.slow : SLOTS.prompt
}

function logAttempt(
  log: Logger,
  delivery: ClaimedDelivery,
  attempt: AttemptOutcome & { readonly number: number },
  settled: Settled | undefined,
): void {
  const { delivery_id, organization_id, webhook_id, event_id, event } = delivery
  const { number, status, error, duration_ms, is_success } = attempt
  const next = settled?.next_attempt_ms ?? null
  const next_attempt_at = next === null ? null : new Date(next).toISOString()
  const names = { delivery_id, organization_id, webhook_id, event_id, event }
  const facts = { number, status, error, duration_ms, next_attempt_at, is_noted: settled?.is_noted }
  if (is_success) log.debug({ ...names, ...facts }, 'delivered')
  else log.info({ ...names, ...facts }, 'a delivery failed')
  if (settled?.became_active)
    log.info({ webhook_id, organization_id }, 'a failing webhook is active again')
}
