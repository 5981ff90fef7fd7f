import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { ActivityEntry } from '../../core/activity/activity-entry.ts'
import { buildEnvelope } from '../../core/change/build-envelope.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { type Formatted, isNewer } from '../../core/store/stored-record.ts'
import { closeFloods } from './close-floods.ts'
import type { DeliveryQueue } from './delivery-queue.ts'
import type { Webhook } from './webhook.ts'

const BATCH = 100
/** How long one read of an empty outbox blocks; floods and shutdown are handled in between. */
const BLOCK_MS = 2000
const STORE_PAUSE_MS = 300

export interface RelayParts {
  readonly redis: RedisClient
  /** A separate connection, since it blocks. */
  readonly blocking: RedisClient
  readonly queue: DeliveryQueue
  readonly now: () => Date
  readonly log: Logger
  /** Called when there are new deliveries. */
  readonly onDeliveries: () => void
}

/** What is read of webhooks in newer formats, too; their deliveries then wait for a process that can read the rest. */
interface Subscriber {
  readonly webhook_id: string
  /** Null where only a newer version can tell: the process that reads the rest drops what it does not subscribe to. */
  readonly events: readonly string[] | null
}

type StreamEntry = [id: string, fields: string[]]

/**
 * Hands the events of the outbox to the queues. Entries are read from the beginning and removed in the script that
 * creates their deliveries, so there is no position to store and nothing to claim from a dead process.
 */
export class OutboxRelay {
  readonly #parts: RelayParts
  #isStopping = false
  #endRead: (hasEvents: boolean) => void = () => undefined
  #loop: Promise<void> = Promise.resolve()

  constructor(parts: RelayParts) {
    this.#parts = parts
  }

  start(): void {
    this.#loop = this.#run()
  }

  async stop(): Promise<void> {
    this.#isStopping = true
    // Events of an interrupted read are still in the outbox.
    this.#endRead(false)
    this.#parts.blocking.disconnect()
    await this.#loop
  }

  async #run(): Promise<void> {
    const { redis, now, log } = this.#parts
    while (!this.#isStopping) {
      try {
        const hasEvents = await this.#waitForEvent()
        if (this.#isStopping) return
        if (hasEvents) await this.relayWaiting()
        await closeFloods(redis, now())
      } catch (error) {
        if (this.#isStopping) return
        log.warn({ err: error }, 'the outbox cannot be read')
        await delay(STORE_PAUSE_MS)
      }
    }
  }

  /**
   * Returns when the outbox has an event (true), the time limit is reached, or `stop` is called. A read that waits for a connection is
   * never settled once ioredis is asked to disconnect between two attempts to reconnect, so `stop` ends the wait itself.
   */
  async #waitForEvent(): Promise<boolean> {
    const { blocking } = this.#parts
    return await new Promise<boolean>((resolve, reject) => {
      this.#endRead = resolve
      blocking
        .xread('COUNT', 1, 'BLOCK', BLOCK_MS, 'STREAMS', REDIS_KEYS.outbox, '0')
        .then((found) => resolve(found !== null), reject)
    })
  }

  /** Relays the current events of the outbox. */
  async relayWaiting(): Promise<void> {
    const { redis } = this.#parts
    for (;;) {
      const entries = (await redis.xrange(
        REDIS_KEYS.outbox,
        '-',
        '+',
        'COUNT',
        BATCH,
      )) as StreamEntry[]
      if (entries.length === 0) return
      const webhooks = await this.#webhooksOf(entries)
      await Promise.all(entries.map((entry) => this.#relay(entry, webhooks)))
    }
  }

  async #webhooksOf(
    entries: readonly StreamEntry[],
  ): Promise<ReadonlyMap<string, readonly Subscriber[]>> {
    const { redis, log } = this.#parts
    const organizations = [...new Set(entries.map(([, fields]) => fields[1] ?? ''))]
    const lists = await Promise.all(
      organizations.map(async (organization_id) => {
        const texts = await redis.hgetall(REDIS_KEYS.webhooks(organization_id))
        return Object.entries(texts).flatMap(([webhook_id, text]) => {
          const subscriber = readSubscriber(webhook_id, text)
          if (subscriber === null)
            log.error({ organization_id, webhook_id }, 'a webhook is damaged; it gets no events')
          return subscriber ?? []
        })
      }),
    )
    return new Map(organizations.map((organization_id, i) => [organization_id, lists[i] ?? []]))
  }

  async #relay(
    [outbox_id, [, organization_id = '', , text = '']]: StreamEntry,
    webhooks: ReadonlyMap<string, readonly Subscriber[]>,
  ): Promise<void> {
    const { queue, log, onDeliveries } = this.#parts
    const entry = readEntry(text)
    if (entry === null)
      log.error({ outbox_id, organization_id }, 'an outbox entry cannot be parsed; it is dropped')
    const wanting = (webhooks.get(organization_id) ?? [])
      .filter(({ events }) => entry !== null && (events?.includes(entry.event) ?? true))
      .map(({ webhook_id }) => webhook_id)
    const relayed = await queue.relay(
      {
        outbox_id,
        organization_id,
        event_id: entry?.id ?? '',
        event: entry?.event ?? '',
        at_ms: Date.parse(entry?.timestamp ?? '') || this.#parts.now().getTime(),
        body: entry === null ? '' : JSON.stringify(buildEnvelope(entry)),
        entry_bytes: Buffer.byteLength(text),
      },
      wanting,
    )
    if (relayed === null) return
    if (relayed.created > 0) onDeliveries()
    if (relayed.dropped > 0)
      log.error(
        { organization_id, event: entry?.event, event_id: entry?.id, dropped: relayed.dropped },
        'the delivery queue is full; deliveries of an event were dropped',
      )
  }
}

/** Null if the record is damaged. */
function readSubscriber(webhook_id: string, text: string): Subscriber | null {
  try {
    const webhook = JSON.parse(text) as Partial<Webhook> & Formatted
    if (Array.isArray(webhook.events)) return { webhook_id, events: webhook.events }
    return isNewer(webhook) ? { webhook_id, events: null } : null
  } catch {
    return null
  }
}

function readEntry(text: string): ActivityEntry | null {
  try {
    const entry = JSON.parse(text) as ActivityEntry
    return typeof entry.id === 'string' && typeof entry.data === 'object' ? entry : null
  } catch {
    return null
  }
}
