import { join } from 'node:path'
import { msOfPlace } from '../../core/activity/log-place.ts'
import { restoreState } from '../../core/kill/restore-state.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { archivedChanges } from '../../core/restore/archived-changes.ts'
import { killStateOf } from '../../core/restore/logged-change.ts'
import { completeGap, openGap, raiseGapAlert, readGap } from '../../core/restore/restore-gap.ts'
import { readArchiveKeys } from '../../core/store/archive-keys-file.ts'
import {
  isOlderStore,
  OLDER_STORE,
  readSeenStore,
  readStoreIdentity,
} from '../../core/store/deployment-file.ts'
import type { AdminContext } from '../context/admin-context.ts'
import type { Route } from '../http/define-route.ts'
import { repeatChange } from './repeat-change.ts'

/**
 * A store that is older than the one that this machine has used, as after a copy of its files was put back: what the archive knows is
 * applied again, and its agents are refused until an administrator acknowledges that changes may be missing.
 */
export async function recoverOlderStore(
  context: AdminContext,
  routes: readonly Route[],
): Promise<void> {
  const { redis, settings, log, now } = context
  const parts = { redis, lease_ms: settings.killLease_ms, now }
  const { deploymentIdFile: file, organizationId: organization_id } = settings
  const found = await readStoreIdentity(redis)
  const seen = file === null ? null : readSeenStore(file)
  if (found !== null && isOlderStore(seen, found)) {
    log.error({ epoch: found.epoch, epoch_before: seen?.epoch }, OLDER_STORE)
    const reasons = [OLDER_STORE]
    let known_until = ''
    for (const organization of await redis.hkeys(REDIS_KEYS.organizations)) {
      const archived = await readArchive(context, found.deployment_id, organization)
      known_until = [known_until, archived.known_until].sort().at(-1) ?? ''
      if (archived.problem !== null)
        reasons.push(`The archive of ${organization}: ${archived.problem}.`)
      for (const change of archived.changes) {
        const state = killStateOf(change)
        const who = { organization_id: organization, agent_id: change.target }
        if (state !== null) await restoreState(parts, who, state, 'archive')
        const done = await repeatChange(context, routes, change)
        if (done.kind === 'impossible') reasons.push(done.why)
      }
    }
    await openGap(parts, { known_until, reasons }, now())
  }
  await completeGap(parts)
  const gap = await readGap(redis)
  if (gap !== null) await raiseGapAlert(redis, organization_id, gap, now())
}

async function readArchive(
  { redis, settings, ring }: AdminContext,
  deployment_id: string,
  organization_id: string,
): Promise<Awaited<ReturnType<typeof archivedChanges>> & { readonly known_until: string }> {
  const [last] = await redis.xrevrange(REDIS_KEYS.activity(organization_id), '+', '-', 'COUNT', 1)
  const after = last?.[0] ?? '0-0'
  const folder = settings.archiveDir === null ? null : join(settings.archiveDir, deployment_id)
  const archived =
    folder === null
      ? { changes: [], last_place: null, problem: 'there is no archive' }
      : await archivedChanges(folder, readArchiveKeys(folder, ring), organization_id, after)
  const known_ms = Math.max(msOfPlace(after), msOfPlace(archived.last_place ?? '0-0'))
  return { ...archived, known_until: new Date(known_ms).toISOString() }
}
