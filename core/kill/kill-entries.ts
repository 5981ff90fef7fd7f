import type { ActivityEntry } from '../activity/activity-entry.ts'
import { entryOfNoCall } from '../activity/entry-of-no-call.ts'
import type { Lock } from '../catalogue/model.ts'
import type { LockEvent, LockRecord } from './lock-record.ts'
import type { KillEvent, KillRecord } from './kill-record.ts'

/** Who requests a kill or a reactivation, and with which request. */
export interface KillActor {
  /** E-mail of the operator, or `system`. */
  readonly email: string
  readonly token_id: string | null
  readonly source_ip: string | null
  readonly request_id: string | null
  /** The edge that triggered an automatic kill. */
  readonly edge_id: string | null
}

/** The results of a kill on the edges. */
export interface KillCounts {
  readonly requests_terminated: number
  readonly tunnels_terminated: number
  readonly unconfirmed: number
  readonly propagation_ms: number
  readonly complete: boolean
  readonly metadata: {
    readonly last_request: string | null
    readonly requests_last_hour: number
  }
}

/** The entry, and the event, of a lock whose counts are known. */
export const lockedEntry = (
  { organization_id, lock }: LockRecord,
  event: LockEvent,
  counts: KillCounts,
): ActivityEntry =>
  entryOfNoCall({
    event: 'locked',
    organization_id,
    agent_id: 'agent_id' in lock.target ? lock.target.agent_id : null,
    agent_name: event.agent_name ?? null,
    timestamp: lock.created_at,
    actor: {
      ...event,
      source_ip: organization_id === lock.created_in ? event.source_ip : null,
      edge_id: null,
    },
    id: event.id,
    data: {
      ...lockData(lock, organization_id),
      triggered_by: organization_id === lock.created_in ? lock.created_by : null,
      expires_at: lock.expires_at,
      requests_terminated: counts.requests_terminated,
      tunnels_terminated: counts.tunnels_terminated,
      propagation_ms: counts.propagation_ms,
      unconfirmed: counts.unconfirmed,
      complete: counts.complete,
    },
  })

/** What an entry says of a lock. Another organization than that which created it sees what callers see. */
export const lockData = (
  { lock_id, target, mode, message, reference, created_in }: Lock,
  logged_in: string,
) => ({
  lock_id,
  target,
  mode,
  message,
  reference: logged_in === created_in ? reference : null,
})

/** The entry, and the event, of a kill whose counts are known. */
export const killedEntry = (
  { organization_id, agent_id, killed_at, receipt }: KillRecord,
  event: KillEvent,
  counts: KillCounts,
): ActivityEntry =>
  entryOfNoCall({
    event: 'agent_killed',
    organization_id,
    agent_id,
    agent_name: event.agent_name,
    timestamp: killed_at,
    actor: event,
    id: event.id,
    data: {
      reason: event.reason,
      triggered_by: event.triggered_by,
      kill_method: event.kill_method,
      requests_terminated: counts.requests_terminated,
      tunnels_terminated: counts.tunnels_terminated,
      propagation_ms: counts.propagation_ms,
      metadata: counts.metadata,
      unconfirmed: counts.unconfirmed,
      complete: counts.complete,
      credentials_revoked: event.credentials_revoked,
      notify: event.notify,
      ...(receipt === undefined ? {} : { kill_id: receipt.kill_id }),
    },
  })
