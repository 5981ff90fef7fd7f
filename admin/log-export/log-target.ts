import type { SendOutcome } from '../../core/otlp/send-otlp.ts'
import type { ExportedEntry } from './exported-entry.ts'

/** A log entry in the form of a target. */
export interface ExportRecord {
  readonly at_ms: number
  readonly text: string
}

/** Entries that the store removed before they could be exported. */
export interface ExportGap {
  readonly missing: number
  /** The time of the first entry after them. */
  readonly at_ms: number
}

/** Where the activity log is exported to. */
export interface LogTarget {
  readonly entry: (entry: ExportedEntry, organization_id: string, observed: Date) => ExportRecord
  readonly gap: (gap: ExportGap, organization_id: string, observed: Date) => ExportRecord
  /** Never throws. */
  readonly send: (organization_id: string, records: readonly ExportRecord[]) => Promise<SendOutcome>
  /** Sends again what may have been lost with a connection. */
  readonly recover: () => Promise<SendOutcome>
  /** Sends nothing: whether the target accepts anything at all. */
  readonly probe: () => Promise<SendOutcome>
  readonly close: () => Promise<void>
}
