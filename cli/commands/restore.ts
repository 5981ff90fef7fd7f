import type { AdminAction } from '../../core/activity/words-of-action.ts'
import type { Writable } from 'node:stream'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { entryOfNoCall } from '../../core/activity/entry-of-no-call.ts'
import { activityWrite } from '../../core/change/activity-write.ts'
import { commit } from '../../core/change/commit.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { raiseStoreLost } from '../../admin/bootstrap/store-lost.ts'
import { killStateOf } from '../../core/restore/logged-change.ts'
import { acknowledgeGap, openGap, raiseGapAlert, readGap } from '../../core/restore/restore-gap.ts'
import type { KeyRing } from '../../core/keys/seal.ts'
import { type Environment, readSettings, type Settings } from '../../core/settings/settings.ts'
import {
  newLineage,
  raiseMinimumVersion,
  readMinimumVersion,
} from '../../core/store/minimum-version.ts'
import {
  readSeenStore,
  readStoreIdentity,
  writeSeenStore,
} from '../../core/store/deployment-file.ts'
import { type BackupHeader, checkBackup } from '../backup/backup-file.ts'
import { readPassphrase } from '../backup/backup-keys.ts'
import { dataDirAt, encryptionKeyFile, writeOwnFile } from '../launcher/data-dir.ts'
import { deploymentFile } from '../launcher/child-specs.ts'
import { findOwnKey } from '../deployment/own-key.ts'
import { counted } from '../terminal/counted.ts'
import { findStore } from '../deployment/find-store.ts'
import { openStore } from '../deployment/open-store.ts'
import { planRestore, type RestorePlan } from '../restore/plan-restore.ts'
import { keepNewest, killStates, restoreStates } from '../restore/kill-states.ts'
import { repeatChanges } from '../restore/repeat-changes.ts'
import { removeAll, writeAll } from '../restore/replace-content.ts'
import { type DoneRestore, reportOf } from '../restore/report-restore.ts'
import { terminalLines } from '../terminal/terminal-text.ts'

/** An admin process reads its key file every second, and the store as often. */
const NOTICE_MS = 2_500

export interface RestoreOptions {
  /** Whether what the store has may be replaced. */
  readonly replace: boolean
  /** Whether agents may call although changes after the backup are unknown. */
  readonly accept_gap?: boolean
  /** Directory of the archive; null for that of the settings. */
  readonly archive?: string | null
}

/**
 * `agw restore FILE`: puts a backup into the store. The file is read to its end first. What the store, the archive and the edges know
 * of the time after the backup is applied: kills, revocations, deletions and edits. If some of that time is unknown, the agents of the
 * backup are refused until an administrator acknowledges that. Until it is complete, the store has no deployment, so edges refuse all
 * calls.
 * @returns the exit code
 * @throws with a sentence for the operator; before the first change, nothing was changed
 */
export async function runRestore(
  file: string,
  { replace, accept_gap = false, archive = null }: RestoreOptions,
  env: Environment,
  stdout: Writable,
): Promise<number> {
  const read = readSettings(env)
  if (!read.ok) throw new Error(read.problems.join('\n'))
  const { settings } = read
  if (!existsSync(file)) throw new Error(`${file} does not exist.`)
  const own = findOwnKey(settings)
  const { header, ring, keys_text } = await checkBackup(
    file,
    own?.ring ?? null,
    readPassphrase(env),
  )
  const isOwnKey = own?.ring.keys.has(header.key_id) === true
  if (!isOwnKey && settings.encryptionKey !== null)
    throw new Error(
      `The backup needs encryption key ${header.key_id}. Add it to AGW_ENCRYPTION_KEY first. Nothing was changed.`,
    )
  const store = await findStore(settings)
  if (store === null)
    throw new Error(
      'No store is running on this machine. Start the gateway first; if its store is lost, with agw start --new-store.',
    )
  const redis = await openStore(store, 'agw-restore')
  const say = (line: string): void => void stdout.write(`${terminalLines(line)}\n`)
  try {
    const found = await readStoreIdentity(redis)
    if (found !== null && !replace)
      throw new Error(
        `The store is not empty: it belongs to deployment ${found.deployment_id}. --replace replaces everything in it. Nothing was changed.`,
      )
    if (!isOwnKey && keys_text !== null) {
      const keys = [...ring.keys.values()].map((key) => key.toString('base64'))
      const first = ring.keys.get(header.key_id)?.toString('base64') ?? ''
      const text = [first, ...keys.filter((key) => key !== first)].join(',')
      writeOwnFile(encryptionKeyFile(dataDirAt(settings.dataDir)), `${text}\n`)
      say('The encryption keys of the backup were added.')
      await wait(NOTICE_MS)
    }
    const seen_file = deploymentFile({ dataDir: dataDirAt(settings.dataDir), settings })
    const sources = {
      redis,
      settings,
      ring,
      found,
      seen_file,
      archive: archive ?? settings.archiveDir ?? join(settings.dataDir, 'archive'),
    }
    const plan = await planRestore(sources, header)
    const done = await restore({ redis, settings, file, header, ring, plan, accept_gap })
    remember(seen_file, await readStoreIdentity(redis))
    for (const line of reportOf(header, done)) say(line)
    if (found === null || found.deployment_id !== header.deployment_id)
      say('Restart the gateway now: edges of another deployment refuse all calls until then.')
    return 0
  } finally {
    redis.disconnect()
  }
}

