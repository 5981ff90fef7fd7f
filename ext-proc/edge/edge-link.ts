import {
  type Acknowledgement,
  type ControlTarget,
  EDGE_BEAT_INTERVAL_MS,
  type EdgeRecord,
  parseControlMessage,
} from '../../core/control/control-message.ts'
import { CHANNELS, REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { type RedisClient, runScript } from '../../core/redis/run-script.ts'
import type { HearingLease } from './hearing-lease.ts'
import type { HeldCalls } from './held-calls.ts'

/** An edge that is silent this many leases long is forgotten; long before that it has stopped serving. */
const FORGET_AFTER_LEASES = 20
/** Acknowledgements outlast every wait for them, so that an interrupted kill can be completed. */
const ACKNOWLEDGEMENT_TTL_S = 3600
/** How often the lease is looked at while calls are held; a cut is late by this at most. */
const LEASE_CHECK_INTERVAL_MS = 50

export interface EdgeLinkParts {
  readonly commands: RedisClient
  readonly subscription: RedisClient
  readonly edge: { readonly edge_id: string; readonly region: string; readonly started_at: string }
  readonly lease_ms: number
  readonly lease: HearingLease
  readonly held: HeldCalls
  /** Drops what a change makes stale, before it is acknowledged. */
  readonly drop: (target: ControlTarget) => void
  /** Puts a kill or a reactivation in force and answers how many calls it ended. */
  readonly enforce: (
    target: Extract<ControlTarget, { what: 'kill' | 'reactivate' }>,
  ) => Promise<{ readonly terminated: number; readonly unconfirmed: number }>
  /** Drops all that is cached and reads anew what calls in flight depend on. @throws when the store cannot be read */
  readonly resync: () => Promise<void>
  readonly nowMs: () => number
  readonly log: { warn(data: object, message: string): void }
}

/** The edge's side of the control channel: hears messages, keeps the lease, acknowledges (design.md, "Kill"). */
export class EdgeLink {
  readonly #parts: EdgeLinkParts
  readonly #timers: NodeJS.Timeout[] = []
  /** The epoch up to which every message was heard; null until a resync has begun. */
  #epoch: number | null = null
  #resyncing: Promise<void> | null = null
  #pingSince_ms: number | null = null
  #draining = false

  constructor(parts: EdgeLinkParts) {
    this.#parts = parts
  }

  /** Subscribes and beats; the edge may serve when the lease is first held. */
  async start(): Promise<void> {
    const { subscription, lease, held } = this.#parts
    subscription.on('message', (channel: string, text: string) => {
      if (channel === CHANNELS.control) this.#hear(text)
    })
    subscription.on('close', () => {
      this.#epoch = null
      this.#pingSince_ms = null
    })
    // After a reconnect nothing cached is trusted; the first beacon then closes the gap that remains.
    subscription.on('ready', () => {
      this.#parts.resync().catch(() => undefined)
    })
    await subscription.subscribe(CHANNELS.control)
    this.#timers.push(
      setInterval(() => {
        void this.#beat()
        void this.#ping()
      }, EDGE_BEAT_INTERVAL_MS),
      setInterval(() => {
        if (held.size > 0 && !lease.isHeld) held.cutAll({ reason: 'gateway_unavailable' })
      }, LEASE_CHECK_INTERVAL_MS),
    )
    await Promise.all([this.#beat(), this.#ping()])
  }

  /** From now on the registry says that this edge takes no new calls; it stays an edge until `stop`. */
  drain(): void {
    this.#draining = true
  }

  /** Signs off; to be called when the last held call has ended. */
  async stop(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer)
    this.#parts.lease.revoke()
    await this.#write('').catch(() => undefined)
  }

  #hear(text: string): void {
    const message = parseControlMessage(text)
    if (message === null) return
    const heard_ms = this.#parts.nowMs()
    if (message.kind === 'beacon') {
      if (message.epoch === this.#epoch) this.#parts.lease.prove('beacon', heard_ms)
      else this.#resync(message.epoch, heard_ms).catch(() => undefined)
      return
    }
    const isNext = this.#epoch !== null && message.epoch === this.#epoch + 1
    const acknowledged = this.#apply(message.targets)
    const ready = isNext ? Promise.resolve() : this.#resync(message.epoch, heard_ms)
    if (isNext) this.#epoch = message.epoch
    Promise.all([acknowledged, ready]).then(
      ([counts]) => this.#acknowledge(message.epoch, counts),
      (error: unknown) =>
        this.#parts.log.warn(
          { error, epoch: message.epoch },
          'a control message could not be applied',
        ),
    )
  }

  async #apply(
    targets: readonly ControlTarget[],
  ): Promise<{ readonly terminated: number; readonly unconfirmed: number }> {
    let terminated = 0
    let unconfirmed = 0
    const enforced: Promise<{ readonly terminated: number; readonly unconfirmed: number }>[] = []
    for (const target of targets) {
      if (target.what === 'kill' || target.what === 'reactivate')
        enforced.push(this.#parts.enforce(target))
      else this.#parts.drop(target)
    }
    for (const counts of await Promise.all(enforced)) {
      terminated += counts.terminated
      unconfirmed += counts.unconfirmed
    }
    return { terminated, unconfirmed }
  }

  /** After a gap: until the store has been read again, no beacon renews the lease. */
  async #resync(epoch: number, heard_ms: number): Promise<void> {
    this.#epoch = epoch
    const previous = this.#resyncing
    const current = (async () => {
      await previous?.catch(() => undefined)
      await this.#parts.resync()
    })()
    this.#resyncing = current
    try {
      await current
      this.#parts.lease.prove('beacon', heard_ms)
    } catch (error) {
      this.#epoch = null
      this.#parts.log.warn(
        { error },
        'the store could not be read after a gap in the control messages',
      )
      throw error
    } finally {
      if (this.#resyncing === current) this.#resyncing = null
    }
  }

  async #acknowledge(
    epoch: number,
    counts: { readonly terminated: number; readonly unconfirmed: number },
  ): Promise<void> {
    const { commands, edge, log } = this.#parts
    const acknowledgement: Acknowledgement = {
      epoch,
      edge_id: edge.edge_id,
      region: edge.region,
      ...counts,
    }
    await runScript(
      commands,
      'acknowledge',
      [REDIS_KEYS.acknowledgements(epoch)],
      [
        edge.edge_id,
        JSON.stringify(acknowledgement),
        CHANNELS.acknowledgements,
        ACKNOWLEDGEMENT_TTL_S,
      ],
    ).catch((error: unknown) =>
      log.warn({ error, epoch }, 'an acknowledgement could not be written'),
    )
  }

  async #beat(): Promise<void> {
    const { edge, held, lease, nowMs } = this.#parts
    const sent_ms = nowMs()
    const record: EdgeRecord = { ...edge, in_flight: held.size, draining: this.#draining }
    await this.#write(JSON.stringify(record)).then(
      () => lease.prove('beat', sent_ms),
      () => undefined,
    )
  }

  async #write(record: string): Promise<void> {
    const { commands, edge, lease_ms } = this.#parts
    await runScript(
      commands,
      'beat',
      [REDIS_KEYS.edges, REDIS_KEYS.edgeBeats, REDIS_KEYS.epoch],
      [edge.edge_id, record, lease_ms * FORGET_AFTER_LEASES],
    )
  }

  /** One ping at a time; a subscription that leaves one unanswered for half a lease is given up and made anew. */
  async #ping(): Promise<void> {
    const { subscription, lease, lease_ms, nowMs } = this.#parts
    const sent_ms = nowMs()
    if (this.#pingSince_ms !== null) {
      if (sent_ms - this.#pingSince_ms > lease_ms / 2) {
        this.#pingSince_ms = null
        if ('stream' in subscription) subscription.disconnect(true)
      }
      return
    }
    if (subscription.status !== 'ready') return
    this.#pingSince_ms = sent_ms
    await subscription.ping().then(
      () => lease.prove('ping', sent_ms),
      () => undefined,
    )
    if (this.#pingSince_ms === sent_ms) this.#pingSince_ms = null
  }
}
