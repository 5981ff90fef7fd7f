import type { AdminAction } from '../../core/activity/words-of-action.ts'
import type { ActivityEntry } from '../../core/activity/activity-entry.ts'
import type { Writable } from 'node:stream'
import type { Guard, Write } from '../../core/change/commit.ts'
import type { ControlTarget } from '../../core/control/control-message.ts'
import type { EdgeMember } from '../../core/store/edge-members.ts'
import type { AdminErrorCode } from './admin-errors.ts'

/** A problem in a request. `path` is a JSON pointer, for the query with the prefix `query` (`/name`, `query/limit`). */
export interface Issue {
  readonly path: string
  readonly message: string
}

export interface Answer {
  readonly kind: 'answer'
  readonly status: number
  readonly body: unknown
  readonly headers?: Readonly<Record<string, string>>
}

export interface Refusal {
  readonly kind: 'refusal'
  readonly error: AdminErrorCode
  /** Replaces the message of the catalogue. */
  readonly message?: string
  readonly details?: Readonly<Record<string, unknown>>
  readonly headers?: Readonly<Record<string, string>>
}

/** A streamed response, for content that is too large to hold or has no end. */
export interface Streamed {
  readonly kind: 'streamed'
  readonly headers: Readonly<Record<string, string>>
  /** Resolves when everything is written; `gone` is aborted when the client has disconnected. */
  readonly write: (out: Writable, gone: AbortSignal) => Promise<void>
}

/** The activity log entry of a change. The code that creates it masks secrets. */
export interface Audit {
  readonly action: AdminAction
  readonly target: string
  readonly before: unknown
  readonly after: unknown
  readonly agent_id?: string | null
  readonly agent_name?: string | null
  readonly key_id?: string | null
  readonly integration_id?: string | null
  readonly scope_id?: string | null
}

/** A change that was decided from values read before; the guards ensure that these are unchanged when it is written. */
export interface Plan {
  readonly kind: 'plan'
  readonly guards: readonly Guard[]
  readonly writes: readonly Write[]
  readonly targets: readonly ControlTarget[]
  /** Also for the webhooks that subscribe to them; they are logged too. */
  readonly events?: readonly ActivityEntry[]
  /** It must not fail because the store is full. */
  readonly even_when_full?: true
  /** Members that every live edge must know before this is written. */
  readonly needs?: readonly EdgeMember[]
  /** One for each record that changes. */
  readonly audits: readonly [Audit, ...Audit[]]
  readonly answer: Answer
  /** Cleanup that may fail or be lost without harm; it runs once the change is in force. */
  readonly afterwards?: () => Promise<void>
}

export type Outcome = Answer | Refusal | Streamed | Plan

export const answer = (
  status: number,
  body: unknown,
  headers?: Readonly<Record<string, string>>,
): Answer => ({ kind: 'answer', status, body, ...(headers ? { headers } : {}) })

/** Something was done that changes no stored resource: it is only written to the audit log. */
export const audited = (audit: Audit, shown: Answer): Plan => ({
  kind: 'plan',
  guards: [],
  writes: [],
  targets: [],
  audits: [audit],
  answer: shown,
})

export const NO_CONTENT: Answer = { kind: 'answer', status: 204, body: null }

export const invalid = (issues: readonly Issue[]): Refusal => ({
  kind: 'refusal',
  error: 'validation_failed',
  details: { issues },
})

export const notFound = (message?: string): Refusal => ({
  kind: 'refusal',
  error: 'not_found',
  ...(message ? { message } : {}),
})

export const conflict = (
  reason: string,
  message: string,
  details: Readonly<Record<string, unknown>> = {},
): Refusal => ({ kind: 'refusal', error: 'conflict', message, details: { reason, ...details } })
