import type { ActivityEntry } from '../../core/activity/activity-entry.ts'
import { entryOfNoCall } from '../../core/activity/entry-of-no-call.ts'
import { offsetNote, type Time } from '../../core/control/store-clock.ts'
import type { Actor } from '../context/admin-context.ts'
import type { Audit } from '../http/outcome.ts'

/** A larger state is left out of the log, which holds a million entries, and only measured there. */
const STATE_LIMIT_BYTES = 16_384

/** The activity entry of an operator's change; of an update it keeps the members that differ. */
export function auditEntry(
  audit: Audit,
  by: { readonly actor: Actor; readonly request_id: string } & (
    | { readonly now: Date }
    | { readonly time: Time }
  ),
): ActivityEntry {
  const { actor, request_id } = by
  const time = 'time' in by ? by.time : { ms: by.now.getTime(), offset_ms: 0 }
  const { before, after } = onlyDifferent(audit.before, audit.after)
  return {
    ...entryOfNoCall({
      event: 'admin_action',
      organization_id: actor.organization_id,
      agent_id: audit.agent_id ?? null,
      agent_name: audit.agent_name ?? null,
      timestamp: new Date(time.ms).toISOString(),
      actor: { source_ip: actor.source_ip, request_id, edge_id: null },
      data: {
        actor: actor.email,
        actor_token_id: actor.token_id,
        action: audit.action,
        target: audit.target,
        before: bounded(before),
        after: bounded(after),
        ...offsetNote(time),
      },
    }),
    key_id: audit.key_id ?? null,
    integration_id: audit.integration_id ?? null,
    scope_id: audit.scope_id ?? null,
  }
}

function onlyDifferent(before: unknown, after: unknown): { before: unknown; after: unknown } {
  if (!isRecord(before) || !isRecord(after)) return { before, after }
  const differs = (name: string): boolean =>
    JSON.stringify(before[name]) !== JSON.stringify(after[name])
  const pick = (from: Record<string, unknown>): Record<string, unknown> =>
    Object.fromEntries(Object.entries(from).filter(([name]) => differs(name)))
  return { before: pick(before), after: pick(after) }
}

function bounded(state: unknown): unknown {
  const size_bytes = Buffer.byteLength(JSON.stringify(state ?? null))
  return size_bytes > STATE_LIMIT_BYTES ? { left_out: true, size_bytes } : (state ?? null)
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
