import type { DeliveredEvent } from '../../core/catalogue/events.ts'
import type { WebhookFormat } from './webhook-format.ts'

/** A webhook as it is stored; its delivery state is stored separately (`WebhookState`). */
export interface Webhook {
  readonly webhook_id: string
  readonly organization_id: string
  readonly name: string
  /** Encrypted; as it is where an older version stored it (`openUrl` reads both). */
  readonly url: string
  readonly events: readonly DeliveredEvent[]
  /** Absent in records of versions before 0.3: `standard`. */
  readonly format?: WebhookFormat
  /** PEM. Only these CAs are trusted for this webhook; without them the public ones. */
  readonly ca_certificates?: string | null
  /** Sealed; null if deliveries are not signed. */
  readonly secret: string | null
  /** After a rotation the former secret still signs, until then (ISO 8601). */
  readonly previous_secret: { readonly sealed: string; readonly until: string } | null
  readonly created_at: string
}

export interface WebhookState {
  readonly success_count: number
  readonly failure_count: number
  /** Unix ms; null before the first attempt. */
  readonly last_triggered_ms: number | null
  /** Unix ms of the delivery that used up its attempts; null while the webhook is active. */
  readonly failing_since_ms: number | null
  /** Unix ms of the oldest event that was given up and has not been replayed since. */
  readonly missed_since_ms: number | null
}

/** The previous secret also signs for this long after a rotation. */
export const SECRET_OVERLAP_MS = 24 * 3600 * 1000
/** Webhooks of one organization; each costs a delivery an event. */
export const WEBHOOKS_MAX = 100
