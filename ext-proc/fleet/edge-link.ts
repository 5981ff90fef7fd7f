import {
  type Acknowledgement,
  type ControlTarget,
  edgeBeatInterval,
  type EdgeRecord,
  FORGET_AFTER_LEASES,
  parseControlMessage,
} from '../../core/control/control-message.ts'
import { processOf } from '../../core/control/process-of.ts'
import type { StoreClock } from '../../core/control/store-clock.ts'
import { isDiskFull } from '../../core/redis/is-disk-full.ts'
import { CHANNELS, REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { type RedisClient, runScript } from '../../core/redis/run-script.ts'
import { isRestriction, type RestrictionTarget } from '../kill/enforce-kill.ts'
import type { LivenessLease } from './liveness-lease.ts'
import { type CallsInFlight, type CutCounts, NONE_CUT, sumOfCuts } from '../kill/calls-in-flight.ts'

/** Acknowledgements are kept longer than anything waits for them, so that an interrupted kill can be completed. */
const ACKNOWLEDGEMENT_TTL_S = 3600
const TELL_AGAIN_MS = 1_000
/** Agents that a heartbeat names; each takes about 60 bytes. */
const BUSIEST_MAX = 50
/** Without calls, a heartbeat and a ping are sent only every second time: two thirds of the lease are always left then. */
const IDLE_TURNS = 2
/** How often calls in flight are cut while there is no lease. A lease that expires cuts them at once. */
const LEASE_CHECK_INTERVAL_MS = 50

export interface EdgeLinkParts {
  readonly commands: RedisClient
  readonly subscription: RedisClient
  /** Connection for acknowledgements, and for the last uses of keys that a kill reports, so that nothing delays them. */
  readonly urgent: RedisClient
  readonly edge: Omit<EdgeRecord, 'in_flight' | 'tunnels' | 'busiest' | 'draining'>
  readonly lease_ms: number
  readonly lease: LivenessLease
  readonly inFlight: CallsInFlight
  /** Invalidates what a change made stale, before the change is acknowledged. */
  readonly drop: (target: ControlTarget) => void
  /** Enforces or ends a kill or a lock and returns what it ended. */
  readonly enforce: (target: RestrictionTarget) => Promise<CutCounts>
  /** Issues all certificates of the forward proxy again, since its CA is another one. */
  readonly replaceAuthority: () => Promise<void>
  /** Ends the calls in flight of agents that were deleted with their organization. */
  readonly cutDeleted: (organization_id: string) => Promise<CutCounts>
  /**
   * Clears the caches, reads again what calls in flight depend on, and reports the kills that are awaiting acknowledgement.
   * @throws if the store cannot be read
   */
  readonly resync: (acknowledge: (epoch: number, counts: CutCounts) => void) => Promise<void>
  /** Looks whether this process was paused; called before each beat, and before each beacon counts. */
  readonly tick: () => void
  /** Another process has sent the beacon. */
  readonly beaconSent: () => void
  /** The connection was lost, and the new one may lead to a different store. */
  readonly reconnected: () => void
  readonly nowMs: () => number
  readonly clock: Pick<StoreClock, 'learn'>
  readonly log: { warn(data: object, message: string): void }
}

/** The edge's side of the control channel: receives messages, renews the lease, sends acknowledgements. */
export class EdgeLink {
  readonly #parts: EdgeLinkParts
  readonly #timers: NodeJS.Timeout[] = []
  #leaseTimer: NodeJS.Timeout | undefined
  /** Whether the lease was held when it was last looked at. */
  #wasHeld = false
  #isStopped = false
  /** The epoch up to which all messages have been received; null until a resync has started. */
  #epoch: number | null = null
  #resyncing: Promise<void> | null = null
  /** A resync that has not started yet. All requests until then share it. */
  #nextResync: Promise<void> | null = null
  /** The ping that is on its way, and since when it has been waited for. */
  #awaitedPing: { since_ms: number } | null = null
  #beaconHeard_ms: number
  /** The last heartbeat, while messages up to the epoch that it read are still in transit. */
  #owedBeat: { readonly epoch: number; readonly sent_ms: number } | null = null
  #draining = false
  /** Since the last heartbeat and ping were sent. */
  #turns = 0
  /** So many there had been at the last turn. */
  #calls = 0

  constructor(parts: EdgeLinkParts) {
    this.#parts = parts
    this.#beaconHeard_ms = parts.nowMs()
  }

  /** Subscribes and starts the heartbeat. The edge may serve as soon as it holds the lease. */
  async start(): Promise<void> {
    const { subscription, lease_ms } = this.#parts
    subscription.on('message', (channel: string, text: string) => {
      if (channel === CHANNELS.control) this.#hear(text)
    })
    subscription.on('close', () => {
      this.#epoch = null
      this.#awaitedPing = null
    })
    // After a reconnect the caches are not trusted; the first beacon then closes the remaining gap.
    subscription.on('ready', () => {
      // ioredis subscribes again too, but to the channels that the last replies named. A damaged reply must not change the channel.
      subscription.subscribe(CHANNELS.control).catch(() => undefined)
      this.#beaconHeard_ms = this.#parts.nowMs()
      this.#startResync().catch(() => undefined)
      this.#parts.reconnected()
    })
    await subscription.subscribe(CHANNELS.control)
    this.#timers.push(
      setInterval(() => {
        this.#parts.tick()
        const isTurn = this.#isTurn()
        if (isTurn) void this.#beat()
        void this.#ping(isTurn)
      }, edgeBeatInterval(lease_ms)),
    )
    this.#cutWithoutLease()
    await Promise.all([this.#beat(), this.#ping(true)])
  }

  /** Whether to send a heartbeat and a ping now. */
  #isTurn(): boolean {
    const { inFlight, lease } = this.#parts
    const isIdle =
      inFlight.size === 0 && inFlight.total === this.#calls && lease.isHeld && !this.#draining
    this.#calls = inFlight.total
    if (++this.#turns < IDLE_TURNS && isIdle) return false
    this.#turns = 0
    return true
  }

  /** This process was paused, so the missing messages say nothing about the connection. */
  stalled(): void {
    const now_ms = this.#parts.nowMs()
    this.#beaconHeard_ms = now_ms
    if (this.#awaitedPing !== null) this.#awaitedPing.since_ms = now_ms
    this.#cutWithoutLease(LEASE_CHECK_INTERVAL_MS)
  }

  /** From now on the registry shows that this edge accepts no new calls. It remains an edge until `stop`. */
  drain(): void {
    this.#draining = true
  }

  /** Deregisters the edge. Call it when the last call in flight has ended. */
  async stop(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer)
    this.#isStopped = true
    clearTimeout(this.#leaseTimer)
    this.#parts.lease.revoke()
    await this.#write('').catch(() => undefined)
  }

  /** Looks again when the lease of now expires: proofs only prolong it, and `stalled` is called when it is revoked. */
  #cutWithoutLease(wait_ms = 0): void {
    const { lease, inFlight, log } = this.#parts
    clearTimeout(this.#leaseTimer)
    if (this.#isStopped) return
    if (wait_ms === 0) {
      if (inFlight.size > 0 && !lease.isHeld) inFlight.cutAll({ reason: 'gateway_unavailable' })
      if (this.#wasHeld && !lease.isHeld)
        log.warn(
          { missing: lease.missing },
          'the liveness lease has expired: this edge refuses calls until it has proved again that it receives kills',
        )
      this.#wasHeld = lease.isHeld
    }
    const next_ms = wait_ms > 0 ? wait_ms : lease.isHeld ? lease.left_ms : LEASE_CHECK_INTERVAL_MS
    this.#leaseTimer = setTimeout(() => this.#cutWithoutLease(), next_ms)
  }

  #hear(text: string): void {
    const message = parseControlMessage(text)
    if (message === null) return
    const heard_ms = this.#parts.nowMs()
    if (message.kind === 'beacon') {
      this.#parts.tick()
      if (message.sender !== processOf(this.#parts.edge)) this.#parts.beaconSent()
      this.#beaconHeard_ms = heard_ms
      if (message.epoch !== this.#epoch) void this.#catchUp(message.epoch, heard_ms)
      else if (this.#resyncing === null && this.#nextResync === null)
        this.#parts.lease.prove('beacon', heard_ms)
      return
    }
    const isNext = message.is_understood && message.after === this.#epoch
    const applied = this.#apply(message.targets)
    const ready = isNext ? Promise.resolve(true) : this.#catchUp(message.epoch, heard_ms)
    if (isNext) this.#epoch = message.epoch
    this.#settleBeat()
    this.#acknowledgeWhen(message.epoch, message.targets, applied, ready)
  }

  async #apply(targets: readonly ControlTarget[]): Promise<CutCounts> {
    const enforced: Promise<CutCounts>[] = []
    for (const target of targets) {
      if (isRestriction(target)) enforced.push(this.#parts.enforce(target))
      else this.#parts.drop(target)
      if (target.what === 'forward_ca')
        enforced.push(this.#parts.replaceAuthority().then(() => NONE_CUT))
      if (target.what === 'organization')
        enforced.push(this.#parts.cutDeleted(target.organization_id))
    }
    return sumOfCuts(await Promise.all(enforced))
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
          if ('again_of' in target && target.again_of !== undefined)
            void this.#acknowledge(target.again_of, counts, 'if_absent')
      },
      (error: unknown) => {
        // The next beacon then finds a gap: nothing else repeats the message.
        this.#epoch = null
        this.#parts.log.warn(
          { error: String(error), epoch },
          'a control message could not be applied',
        )
      },
    )
  }

  /** After a gap, no beacon renews the lease until the store has been read again. Returns whether it was read. */
  async #catchUp(epoch: number, heard_ms: number): Promise<boolean> {
    this.#epoch = epoch
    this.#settleBeat()
    try {
      await this.#startResync()
      this.#parts.lease.prove('beacon', heard_ms)
      return true
    } catch (error) {
      // The next beacon triggers a retry.
      this.#epoch = null
      this.#parts.log.warn(
        { error: String(error) },
        'the store could not be read after a gap in the control messages',
      )
      return false
    }
  }

  /** One at a time. A resync in progress may have read too early for a new request. */
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

  /** Calls that are still ending are acknowledged again when the last one has ended. */
  async #acknowledge(
    epoch: number,
    { rest, ...counts }: CutCounts,
    how: 'in_any_case' | 'if_absent' = 'in_any_case',
  ): Promise<void> {
    await this.#tellCounts(epoch, counts, how)
    if (rest === undefined) return
    const { nowMs } = this.#parts
    const final = await rest
    // Nothing else repeats it.
    for (const until_ms = nowMs() + ACKNOWLEDGEMENT_TTL_S * 1000; nowMs() < until_ms; ) {
      if (this.#isStopped || (await this.#tellCounts(epoch, final, how))) return
      await new Promise((resolve) => setTimeout(resolve, TELL_AGAIN_MS))
    }
  }

  /** Returns whether it was written. */
  async #tellCounts(
    epoch: number,
    counts: CutCounts,
    how: 'in_any_case' | 'if_absent',
  ): Promise<boolean> {
    const { urgent, edge, log } = this.#parts
    const acknowledgement: Acknowledgement = {
      epoch,
      edge_id: edge.edge_id,
      process_id: processOf(edge),
      region: edge.region,
      ...counts,
    }
    const text = JSON.stringify(acknowledgement)
    return await runScript(
      urgent,
      'acknowledge',
      [REDIS_KEYS.acknowledgements(epoch)],
      [
        processOf(edge),
        text,
        CHANNELS.acknowledgements,
        ACKNOWLEDGEMENT_TTL_S,
        how === 'if_absent' ? 1 : 0,
      ],
    ).then(
      () => true,
      async (error: unknown) => {
        log.warn({ error, epoch }, 'an acknowledgement could not be written')
        // A store with a full disk still publishes, and the kill that waits for this is in force here.
        if (isDiskFull(error))
          await urgent.publish(CHANNELS.acknowledgements, text).catch(() => undefined)
        return false
      },
    )
  }

  /**
   * A heartbeat counts only when the messages up to the epoch that it read have arrived. Only then is it known that both
   * connections lead to the same store.
   */
  async #beat(): Promise<void> {
    const { edge, inFlight, nowMs, subscription, log } = this.#parts
    const sent_ms = nowMs()
    const heard = this.#epoch
    const tunnels = inFlight.tunnels()
    const record: EdgeRecord = {
      ...edge,
      in_flight: inFlight.size - tunnels,
      tunnels,
      busiest: inFlight.busiest(BUSIEST_MAX),
      draining: this.#draining,
    }
    const epoch = await this.#write(JSON.stringify(record)).catch(() => null)
    if (epoch === null) {
      // Tried again at the next turn.
      this.#turns = IDLE_TURNS
      return
    }
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

  /** Returns the epoch of the store. */
  async #write(record: string): Promise<number> {
    const { commands, edge, lease_ms, clock, nowMs } = this.#parts
    const sent_ms = nowMs()
    const [epoch, store_ms] = (await runScript(
      commands,
      'beat',
      [
        REDIS_KEYS.edges,
        REDIS_KEYS.edgeBeats,
        REDIS_KEYS.beatClock,
        REDIS_KEYS.epoch,
        REDIS_KEYS.lostEdges,
      ],
      [processOf(edge), record, lease_ms * FORGET_AFTER_LEASES],
    )) as [string, string]
    clock.learn({ store_ms: Number(store_ms), sent_ms, heard_ms: nowMs() })
    return Number(epoch)
  }

  /**
   * One ping at a time. A subscription that does not answer a ping, or delivers no beacon, for half a lease is closed and
   * reopened.
   */
  async #ping(isTurn: boolean): Promise<void> {
    const { subscription, lease, lease_ms, nowMs } = this.#parts
    const sent_ms = nowMs()
    if (subscription.status !== 'ready') return
    const oldest_ms = Math.min(this.#awaitedPing?.since_ms ?? sent_ms, this.#beaconHeard_ms)
    if (sent_ms - oldest_ms >= lease_ms / 2) {
      this.#awaitedPing = null
      this.#beaconHeard_ms = sent_ms
      reconnect(subscription)
      return
    }
    if (this.#awaitedPing !== null || !isTurn) return
    const own = { since_ms: sent_ms }
    this.#awaitedPing = own
    await subscription.ping().then(
      () => lease.prove('ping', sent_ms),
      () => undefined,
    )
    if (this.#awaitedPing === own) this.#awaitedPing = null
  }
}

/** Destroy the socket: an unreachable peer never answers a graceful close, and the client would wait for it. */
const reconnect = (client: RedisClient): void => void client.stream.destroy()
