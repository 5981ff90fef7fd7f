import { hostname } from 'node:os'
import { type Beacon, startBeacon } from '../../core/control/beacon.ts'
import { edgeBeatInterval } from '../../core/control/control-message.ts'
import { EDGE_MEMBERS } from '../../core/store/edge-members.ts'
import { STORE_FORMAT } from '../../core/store/stored-record.ts'
import { announceOutages } from '../../core/redis/announce-outages.ts'
import { LiveKeyRing } from '../../core/keys/live-key-ring.ts'
import { type KeyRing, parseKeyRing } from '../../core/keys/seal.ts'
import { version } from '../../core/system/version.ts'
import type { AgentUses } from '../record/agent-uses.ts'
import type { EdgeSettings } from '../process/read-edge-settings.ts'
import type { EdgeConnections } from './connect-edge.ts'
import { cutDeleted } from '../kill/cut-deleted.ts'
import { EdgeLink, type EdgeLinkParts } from './edge-link.ts'
import { followKeys } from './follow-keys.ts'
import { HeldCalls } from '../hold/held-calls.ts'
import { enforceKill } from '../kill/enforce-kill.ts'
import { LivenessLease } from './liveness-lease.ts'
import { CallsInFlight } from '../kill/calls-in-flight.ts'
import { RestrictionBoard } from '../kill/restriction-board.ts'
import { makeConfirmer } from '../kill/make-confirmer.ts'
import { makeLockRestorer } from '../kill/make-lock-restorer.ts'
import { makeRestorer } from '../kill/make-restorer.ts'
import { makeVerifier } from '../kill/make-verifier.ts'
import { PolicyStore } from '../policy/policy-store.ts'
import { resync } from '../kill/resync.ts'
import { ReviewQueue } from '../kill/review-queue.ts'
import { StallWatch } from './stall-watch.ts'
import { StoreClock } from '../../core/control/store-clock.ts'
import { StoreCheck } from './store-check.ts'

interface FleetParts {
  readonly settings: EdgeSettings
  readonly connections: EdgeConnections
  readonly uses: AgentUses
  readonly log: Record<'warn' | 'info', (data: object, message: string) => void>
}

/** The state of an edge: kill flags, policy, lease, calls in flight. */
export interface Membership {
  readonly inFlight: CallsInFlight
  readonly reviews: ReviewQueue
  /** By which keys and scopes end. */
  readonly clock: StoreClock
  readonly killBoard: RestrictionBoard
  readonly policy: PolicyStore
  readonly lease: LivenessLease
  readonly stall: StallWatch
  readonly link: EdgeLink
  /** Follows changes of the key file. */
  readonly keyRing: KeyRing
  /**
   * What is done, before it is acknowledged, when the CA of the forward proxy was replaced, and when it may have been while this
   * edge was cut off; the forward proxy sets them.
   */
  readonly authority: {
    replace: () => Promise<void>
    catchUp: () => Promise<void>
    /** Of the CA in use; null before a certificate was issued. */
    fingerprint: () => string | null
  }
  /** The calls that wait for a person. */
  readonly held: HeldCalls
  /** `stop` hands it over to another process. The link itself ends with `link.stop`. */
  readonly beacon: Beacon
}

const nowMs = (): number => performance.now()

/** Longer than the intervals of beacon, ping and heartbeat. */
const REGAIN_LIMIT_MS = 600

const nothing = (): Promise<void> => Promise.resolve()
const NO_AUTHORITY: Membership['authority'] = {
  replace: nothing,
  catchUp: nothing,
  fingerprint: () => null,
}

/** What a heartbeat says of the process; `read` is called for each. */
const identityOf = (
  { edgeId: edge_id, processId: process_id, region, edgeStandby }: FleetParts['settings'],
  read: { readonly key_ids: () => readonly string[]; readonly forward_ca: () => string | null },
): EdgeLinkParts['edge'] => ({
  edge_id,
  process_id,
  region,
  ...(edgeStandby ? { is_standby: true } : {}),
  started_at: new Date().toISOString(),
  version,
  store_format: STORE_FORMAT,
  knows: Object.keys(EDGE_MEMBERS),
  host: hostname(),
  get clock_ms() {
    return Date.now()
  },
  get key_ids() {
    return read.key_ids()
  },
  get forward_ca() {
    return read.forward_ca()
  },
})

