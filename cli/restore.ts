import type { AdminAction } from '../core/activity/words-of-action.ts'
import type { Writable } from 'node:stream'
import { existsSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { entryOfNoCall } from '../core/activity/entry-of-no-call.ts'
import { activityWrite } from '../core/change/activity-write.ts'
import { commit } from '../core/change/commit.ts'
import { type LostState, restoreState } from '../core/kill/restore-state.ts'
import type { Agent } from '../core/model.ts'
import { backupClass } from '../core/redis/backup-classes.ts'
import { KEY_TAG, REDIS_KEYS } from '../core/redis/redis-keys.ts'
import type { RedisClient } from '../core/redis/run-script.ts'
import { scanHash, scanNames } from '../core/redis/scan-store.ts'
import { type Environment, readSettings, type Settings } from '../core/settings.ts'
import { readSeenStore, readStoreIdentity, writeSeenStore } from '../core/store/deployment-file.ts'
import { type BackupHeader, checkBackup, readBackup } from './backup/backup-file.ts'
import { readPassphrase } from './backup/backup-keys.ts'
import { dataDirAt, encryptionKeyFile, writeOwnFile } from './launcher/data-dir.ts'
import { deploymentFile } from './launcher/child-specs.ts'
import { findOwnKey } from './own-key.ts'
import { findStore } from './find-store.ts'
import { openStore } from './open-store.ts'
import { terminalLines } from './terminal-text.ts'

const WRITES_AT_ONCE = 50
/** An admin process reads its key file every second, and the store as often. */
const NOTICE_MS = 2_500

export interface RestoreOptions {
  /** Whether what the store has may be replaced. */
  readonly replace: boolean
}

type KillState = readonly [Pick<Agent, 'organization_id' | 'agent_id'>, LostState]

/**
 * `agw restore FILE`: puts a backup into the store. The file is read to its end first. Kills and reactivations that are
 * newer in the store than in the backup stay; edges that run write back those that only they know. Until it is complete,
 * the store has no deployment, so edges refuse all calls.
 * @returns the exit code
 * @throws with a sentence for the operator; before the first change, nothing was changed
 */
export async function runRestore(
  file: string,
  { replace }: RestoreOptions,
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
    await restore(redis, settings, file, header)
    remember(settings, await readStoreIdentity(redis))
    say(
      `Restored the state of ${header.created_at}. Changes made since are undone, except kills and reactivations, which stay. Check which keys and tokens were revoked since.`,
    )
    if (found === null || found.deployment_id !== header.deployment_id)
      say('Restart the gateway now: edges of another deployment refuse all calls until then.')
    return 0
  } finally {
    redis.disconnect()
  }
}

async function restore(
  redis: RedisClient,
  settings: Settings,
  file: string,
  header: BackupHeader,
): Promise<void> {
  const epoch_before = Number((await redis.get(REDIS_KEYS.epoch)) ?? 0)
  // In the store before anything is removed: if this process ends, the next restore has them from there.
  for await (const [who, state] of killStates(redis)) await keepNewest(redis, who, state)
  await redis.set(REDIS_KEYS.restoring, new Date().toISOString())
  // First, so that from here on no edge serves and no admin process signs anybody in: without the epoch that they know, edges
  // check the store.
  await redis.del(REDIS_KEYS.installation, REDIS_KEYS.epoch)
  await removeAll(redis)
  const organizations = await writeAll(redis, file)
  // Ahead of all that edges have seen; they read everything again.
  const epoch = Math.max(epoch_before, header.epoch, Date.now() * 1000) + 1
  await redis.set(REDIS_KEYS.epoch, String(epoch))
  const now = (): Date => new Date()
  const parts = { redis, lease_ms: settings.killLease_ms, now }
  // An edge may be faster.
  for await (const [who, state] of scanHash(redis, REDIS_KEYS.restoringKills)) {
    const [organization_id = '', agent_id = ''] = who.split('/')
    await restoreState(
      parts,
      { organization_id, agent_id },
      JSON.parse(state) as LostState,
      'agw restore',
    )
  }
  await finish(redis, settings, header, organizations)
}

/** Every kill and reactivation that the store knows. */
async function* killStates(redis: RedisClient): AsyncGenerator<KillState> {
  for await (const [organization_id] of scanHash(redis, REDIS_KEYS.organizations))
    for await (const [agent_id, text] of scanHash(redis, REDIS_KEYS.agents(organization_id))) {
      const { revision, killed_at, kill_reason, keys_replaced, status } = JSON.parse(text) as Agent
      if (revision === 0 && status !== 'killed') continue
      const state = {
        revision,
        killed_at: status === 'killed' ? killed_at : null,
        kill_reason,
        keys_replaced: keys_replaced === true,
      }
      yield [{ organization_id, agent_id }, state]
    }
}

/** A restore that was interrupted may have left an older state in the store than it has kept. */
async function keepNewest(
  redis: RedisClient,
  { organization_id, agent_id }: KillState[0],
  state: LostState,
): Promise<void> {
  const field = `${organization_id}/${agent_id}`
  const kept = await redis.hget(REDIS_KEYS.restoringKills, field)
  if (kept !== null && (JSON.parse(kept) as LostState).revision >= state.revision) return
  await redis.hset(REDIS_KEYS.restoringKills, field, JSON.stringify(state))
}

async function removeAll(redis: RedisClient): Promise<void> {
  let page: string[] = []
  const flush = async (): Promise<void> => {
    await Promise.all(page.map((name) => redis.unlink(name)))
    page = []
  }
  for await (const name of scanNames(redis, KEY_TAG)) {
    const its = backupClass(name)
    if (its === null || its === 'live') continue
    page.push(name)
    if (page.length >= WRITES_AT_ONCE) await flush()
  }
  await flush()
}

/** Writes everything but what makes the store one of a deployment. Returns the organizations that have a log. */
async function writeAll(redis: RedisClient, file: string): Promise<string[]> {
  const organizations = new Set<string>()
  for await (const line of readBackup(file)) {
    if ('key' in line) {
      if (line.key === REDIS_KEYS.installation || line.key === REDIS_KEYS.epoch) continue
      await redis.restore(line.key, line.ttl_ms, Buffer.from(line.dump, 'base64'), 'REPLACE')
      continue
    }
    organizations.add(line.log)
    const key = REDIS_KEYS.activityRestoring(line.log)
    if ('entries' in line)
      await Promise.all(
        line.entries.map(([id, fields]) =>
          redis.xadd(key, id, ...fields.map((field) => Buffer.from(field, 'base64'))),
        ),
      )
    else await redis.call('XSETID', key, line.last_id, 'ENTRIESADDED', line.added)
  }
  return [...organizations]
}

/** What was logged during the restore follows what was restored; then the store is one of a deployment again. */
async function finish(
  redis: RedisClient,
  settings: Settings,
  header: BackupHeader,
  organizations: readonly string[],
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
        ['DEL', REDIS_KEYS.restoringKills],
      ],
      targets: [],
    },
    settings.killLease_ms,
    'even_when_full',
  )
}

/** The next start of this machine expects the restored store. */
function remember(
  settings: Settings,
  identity: Awaited<ReturnType<typeof readStoreIdentity>>,
): void {
  const file = deploymentFile({ dataDir: dataDirAt(settings.dataDir), settings })
  if (identity !== null && readSeenStore(file) !== null) writeSeenStore(file, identity)
}
