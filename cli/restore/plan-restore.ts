import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { storeProblem } from '../../admin/bootstrap/store-lost.ts'
import { comparePlaces, msOfPlace } from '../../core/activity/log-place.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { archivedChanges } from '../../core/restore/archived-changes.ts'
import { liveChanges } from '../../core/restore/live-changes.ts'
import type { LoggedChange } from '../../core/restore/logged-change.ts'
import { readGap, type RestoreGap } from '../../core/restore/restore-gap.ts'
import type { KeyRing } from '../../core/keys/seal.ts'
import type { Settings } from '../../core/settings/settings.ts'
import { readArchiveKeys } from '../../core/store/archive-keys-file.ts'
import {
  isOlderStore,
  OLDER_STORE,
  readSeenStore,
  type SeenStore,
} from '../../core/store/deployment-file.ts'
import type { BackupHeader } from '../backup/backup-file.ts'

const HOUR_MS = 3_600_000

/** What is known about the time after a backup. It is in the store until the restore is complete, since the restore removes its sources. */
export interface RestorePlan {
  readonly backup_created_at: string
  /** From old to new in each organization. */
  readonly changes: readonly LoggedChange[]
  /** Null: all changes are known. */
  readonly gap: Pick<RestoreGap, 'known_until' | 'reasons'> | null
  readonly lineage: string | null
}

interface Sources {
  readonly redis: RedisClient
  readonly settings: Settings
  readonly ring: KeyRing
  readonly found: SeenStore | null
  /** What this machine remembers of its store. */
  readonly seen_file: string
  readonly archive: string
}

export async function planRestore(sources: Sources, header: BackupHeader): Promise<RestorePlan> {
  const { redis } = sources
  const text = await redis.get(REDIS_KEYS.restorePlan)
  const interrupted = text === null ? null : (JSON.parse(text) as RestorePlan)
  // What it has read is gone from the store.
  if (interrupted !== null && interrupted.backup_created_at <= header.created_at) return interrupted
  const lineage = await redis.hget(REDIS_KEYS.requirements, 'lineage')
  const why = await whyNotWhole(sources, header, lineage)
  const reasons: string[] = why === null ? [] : [why]
  const changes: LoggedChange[] = [...(interrupted?.changes ?? [])]
  let known_ms = Date.parse(header.created_at)
  for (const [organization_id, after] of await placesOf(redis, header)) {
    const live = why === null ? await liveChanges(redis, organization_id, after) : null
    changes.push(...(live?.changes ?? []))
    if (live !== null && live.begins_at === null) continue
    const archived = await readArchive(sources, header, organization_id, after)
    changes.push(...archived.changes)
    if (archived.last_place !== null) known_ms = Math.max(known_ms, msOfPlace(archived.last_place))
    if (archived.problem !== null)
      reasons.push(`The archive of ${organization_id}: ${archived.problem}.`)
    else if (live?.begins_at && comparePlaces(archived.last_place ?? '0-0', live.begins_at) < 0)
      reasons.push(`The log of ${organization_id} has lost entries that are not archived.`)
  }
  changes.sort((a, b) => comparePlaces(a.place, b.place))
  return {
    backup_created_at: header.created_at,
    changes,
    gap: reasons.length === 0 ? null : { known_until: new Date(known_ms).toISOString(), reasons },
    lineage,
  }
}

/** Why the store does not know all changes since the backup; null if it does. */
async function whyNotWhole(
  { redis, settings, found, seen_file }: Sources,
  header: BackupHeader,
  lineage: string | null,
): Promise<string | null> {
  if (found?.deployment_id !== header.deployment_id)
    return 'The store that had the changes after the backup is lost.'
  if (isOlderStore(readSeenStore(seen_file), found)) return OLDER_STORE
  if (found.epoch < header.epoch || (header.lineage ?? lineage) !== lineage)
    return 'The store is not the one that the backup was made of.'
  if ((await readGap(redis)) !== null)
    return 'The store does not know all changes since an earlier restore.'
  return (await storeProblem(redis, settings.organizationId)) === null
    ? null
    : 'The store has lost data.'
}

/** The position in each log up to which the backup has all changes. Older backups do not have it: an hour is enough for two clocks. */
async function placesOf(
  redis: RedisClient,
  { log_places, created_at }: BackupHeader,
): Promise<readonly (readonly [organization_id: string, after: string])[]> {
  if (log_places !== undefined) return Object.entries(log_places)
  const after = `${Date.parse(created_at) - HOUR_MS}-0`
  return (await redis.hkeys(REDIS_KEYS.organizations)).map((id) => [id, after])
}

/** The directory of one deployment, or one that holds several. */
async function readArchive(
  { archive, ring }: Sources,
  { deployment_id }: BackupHeader,
  organization_id: string,
  after: string,
): ReturnType<typeof archivedChanges> {
  const folder = existsSync(join(archive, 'archive-id')) ? archive : join(archive, deployment_id)
  if (!existsSync(folder)) return { changes: [], last_place: null, problem: 'there is no archive' }
  return await archivedChanges(folder, readArchiveKeys(folder, ring), organization_id, after)
}
