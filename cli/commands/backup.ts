import { existsSync, renameSync, rmSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import type { Writable } from 'node:stream'
import { setTimeout as wait } from 'node:timers/promises'
import { backupClass } from '../../core/redis/backup-classes.ts'
import { KEY_TAG, REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { scanHash, scanNames } from '../../core/redis/scan-store.ts'
import type { Environment } from '../../core/settings/settings.ts'
import { readStoreIdentity } from '../../core/store/deployment-file.ts'
import { activeKeyId, readStoredKeys } from '../../core/store/stored-keys.ts'
import { version } from '../../core/system/version.ts'
import type { BackupEnd, BackupHeader, BackupLine } from '../backup/backup-file.ts'
import { backupMac, readPassphrase, wrapKeys } from '../backup/backup-keys.ts'
import { counted } from '../terminal/counted.ts'
import { findOwnDeployment } from '../deployment/find-own-deployment.ts'
import { openStore } from '../deployment/open-store.ts'
import type { OwnKey } from '../deployment/own-key.ts'
import { terminalLines } from '../terminal/terminal-text.ts'

/** Keys or entries that are read at a time; the store works on nothing else meanwhile. */
const PAGE = 100
/** A change while the configuration is read begins it again. Under a storm of kills this may take a while. */
const TRIES_MAX = 100
const TRY_AGAIN_MS = 50

export interface BackupOptions {
  /** Whether the encryption keys are in the backup, encrypted with the passphrase. */
  readonly keys: boolean
}

/**
 * `agw backup FILE`: writes everything that a deployment needs to start again, while it runs. The configuration, the keys
 * and the kills are those of one moment: no change was made between the first and the last that was read. The log follows.
 * @returns the exit code
 * @throws with a sentence for the operator
 */
export async function runBackup(
  file: string,
  options: BackupOptions,
  env: Environment,
  stdout: Writable,
): Promise<number> {
  const passphrase = readPassphrase(env)
  if (options.keys && passphrase === null)
    throw new Error('--keys needs AGW_BACKUP_PASSPHRASE or AGW_BACKUP_PASSPHRASE_FILE.')
  if (existsSync(file)) throw new Error(`${file} exists already.`)
  const { own, store } = await findOwnDeployment(env)
  const redis = await openStore(store, 'agw-backup')
  const part = `${file}.part`
  try {
    const lines = await writeBackup(redis, part, own, options.keys ? passphrase : null)
    renameSync(part, file)
    stdout.write(
      terminalLines(
        `${file}: ${counted(lines, 'line')}. ${options.keys ? 'It contains the encryption keys: keep the passphrase elsewhere.' : 'It does not contain the encryption keys: keep them elsewhere.'}\n`,
      ),
    )
    return 0
  } catch (error) {
    throw cannotWrite(file, error)
  } finally {
    rmSync(part, { force: true })
    redis.disconnect()
  }
}

const FILE_ERRORS: Readonly<Record<string, string>> = {
  ENOSPC: 'its disk is full',
  EDQUOT: 'the quota of its disk is used up',
  ENOENT: 'its directory does not exist',
  ENOTDIR: 'its directory is a file',
  EACCES: 'this user is not allowed to',
  EROFS: 'its disk is read-only',
}

/** A sentence instead of the name of a system error. */
function cannotWrite(file: string, error: unknown): unknown {
  const { code = '', syscall } = error as NodeJS.ErrnoException
  const why = FILE_ERRORS[code]
  // The store may have been left too.
  return why === undefined || syscall === 'connect'
    ? error
    : new Error(`${file} cannot be written: ${why}.`)
}

async function writeBackup(
  redis: RedisClient,
  part: string,
  own: OwnKey,
  passphrase: string | null,
): Promise<number> {
  const key_id = activeKeyId(await readStoredKeys(redis))
  const key = key_id === null ? undefined : own.ring.keys.get(key_id)
  if (key_id === null || key === undefined)
    throw new Error('The key of this machine is not the one that the store is encrypted with.')
  const keys = passphrase === null ? null : wrapKeys(own.text, passphrase)
  for (let tries = 1; ; tries++) {
    const handle = await open(part, 'w', 0o600)
    try {
      const identity = await readStoreIdentity(redis)
      if (identity === null) throw new Error('The store is empty.')
      const header: BackupHeader = {
        format: 'agw-backup',
        version: 1,
        created_at: new Date().toISOString(),
        gateway_version: version,
        ...identity,
        lineage: await redis.hget(REDIS_KEYS.requirements, 'lineage'),
        log_places: await logPlaces(redis),
        key_id,
        keys,
      }
      const out = new Output(handle, backupMac(key))
      await out.write(header)
      await copyKeys(redis, out)
      const after = await readStoreIdentity(redis)
      if (after?.epoch === identity.epoch && after.deployment_id === identity.deployment_id) {
        await copyLogs(redis, out)
        return await out.end()
      }
    } finally {
      await handle.close()
    }
    if (tries === TRIES_MAX)
      throw new Error('The configuration changed all the time. Try again when it is quieter.')
    await wait(TRY_AGAIN_MS)
  }
}

/** The last id of each log. A change with a later entry is made after this, and so begins the reading again. */
async function logPlaces(redis: RedisClient): Promise<Record<string, string>> {
  const places: Record<string, string> = {}
  for await (const [organization_id] of scanHash(redis, REDIS_KEYS.organizations)) {
    const key = REDIS_KEYS.activity(organization_id)
    const [last] = await redis.xrevrange(key, '+', '-', 'COUNT', 1)
    places[organization_id] = last?.[0] ?? '0-0'
  }
  return places
}

/** Writes lines, and the last one with what proves that all of them are there. */
class Output {
  readonly #handle: FileHandle
  readonly #mac: ReturnType<typeof backupMac>
  #lines = 0

  constructor(handle: FileHandle, mac: ReturnType<typeof backupMac>) {
    this.#handle = handle
    this.#mac = mac
  }

  async write(line: BackupHeader | BackupLine): Promise<void> {
    const text = `${JSON.stringify(line)}\n`
    this.#lines++
    this.#mac.update(text)
    await this.#handle.appendFile(text)
  }

  async end(): Promise<number> {
    const end: BackupEnd = { end: { lines: this.#lines, mac: this.#mac.digest('base64') } }
    await this.#handle.appendFile(`${JSON.stringify(end)}\n`)
    await this.#handle.sync()
    return this.#lines
  }
}

async function copyKeys(redis: RedisClient, out: Output): Promise<void> {
  let page: string[] = []
  const flush = async (): Promise<void> => {
    const read = await Promise.all(
      page.map(async (key) => [key, await redis.dumpBuffer(key), await redis.pttl(key)] as const),
    )
    // It may have expired meanwhile.
    for (const [key, dump, ttl_ms] of read)
      if (dump !== null)
        await out.write({ key, dump: dump.toString('base64'), ttl_ms: Math.max(0, ttl_ms) })
    page = []
  }
  for await (const name of scanNames(redis, KEY_TAG)) {
    if (backupClass(name) !== 'copied') continue
    page.push(name)
    if (page.length >= PAGE) await flush()
  }
  await flush()
}

async function copyLogs(redis: RedisClient, out: Output): Promise<void> {
  for await (const [organization_id] of scanHash(redis, REDIS_KEYS.organizations)) {
    const key = REDIS_KEYS.activity(organization_id)
    let from = '-'
    let last_id = '0-0'
    for (;;) {
      const rows = await redis.xrangeBuffer(key, from, '+', 'COUNT', PAGE)
      if (rows.length === 0) break
      // Fields may be compressed.
      const entries = rows.map(
        ([id, fields]) => [id.toString(), fields.map((field) => field.toString('base64'))] as const,
      )
      await out.write({ log: organization_id, entries })
      last_id = entries.at(-1)?.[0] ?? last_id
      from = `(${last_id}`
    }
    if (last_id === '0-0') continue
    const info = (await redis.xinfo('STREAM', key)) as unknown[]
    const added = Number(info[info.indexOf('entries-added') + 1])
    await out.write({ log: organization_id, last_id, added })
  }
}