interface Job {
  readonly redis: RedisClient
  readonly settings: Settings
  readonly file: string
  readonly header: BackupHeader
  readonly ring: KeyRing
  readonly plan: RestorePlan
  readonly accept_gap: boolean
}

async function restore(job: Job): Promise<DoneRestore> {
  const { redis, settings, file, header, ring, plan, accept_gap } = job
  const epoch_before = Number((await redis.get(REDIS_KEYS.epoch)) ?? 0)
  const minimum = await readMinimumVersion(redis)
  // In the store before anything is removed: if this process ends, the next restore has them from there.
  await redis.set(REDIS_KEYS.restorePlan, JSON.stringify(plan))
  const isOwn = (await redis.get(REDIS_KEYS.installation)) === header.deployment_id
  for await (const [who, state] of killStates(redis))
    if (isOwn || state.killed_at !== null) await keepNewest(redis, who, state)
  for (const change of plan.changes) {
    const state = killStateOf(change)
    const { organization_id, target: agent_id } = change
    if (state !== null) await keepNewest(redis, { organization_id, agent_id }, state)
  }
  await redis.set(REDIS_KEYS.restoring, new Date().toISOString())
  // First, so that from here on no edge serves and no admin process signs anybody in: without the epoch that they know, edges
  // check the store.
  await redis.del(REDIS_KEYS.installation, REDIS_KEYS.epoch)
  await removeAll(redis)
  const organizations = await writeAll(redis, file)
  // Ahead of all that edges have seen; they read everything again.
  const epoch = Math.max(epoch_before, header.epoch, Date.now() * 1000) + 1
  await redis.set(REDIS_KEYS.epoch, String(epoch))
  const repeated = await repeatChanges(redis, settings, ring, plan.changes)
  const states = await restoreStates(redis, settings, Date.parse(header.created_at))
  const gap = withHolding(plan, repeated.holding)
  const lineage = gap === null ? (plan.lineage ?? newLineage()) : newLineage()
  await redis.hset(REDIS_KEYS.requirements, 'lineage', lineage)
  if (minimum !== null) await raiseMinimumVersion(redis, minimum)
  await settleGap(job, gap)
  if (repeated.impossible.length > 0) await raiseImpossible(job, repeated.impossible)
  const done = { ...repeated, states, gap, is_accepted: accept_gap }
  await finish(job, organizations, done)
  return done
}

/** Changes that cannot be repeated count as unknown. */
function withHolding({ gap }: RestorePlan, holding: readonly string[]): RestorePlan['gap'] {
  if (holding.length === 0) return gap
  const { known_until = new Date().toISOString(), reasons = [] } = gap ?? {}
  return { known_until, reasons: [...reasons, ...holding] }
}

/** The deployment is not ready until an operator has acknowledged it. */
async function raiseImpossible(
  { redis, settings }: Job,
  changes: readonly string[],
): Promise<void> {
  const title = `The restore could not repeat ${counted(changes.length, 'change')} made after the backup. Make them again: ${changes[0]}`
  await raiseStoreLost(redis, settings.organizationId, title, { changes: changes.slice(0, 20) })
}

async function settleGap(
  { redis, settings, accept_gap }: Job,
  gap: RestorePlan['gap'],
): Promise<void> {
  const parts = { redis, lease_ms: settings.killLease_ms }
  const now = new Date()
  if (accept_gap) await acknowledgeGap(parts, null, settings.organizationId, now)
  else if (gap !== null) await openGap(parts, gap, now)
  const open = await readGap(redis)
  if (open !== null) await raiseGapAlert(redis, settings.organizationId, open, now)
}

/** What was logged during the restore follows what was restored; then the store is one of a deployment again. */
async function finish(
  { redis, settings, header }: Job,
  organizations: readonly string[],
  { states, repeated, impossible, gap, is_accepted }: DoneRestore,
): Promise<void> {
  for (const organization_id of organizations) {
    const key = REDIS_KEYS.activity(organization_id)
    const restoring = REDIS_KEYS.activityRestoring(organization_id)
    for (const [id, fields] of await redis.xrangeBuffer(key, '-', '+'))
      await redis.xadd(restoring, id, ...fields)
    await redis.rename(restoring, key)
  }
  const entry = entryOfNoCall({
    event: 'admin_action',
    organization_id: settings.organizationId,
    agent_id: null,
    agent_name: null,
    timestamp: new Date().toISOString(),
    actor: { source_ip: null, request_id: null, edge_id: 'agw restore' },
    data: {
      actor: 'system',
      action: 'store.restored' satisfies AdminAction,
      target: header.deployment_id,
      backup_created_at: header.created_at,
      kill_states: states.length,
      repeated: repeated.length,
      impossible,
      gap,
      gap_accepted: gap !== null && is_accepted,
    },
  })
  await commit(
    redis,
    {
      guards: [],
      writes: [
        activityWrite(entry),
        ['SET', REDIS_KEYS.installation, header.deployment_id],
        ['DEL', REDIS_KEYS.restoring],
        ['DEL', REDIS_KEYS.restorePlan],
        ['DEL', REDIS_KEYS.restoringKills],
      ],
      targets: [],
    },
    settings.killLease_ms,
    'even_when_full',
  )
}

/** The next start of this machine expects the restored store. */
function remember(file: string, identity: Awaited<ReturnType<typeof readStoreIdentity>>): void {
  if (identity !== null && readSeenStore(file) !== null) writeSeenStore(file, identity)
}
