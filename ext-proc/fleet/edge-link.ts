import {
  type Acknowledgement,
  type ControlTarget,
  edgeBeatInterval,
  type EdgeRecord,
  parseControlMessage,
} from '../../core/control/control-message.ts'
import { CHANNELS, REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { type RedisClient, runScript } from '../../core/redis/run-script.ts'
import type { KillTarget } from '../kill/enforce-kill.ts'
import type { HearingLease } from './hearing-lease.ts'
import { type CutCounts, type HeldCalls, NONE_CUT } from '../kill/held-calls.ts'

/** An edge that is silent this many leases long is forgotten; long before that it has stopped serving. */
const FORGET_AFTER_LEASES = 20
/** Acknowledgements outlast every wait for them, so that an interrupted kill can be completed. */
const ACKNOWLEDGEMENT_TTL_S = 3600
/** How often the lease is looked at while calls are held; a cut is late by this at most. */
const LEASE_CHECK_INTERVAL_MS = 50

export interface EdgeLinkParts {
  readonly commands: RedisClient
  readonly subscription: RedisClient
  /** Where acknowledgements go, so that they wait for nothing. */
  readonly urgent: RedisClient
  readonly edge: Omit<EdgeRecord, 'in_flight' | 'draining'>
  readonly lease_ms: number
  readonly lease: HearingLease
  readonly held: HeldCalls
  /** Drops what a change makes stale, before it is acknowledged. */
  readonly drop: (target: ControlTarget) => void
  /** Puts a kill or a reactivation in force and answers how many calls it ended. */
  readonly enforce: (target: KillTarget) => Promise<CutCounts>
  /** Ends the calls in flight of agents that went with their organization. */
  readonly cutDeleted: (organization_id: string) => Promise<CutCounts>
  /**
   * Drops all that is cached and reads again what calls in flight depend on; reports the kills that are waited for.
   * @throws when the store cannot be read
   */
  readonly resync: (acknowledge: (epoch: number, counts: CutCounts) => void) => Promise<void>
  /** The connection was gone, and with it perhaps the store that it led to. */
  readonly reconnected: () => void
  readonly nowMs: () => number
  readonly log: { warn(data: object, message: string): void }
}

/** The edge's side of the control channel: hears messages, keeps the lease, acknowledges. */
export class EdgeLink {
  readonly #parts: EdgeLinkParts
  readonly #timers: NodeJS.Timeout[] = []
  /** The epoch up to which every message was heard; null until a resync has begun. */
  #epoch: number | null = null
  #resyncing: Promise<void> | null = null
  /** A resync that has not begun; whoever needs one until then shares it. */
  #nextResync: Promise<void> | null = null
  #pingSince_ms: number | null = null
  #beaconHeard_ms: number
  /** The last beat, while messages up to the epoch that it found are on their way. */
  #owedBeat: { readonly epoch: number; readonly sent_ms: number } | null = null
  #draining = false

  constructor(parts: EdgeLinkParts) {
    this.#parts = parts
    this.#beaconHeard_ms = parts.nowMs()
  }

  /** Subscribes and beats; the edge may serve when the lease is first held. */
  async start(): Promise<void> {
    const { subscription, lease, lease_ms, held } = this.#parts
    subscription.on('message', (channel: string, text: string) => {
      if (channel === CHANNELS.control) this.#hear(text)
    })
    subscription.on('close', () => {
      this.#epoch = null
      this.#pingSince_ms = null
    })
    // After a reconnect nothing cached is trusted; the first beacon then closes the gap that remains.
    subscription.on('ready', () => {
      this.#beaconHeard_ms = this.#parts.nowMs()
      this.#startResync().catch(() => undefined)
      this.#parts.reconnected()
    })
    await subscription.subscribe(CHANNELS.control)
    this.#timers.push(
      setInterval(() => {
        void this.#beat()
        void this.#ping()
      }, edgeBeatInterval(lease_ms)),
      setInterval(() => {
        if (held.size > 0 && !lease.isHeld) held.cutAll({ reason: 'gateway_unavailable' })
      }, LEASE_CHECK_INTERVAL_MS),
    )
    await Promise.all([this.#beat(), this.#ping()])
  }

  /** This process stood still: that nothing was heard meanwhile says nothing of the connection. */
  stalled(): void {
    const now_ms = this.#parts.nowMs()
    this.#beaconHeard_ms = now_ms
    if (this.#pingSince_ms !== null) this.#pingSince_ms = now_ms
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
      this.#beaconHeard_ms = heard_ms
      if (message.epoch !== this.#epoch) void this.#catchUp(message.epoch, heard_ms)
      else if (this.#resyncing === null && this.#nextResync === null)
        this.#parts.lease.prove('beacon', heard_ms)
      return
    }
    const isNext = this.#epoch !== null && message.epoch === this.#epoch + 1
    const applied = this.#apply(message.targets)
    const ready = isNext ? Promise.resolve(true) : this.#catchUp(message.epoch, heard_ms)
    if (isNext) this.#epoch = message.epoch
    this.#settleBeat()
    this.#acknowledgeWhen(message.epoch, message.targets, applied, ready)
  }

  async #apply(targets: readonly ControlTarget[]): Promise<CutCounts> {
    const enforced: Promise<CutCounts>[] = []
    for (const target of targets) {
      if (target.what === 'kill' || target.what === 'reactivate')
        enforced.push(this.#parts.enforce(target))
      else this.#parts.drop(target)
      if (target.what === 'organization')
        enforced.push(this.#parts.cutDeleted(target.organization_id))
    }
    let total = NONE_CUT
    for (const counts of await Promise.all(enforced))
      total = {
        terminated: total.terminated + counts.terminated,
        unconfirmed: total.unconfirmed + counts.unconfirmed,
      }
    return total
  }

  #acknowledgeWhen(
    epoch: number,
    targets: readonly ControlTarget[],
    applied: Promise<CutCounts>,
    ready: Promise<boolean>,
  ): void {
    Promise.all([applied, ready]).then(
      ([counts, isReady]) => {
        if (!isReady) return
        void this.#acknowledge(epoch, counts)
        for (const target of targets)
          if (target.what === 'kill' && target.again_of !== undefined)
            void this.#acknowledge(target.again_of, counts, 'if_absent')
      },
      (error: unknown) =>
        this.#parts.log.warn(
          { error: String(error), epoch },
          'a control message could not be applied',
        ),
    )
  }

  /** After a gap: until the store has been read again, no beacon renews the lease. Answers whether it was read. */
  async #catchUp(epoch: number, heard_ms: number): Promise<boolean> {
    this.#epoch = epoch
    this.#settleBeat()
    try {
      await this.#startResync()
      this.#parts.lease.prove('beacon', heard_ms)
      return true
    } catch (error) {
      // The next beacon tries again.
      this.#epoch = null
      this.#parts.log.warn(
        { error: String(error) },
        'the store could not be read after a gap in the control messages',
      )
      return false
    }
  }

  /** One at a time; the one that is under way may have read too early for who comes now. */
  #startResync(): Promise<void> {
    this.#nextResync ??= (async () => {
      await this.#resyncing?.catch(() => undefined)
      this.#resyncing = this.#nextResync
      this.#nextResync = null
      try {
        await this.#parts.resync((epoch, counts) => {
          void this.#acknowledge(epoch, counts, 'if_absent')
        })
      } finally {
        this.#resyncing = null
      }
    })()
    return this.#nextResync
  }

  async #acknowledge(
    epoch: number,
    counts: CutCounts,
    how: 'in_any_case' | 'if_absent' = 'in_any_case',
  ): Promise<void> {
    const { urgent, edge, log } = this.#parts
    const acknowledgement: Acknowledgement = {
      epoch,
      edge_id: edge.edge_id,
      region: edge.region,
      ...counts,
    }
    await runScript(
      urgent,
      'acknowledge',
      [REDIS_KEYS.acknowledgements(epoch)],
      [
        edge.edge_id,
        JSON.stringify(acknowledgement),
        CHANNELS.acknowledgements,
        ACKNOWLEDGEMENT_TTL_S,
        how === 'if_absent' ? 1 : 0,
      ],
    ).catch((error: unknown) =>
      log.warn({ error, epoch }, 'an acknowledgement could not be written'),
    )
  }

  /**
   * A beat proves something only together with what was heard: once the messages up to the epoch it found are here, so
   * that both connections are known to lead to the same store.
   */
  async #beat(): Promise<void> {
    const { edge, held, nowMs, subscription, log } = this.#parts
    const sent_ms = nowMs()
    const heard = this.#epoch
    const record: EdgeRecord = { ...edge, in_flight: held.size, draining: this.#draining }
    const epoch = await this.#write(JSON.stringify(record)).catch(() => null)
    if (epoch === null) return
    if (heard !== null && epoch < heard) {
      log.warn(
        { heard, found: epoch },
        'the store is behind the control messages that this edge has received',
      )
      reconnect(subscription)
      return
    }
    this.#owedBeat = { epoch, sent_ms }
    this.#settleBeat()
  }

  #settleBeat(): void {
    const owed = this.#owedBeat
    if (owed === null || this.#epoch === null || this.#epoch < owed.epoch) return
    this.#owedBeat = null
    this.#parts.lease.prove('beat', owed.sent_ms)
  }

  /** Answers the epoch of the store. */
  async #write(record: string): Promise<number> {
    const { commands, edge, lease_ms } = this.#parts
    const epoch = await runScript(
      commands,
      'beat',
      [REDIS_KEYS.edges, REDIS_KEYS.edgeBeats, REDIS_KEYS.epoch],
      [edge.edge_id, record, lease_ms * FORGET_AFTER_LEASES],
    )
    return Number(epoch)
  }

  /**
   * One ping at a time. A subscription that leaves one unanswered for half a lease, or brings no beacon for so long, is
   * closed and reopened.
   */
  async #ping(): Promise<void> {
    const { subscription, lease, lease_ms, nowMs } = this.#parts
    const sent_ms = nowMs()
    if (subscription.status !== 'ready') return
    const oldest_ms = Math.min(this.#pingSince_ms ?? sent_ms, this.#beaconHeard_ms)
    if (sent_ms - oldest_ms > lease_ms / 2) {
      this.#pingSince_ms = null
      this.#beaconHeard_ms = sent_ms
      reconnect(subscription)
      return
    }
    if (this.#pingSince_ms !== null) return
    this.#pingSince_ms = sent_ms
    await subscription.ping().then(
      () => lease.prove('ping', sent_ms),
      () => undefined,
    )
    if (this.#pingSince_ms === sent_ms) this.#pingSince_ms = null
  }
}

/** The socket is destroyed: a peer that is gone never answers a polite end, and the client would wait for that. */
function reconnect(client: RedisClient): void {
  if ('stream' in client) client.stream.destroy()
  else client.disconnect(true)
}
