import type { Audit } from '../http/outcome.ts'
import type { AdminToken } from '../../core/catalogue/model.ts'
import { commit } from '../../core/change/commit.ts'
import { auditEntry } from '../changes/audit-entry.ts'
import { activityWrite } from '../../core/change/activity-write.ts'
import type { AdminContext } from '../context/admin-context.ts'
import { FAILURES_LIMIT } from '../context/sign-in-throttle.ts'

/**
 * A wrong token goes into the log of the organization that it belonged to, else of the default one. Of one address
 * only as many a window as it takes to be throttled: a flood of them must not fill the store.
 */
export async function recordFailedSignIn(
  context: AdminContext,
  failed: {
    readonly source_ip: string | null
    readonly request_id: string
    readonly failures: number
    readonly token: AdminToken | null
  },
): Promise<void> {
  const { redis, settings, log, now } = context
  const { source_ip, request_id, failures, token } = failed
  if (failures > FAILURES_LIMIT) return
  const why = token === null ? 'unknown token' : 'expired token'
  log.warn({ source_ip, request_id, failures }, `sign-in failed: ${why}`)
  const actor = {
    token_id: token?.token_id ?? '',
    organization_id: token?.organization_id ?? settings.organizationId,
    email: token?.email ?? '',
    role: 'viewer' as const,
    source_ip,
  }
  const audit: Audit = {
    action: 'sign_in.failed',
    target: token?.token_id ?? '',
    before: null,
    after: { why, failures, throttled: failures >= FAILURES_LIMIT },
  }
  const entry = auditEntry(audit, { actor, request_id, now: now() })
  const change = { guards: [], writes: [activityWrite(entry)], targets: [] }
  await commit(redis, change, settings.killLease_ms)
}
