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

/** Channels that a kill may name. Webhooks that subscribe hear of it anyway. */
export const NOTIFY_CHANNELS = ['webhook', 'email'] as const
export type NotifyChannel = (typeof NOTIFY_CHANNELS)[number]

/** What is said of a kill as soon as it is made; the counts follow when the edges have spoken. */
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
 * A kill that is under way, stored with it under its epoch. Whoever finishes it, the process that made it or a
 * sweeper, replaces or removes exactly the text that it read, so its event is written once.
 */
export interface KillRecord {
  readonly organization_id: string
  readonly agent_id: string
  readonly revision: number
  readonly killed_at: string
  /** Null when it is written, and for a repeated kill, which has none. */
  readonly event: KillEvent | null
  /** By the clock of the store; the publish followed within a round trip. */
  readonly published_ms: number
  /** Until then, by the same clock, the process that made the kill finishes it. */
  readonly finish_after_ms: number
  /** When it was last published, again by a sweeper for edges that were silent. */
  readonly last_published_ms: number
}
