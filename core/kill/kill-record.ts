import type { StoredReceipt } from './kill-receipt.ts'

/** How an agent was killed. */
export const KILL_METHODS = [
  'api',
  'dashboard',
  'cli',
  'auto_injection',
  'auto_rate_limit',
  'auto_anomaly',
] as const
export type KillMethod = (typeof KILL_METHODS)[number]

/** Channels that a kill may name. Subscribed webhooks always receive the event. */
export const NOTIFY_CHANNELS = ['webhook', 'email'] as const
export type NotifyChannel = (typeof NOTIFY_CHANNELS)[number]

/** What is known when the kill is made. The counts are added when the edges have acknowledged. */
export interface KillEvent {
  readonly id: string
  readonly agent_name: string
  readonly reason: string | null
  /** E-mail of the operator, or `system`. */
  readonly triggered_by: string
  readonly kill_method: KillMethod
  readonly notify: readonly NotifyChannel[]
  readonly credentials_revoked: number
  readonly source_ip: string | null
  readonly request_id: string | null
  readonly edge_id: string | null
}

/**
 * What is in progress, stored under its epoch. The process that finishes it (the one that made it, or a sweeper) replaces or
 * removes exactly the text that it read, so the event is written exactly once.
 */
export interface Unfinished<Event, Receipt> {
  readonly organization_id: string
  /** Null when it has been written, or if there is none. */
  readonly event: Event | null
  /** By the clock of the store; the publish followed within a round trip. */
  readonly published_ms: number
  /** Until then, by the same clock, the process that made it finishes it. */
  readonly finish_after_ms: number
  /** The kept receipt as it was last written. A process of version 0.2 writes none. */
  readonly receipt?: Receipt
  /** When it was last published. A sweeper publishes it again for edges that have not acknowledged. */
  readonly last_published_ms: number
}

/** A kill in progress. A repeated kill has no event. */
export interface KillRecord extends Unfinished<KillEvent, StoredReceipt> {
  readonly agent_id: string
  readonly revision: number
  readonly killed_at: string
}
