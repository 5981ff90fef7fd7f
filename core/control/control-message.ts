import type { Lock } from '../catalogue/model.ts'

/**
 * Messages between admin and edges over Redis pub/sub. Every message has a number, the epoch, and that of the message before it. No
 * two messages have the same one, also if the store loses some. An edge that detects a gap clears its caches and reads the store again.
 */
export type ControlTarget =
  | { readonly what: 'integrations'; readonly organization_id: string }
  /** A scope that selects its agents. */
  | { readonly what: 'scopes'; readonly organization_id: string }
  | { readonly what: 'agent'; readonly organization_id: string; readonly agent_id: string }
  | { readonly what: 'key'; readonly hash: string }
  | { readonly what: 'organization'; readonly organization_id: string }
  /** Something was decided about it; calls that wait for that look again. */
  | {
      readonly what: 'access_request'
      readonly organization_id: string
      readonly request_id: string
    }
  /** The forward proxy issues certificates with another CA. */
  | { readonly what: 'forward_ca' }
  | {
      readonly what: 'kill'
      readonly organization_id: string
      readonly agent_id: string
      readonly revision: number
      readonly killed_at: string
      /** Epoch of the kill that this message publishes again, for edges that have not acknowledged it. */
      readonly again_of?: number
    }
  | {
      readonly what: 'reactivate'
      readonly organization_id: string
      readonly agent_id: string
      readonly revision: number
    }
  | {
      readonly what: 'lock'
      /** Of the lock. */
      readonly organization_id: string
      readonly lock: Lock
      readonly again_of?: number
    }
  | { readonly what: 'unlock'; readonly organization_id: string; readonly lock_id: string }

/**
 * The version of control messages. Increased only if an edge of the version before would do too little with a new message that
 * names targets which it knows. An edge that hears of a newer version, or of a target that it does not know, drops all that it has
 * cached and reads the store again before it acknowledges. Messages of versions before 0.3 do not say theirs, which is 1.
 */
const CONTROL_VERSION = 1

export type ControlMessage =
  | {
      readonly kind: 'control'
      readonly epoch: number
      /** Of the message before it. */
      readonly after: number
      /** Those that this version knows. */
      readonly targets: readonly ControlTarget[]
      /** Whether they are all there is to do. */
      readonly is_understood: boolean
    }
  | { readonly kind: 'beacon'; readonly epoch: number; readonly sender: string }

/** An edge confirms that a control message is in force there; for a kill, with the calls it ended. */
export interface Acknowledgement {
  readonly epoch: number
  readonly edge_id: string
  /** The process that acknowledges (`processOf`). */
  readonly process_id?: string
  readonly region: string
  /** Calls that Envoy has confirmed to be closed. */
  readonly terminated: number
  /** Of `terminated`, tunnels of the forward proxy; an older edge does not report them. */
  readonly tunnels?: number
  /** Calls that may still be running: cut but not yet confirmed closed by Envoy, and those that Envoy let go early. */
  readonly unconfirmed: number
  /** Of `unconfirmed`, those that this edge still holds; when the last one has ended, it acknowledges again. Absent if there are none. */
  readonly ending?: number
  /** Clock of the store, added by it. */
  readonly stored_us?: number
}

/** What an edge reports about itself with every heartbeat. */
export interface EdgeRecord {
  /** A name that the operator chose. Two hosts may have the same one by mistake. */
  readonly edge_id: string
  /** The process itself, which identifies it in the registry and in acknowledgements (`processOf`). */
  readonly process_id?: string
  readonly region: string
  readonly started_at: string
  /** Takes calls only while no other edge of its Envoy is healthy; absent if not, and in older edges. */
  readonly is_standby?: boolean
  /** Version of the program; older edges do not report it. */
  readonly version?: string
  /**
   * The newest format of stored records that it can read (`STORE_FORMAT`); an edge that does not report it reads only the
   * first.
   */
  readonly store_format?: number
  /** Name of the machine, and its clock at this heartbeat; older edges report neither. */
  readonly host?: string
  readonly clock_ms?: number
  /** Of `EDGE_MEMBERS`, those that it knows; older edges report none. */
  readonly knows?: readonly string[]
  /** Ids of the encryption keys that it has; an older edge does not report them. */
  readonly key_ids?: readonly string[]
  /** Calls, without tunnels of the forward proxy. */
  readonly in_flight: number
  /** Open tunnels of the forward proxy; older edges count them as calls in flight. */
  readonly tunnels?: number
  /** Fingerprint of the CA that it has issued certificates with; null or absent if it has issued none. */
  readonly forward_ca?: string | null
  /** The agents with the most calls in flight; older edges do not report them. */
  readonly busiest?: BusiestAgents
  readonly draining: boolean
}

export interface BusiestAgents {
  /** `<organization_id> <agent_id>` → calls in flight, without tunnels. */
  readonly calls: Readonly<Record<string, number>>
  /** The same → open tunnels, where there are any. */
  readonly tunnels?: Readonly<Record<string, number>>
  /** All agents with calls in flight or tunnels are among them. */
  readonly is_whole: boolean
}

/** How often the elected process sends a beacon, and how long it stays elected without renewing. */
export const beaconInterval = (lease_ms: number): number => Math.min(250, lease_ms / 8)
export const beaconLeaderTtl = (lease_ms: number): number =>
  Math.min(1000, Math.round(lease_ms / 3))
/** An edge is removed after this many leases without a heartbeat. It stops serving long before that. */
export const FORGET_AFTER_LEASES = 20
/** How often an edge sends a heartbeat to the store and a ping on its subscription. */
export const edgeBeatInterval = (lease_ms: number): number => Math.min(500, lease_ms / 6)

const TARGETS: ReadonlySet<string> = new Set([
  'integrations',
  'scopes',
  'agent',
  'key',
  'organization',
  'access_request',
  'forward_ca',
  'kill',
  'reactivate',
  'lock',
  'unlock',
] satisfies ControlTarget['what'][])

const isKnown = (target: unknown): target is ControlTarget =>
  typeof target === 'object' &&
  target !== null &&
  TARGETS.has(String((target as { readonly what?: unknown }).what))

/** Null for an unknown message; a forged message can at most make an edge read the store again. */
export function parseControlMessage(text: string): ControlMessage | null {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value !== 'object' || value === null) return null
    const { kind, epoch, after, targets, sender, version = 1 } = value as Record<string, unknown>
    if (typeof epoch !== 'number') return null
    if (kind === 'beacon' && typeof sender === 'string') return { kind, epoch, sender }
    if (kind === 'control' && Array.isArray(targets)) {
      const known = targets.filter(isKnown)
      const is_understood = version === CONTROL_VERSION && known.length === targets.length
      // Processes of version 0.2 count.
      const before = typeof after === 'number' ? after : epoch - 1
      return { kind, epoch, after: before, targets: known, is_understood }
    }
    return null
  } catch {
    return null
  }
}