/** Makes this process an edge: it receives messages, sends heartbeats, and takes part in electing the beacon. */
export async function joinFleet({
  settings,
  connections,
  uses,
  log,
}: FleetParts): Promise<Membership> {
  const { edgeId: edge_id, processId: process_id, killLease_ms: lease_ms } = settings
  const { commands, subscription, urgent } = connections
  announceOutages(commands, log)
  const inFlight = new CallsInFlight()
  const clock = new StoreClock(nowMs, Date.now)
  const reviews = new ReviewQueue({ inFlight, nowMs: clock.nowMs, log })
  const killBoard = openBoard({ redis: commands, lease_ms, edge_id, log }, clock)
  const keyRing = new LiveKeyRing(parseKeyRing(settings.encryptionKey))
  const storeCheck = new StoreCheck(commands, keyRing)
  await storeCheck.atStart()
  const policy = new PolicyStore({ redis: commands, keyRing, killBoard })
  const key_ids = followKeys(settings.encryptionKeyFile, keyRing, commands, () => policy.clear())
  const lease = new LivenessLease(lease_ms, nowMs)
  const stall = new StallWatch(nowMs, edgeBeatInterval(lease_ms), (stood_ms) => {
    if (stood_ms > lease_ms / 3) doubtLease(lease, stood_ms, log)
    link.stalled()
  })
  const parts = { policy, killBoard, inFlight, commands, nowMs: clock.nowMs }
  const confirmSoon = makeConfirmer(parts)
  const verifyKills = makeVerifier(parts, log)
  const authority = { ...NO_AUTHORITY }
  const held = new HeldCalls(commands)
  const beacon = startBeacon(commands, process_id, lease_ms)
  const link = new EdgeLink({
    commands,
    subscription,
    urgent,
    lease_ms,
    lease,
    inFlight,
    nowMs,
    clock,
    log,
    edge: identityOf(settings, {
      key_ids,
      forward_ca: () => authority.fingerprint(),
    }),
    drop: (target) => {
      policy.drop(target)
      reviews.note(target)
      if (target.what === 'access_request') held.decided(target.organization_id, target.request_id)
    },
    enforce: (target) => {
      // Written before the acknowledgement, on the same connection, because the receiver of the acknowledgement reads these
      // keys.
      if ('agent_id' in target) uses.writeAgent(target.organization_id, target.agent_id, urgent)
      return enforceKill({ ...parts, confirmSoon }, target)
    },
    cutDeleted: (organization_id) => cutDeleted(parts, organization_id),
    tick: () => stall.tick(),
    beaconSent: () => beacon.heard(),
    replaceAuthority: () => authority.replace(),
    resync: async (acknowledge) => {
      // Otherwise this edge has no lease and refuses calls; the reason is logged with each attempt.
      await Promise.all([storeCheck.refuseOther(), authority.catchUp()])
      await resync(parts, acknowledge)
      reviews.noteAll()
      verifyKills()
    },
    reconnected: verifyKills,
  })
  await link.start()
  return { ...parts, reviews, clock, lease, stall, link, keyRing, beacon, authority, held }
}

/** The kills and locks that this edge knows; what the store has lost of them is restored. */
function openBoard(
  parts: Omit<Parameters<typeof makeRestorer>[0], 'now'>,
  clock: StoreClock,
): RestrictionBoard {
  const restoring = { ...parts, now: () => new Date(clock.now().ms) }
  const board: RestrictionBoard = new RestrictionBoard({
    kill: makeRestorer(restoring),
    lock: makeLockRestorer({
      ...restoring,
      nowMs: clock.nowMs,
      forget: (lock) => board.forgetLock(lock),
    }),
  })
  return board
}

/** Proofs from before a long pause say nothing about the messages sent during it. */
function doubtLease(lease: LivenessLease, stood_ms: number, log: FleetParts['log']): void {
  lease.doubt(REGAIN_LIMIT_MS)
  log.warn(
    { stood_ms: Math.round(stood_ms) },
    'this process was paused or got no CPU time: it refuses calls until it has proved again that it receives kills',
  )
}
