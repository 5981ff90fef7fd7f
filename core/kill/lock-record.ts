import type { Lock } from '../catalogue/model.ts'
import type { Unfinished } from './kill-record.ts'
import type { Counted } from './kill-receipt.ts'

/** What is known when a lock is created. The counts are added when the edges have acknowledged. */
export interface LockEvent {
  readonly id: string
  /** Of the agent that it names. Undefined in records of older versions. */
  readonly agent_name?: string | null
  readonly source_ip: string | null
  readonly request_id: string | null
}

/** The kept receipt of a lock. */
export interface LockReceipt extends Counted {
  readonly lock_id: string
}

/** A lock whose creation is in progress, stored under its epoch. */
export interface LockRecord extends Unfinished<LockEvent, LockReceipt> {
  /** In whose log the event is. */
  readonly organization_id: string
  readonly lock: Lock
}
