/**
 * What admin and edges say to each other over Redis pub/sub. Every message has the next number, the epoch;
 * an edge that sees a gap drops what it has cached and reads the store again.
 */
export type ControlTarget =
  | { readonly what: 'integrations'; readonly organization_id: string }
  | { readonly what: 'agent'; readonly organization_id: string; readonly agent_id: string }
  | { readonly what: 'key'; readonly hash: string }
  | { readonly what: 'organization'; readonly organization_id: string }
  | {
      readonly what: 'kill'
      readonly organization_id: string
      readonly agent_id: string
      readonly revision: number
      readonly killed_at: string
      /** Epoch of the kill that is published again here, for edges that have not acknowledged it. */
      readonly again_of?: number
    }
  | {
      readonly what: 'reactivate'
      readonly organization_id: string
      readonly agent_id: string
      readonly revision: number
    }

export type ControlMessage =
  | { readonly kind: 'control'; readonly epoch: number; readonly targets: readonly ControlTarget[] }
  | { readonly kind: 'beacon'; readonly epoch: number; readonly sender: string }

/** An edge says that a control message is in force there; for a kill, with the calls it ended. */
export interface Acknowledgement {
  readonly epoch: number
  readonly edge_id: string
  readonly region: string
  /** Calls that Envoy has been seen to end. */
  readonly terminated: number
  /** Calls that were told to end, and that Envoy had not ended in time. */
  readonly unconfirmed: number
  /** Clock of the store, added by it. */
  readonly stored_us?: number
}

/**
 * The form of stored records. Raised when a process of the version before could not read what is written; old records
 * are then brought into the new form once every live edge reads it.
 * 1: version 0.1 · 2: the user name of a `basic` credential is sealed
 */
export const STORE_FORMAT = 2

/** What an edge says of itself with every beat. */
export interface EdgeRecord {
  readonly edge_id: string
  readonly region: string
  readonly started_at: string
  /** Of the program; an edge from before there was one does not say. */
  readonly version?: string
  /** The newest form of stored records that it reads (`STORE_FORMAT`); an edge that does not say reads the first. */
  readonly store_format?: number
  readonly in_flight: number
  readonly draining: boolean
}

/** How often the elected process sends a beacon, and how long it stays elected without renewing. */
export const beaconInterval = (lease_ms: number): number => Math.min(250, lease_ms / 8)
export const beaconLeaderTtl = (lease_ms: number): number =>
  Math.min(1000, Math.round(lease_ms / 3))
/** How often an edge proves to the store, and by a ping on its subscription, that it is there. */
export const edgeBeatInterval = (lease_ms: number): number => Math.min(400, lease_ms / 6)

/** Null for what is not ours to understand; a forged message can at most make an edge read the store again. */
export function parseControlMessage(text: string): ControlMessage | null {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value !== 'object' || value === null) return null
    const { kind, epoch, targets, sender } = value as Record<string, unknown>
    if (typeof epoch !== 'number') return null
    if (kind === 'beacon' && typeof sender === 'string') return { kind, epoch, sender }
    if (kind === 'control' && Array.isArray(targets))
      return { kind, epoch, targets: targets as ControlTarget[] }
    return null
  } catch {
    return null
  }
}
