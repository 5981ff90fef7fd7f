import { setTimeout as wait } from 'node:timers/promises'
import type { Logger } from 'pino'
import { raiseAlert } from '../../core/alerts/raise-alert.ts'
import { archiveRoot } from '../../core/activity/archive-line.ts'
import { followKeyFile } from '../../core/keys/follow-key-file.ts'
import type { LiveKeyRing } from '../../core/keys/live-key-ring.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import type { KeyRing } from '../../core/keys/seal.ts'
import {
  activeKeyId,
  keyMismatch,
  readStoredKeys,
  sealRoot,
  type StoredKey,
  type StoredKeys,
} from '../../core/store/stored-keys.ts'
import { activateKey } from './activate-key.ts'
import { countSealed, type SealedCounts } from './count-sealed.ts'
import { forgetHolder, keyHolders, noteHolder } from './key-holders.ts'
import { edgeWithoutKey, lostKey, missingKey } from './key-sentences.ts'
import { refuseMissingKeys } from './refuse-missing-keys.ts'
import { type Resealed, resealAll } from './reseal-all.ts'

const STEP_INTERVAL_MS = 2_000
/** How often everything encrypted is counted, and encrypted again where it is under an older key. */
const PASS_INTERVAL_MS = 60_000
/** After a change of the key, another admin process may still encrypt with the old one for a step or two. */
const PASSES_AFTER_CHANGE = 3

export interface KeyKeeperParts {
  readonly redis: RedisClient
  readonly ring: LiveKeyRing
  /** Followed for changes; null where the key came from the environment. */
  readonly key_file: string | null
  /** Ids of keys of which the operator said that they are lost. */
  readonly lost: readonly string[]
  readonly lease_ms: number
  /** Of this process, unique. */
  readonly name: string
  /** Gets the alerts. */
  readonly organization_id: string
  readonly now: () => Date
  readonly log: Logger
}

export interface KeyKeeper {
  /** What is wrong with the keys of this process, for the operator; null when all is well. */
  readonly problem: () => string | null
  readonly stop: () => Promise<void>
}

/**
 * Keeps everything that is encrypted under the key of this deployment. Which key that is stands in the store: the first
 * key of the setting takes over as soon as every live process has it, and never one that was replaced before. So two
 * processes with different keys do not write over each other.
 * @throws a sentence for the operator when this process lacks a key that the store needs
 */
export async function keepKeys(parts: KeyKeeperParts): Promise<KeyKeeper> {
  const keeper = new Keeper(parts)
  await keeper.start()
  return { problem: () => keeper.problem, stop: () => keeper.stop() }
}

class Keeper {
  readonly #parts: KeyKeeperParts
  readonly #stopped = new AbortController()
  #stops: (() => void)[] = []
  #running: Promise<void> = Promise.resolve()
  /** What the setting says now. The live ring also has keys that were taken out but are still needed. */
  #configured: KeyRing
  #problem: string | null = null
  #alerted = new Set<string>()
  #passesDue = 1
  #nextPass_ms = 0
  #waitsFor = ''
  #unreadable = ''
  #oldEdges = ''

  constructor(parts: KeyKeeperParts) {
    this.#parts = parts
    this.#configured = { primary_id: parts.ring.primary_id, keys: parts.ring.keys }
  }

  get problem(): string | null {
    return this.#problem
  }

  async start(): Promise<void> {
    const { redis, ring, lost } = this.#parts
    await refuseMissingKeys(redis, ring, lost)
    await this.#step()
    this.#stops.push(followKeyFile(this.#parts.key_file, (ring_) => this.#take(ring_)))
    this.#running = this.#loop()
  }

  async stop(): Promise<void> {
    this.#stopped.abort()
    for (const stop of this.#stops) stop()
    await this.#running
    await forgetHolder(this.#parts.redis, this.#parts.name).catch(() => undefined)
  }

  async #loop(): Promise<void> {
    const { signal } = this.#stopped
    let isWell = true
    for (;;) {
      await wait(STEP_INTERVAL_MS, undefined, { signal, ref: false }).catch(() => undefined)
      if (signal.aborted) return
      try {
        await this.#step()
        isWell = true
      } catch (error) {
        if (isWell)
          this.#parts.log.warn(
            { err: error },
            'checking the encryption keys failed; it will be retried',
          )
        isWell = false
      }
    }
  }

  /** Nothing that is still needed is dropped before it was counted. */
  async #take(configured: KeyRing): Promise<void> {
    const { ring, log } = this.#parts
    this.#configured = configured
    ring.replace({
      primary_id: configured.primary_id,
      keys: new Map([...ring.keys, ...configured.keys]),
    })
    this.#passesDue = Math.max(this.#passesDue, 1)
    log.info({ key_ids: [...configured.keys.keys()] }, 'the encryption keys were read again')
  }

  async #step(): Promise<void> {
    const { redis, ring, name, log } = this.#parts
    const [, stored] = await Promise.all([
      noteHolder(redis, name, [...this.#configured.keys.keys()]),
      this.#established(),
    ])
    const mismatch = keyMismatch(ring, stored)
    if (mismatch !== null) return this.#report(mismatch)
    const active = activeKeyId(stored) ?? ring.primary_id
    if (active !== ring.primary_id) this.#use(active)
    await this.#rotate(stored, active)
    if (this.#passesDue === 0 && performance.now() < this.#nextPass_ms) return
    this.#nextPass_ms = performance.now() + PASS_INTERVAL_MS
    const done = await resealAll(redis, ring, this.#parts.lease_ms)
    if (done.resealed > 0) log.info({ resealed: done.resealed }, 'stored secrets were re-encrypted')
    this.#passesDue = Math.max(this.#passesDue - 1, done.waits_for.length > 0 ? 1 : 0)
    this.#say(done)
    await this.#check(await countSealed(redis, 'lasting'), active)
  }

  #use(key_id: string): void {
    this.#parts.ring.use(key_id)
    this.#passesDue = PASSES_AFTER_CHANGE
    this.#parts.log.info({ key_id }, 'stored secrets are now encrypted with this key')
  }

  /** Stored keys with one active among them and all of this process; a new or emptied store gets them. */
  async #established(): Promise<StoredKeys> {
    const { redis, ring, lost, lease_ms } = this.#parts
    const stored = await readStoredKeys(redis)
    const active = activeKeyId(stored)
    const since = this.#parts.now().toISOString()
    const isLost = active !== null && !ring.keys.has(active) && lost.includes(active)
    if (active === null || isLost) {
      const key_id = this.#configured.primary_id
      await activateKey(redis, ring, stored, { key_id, next_state: 'lost', since, lease_ms })
      return readStoredKeys(redis)
    }
    if (!ring.keys.has(active)) return stored
    const missing = [...ring.keys].filter(([key_id]) => !stored.has(key_id))
    for (const [key_id, key] of missing) {
      const sealing: KeyRing = { primary_id: active, keys: ring.keys }
      const archive_root = sealRoot(sealing, key_id, archiveRoot(key))
      const known: StoredKey = { state: 'known', since, archive_root }
      await redis.hsetnx(REDIS_KEYS.encryptionKeys, key_id, JSON.stringify(known))
    }
    return missing.length === 0 ? stored : readStoredKeys(redis)
  }

  /** The first key of the setting takes over once every live process has it. */
  async #rotate(stored: StoredKeys, active: string): Promise<void> {
    const { redis, ring, lease_ms, log, now } = this.#parts
    const wanted = this.#configured.primary_id
    const before = stored.get(wanted)?.state
    if (wanted === active || before === 'retired' || before === 'lost') return
    const without = (await keyHolders(redis, lease_ms))
      .filter(({ key_ids }) => !key_ids.includes(wanted))
      .map(({ process }) => process)
    const waitsFor = without.join(', ')
    if (waitsFor !== '') {
      if (waitsFor !== this.#waitsFor)
        log.warn(
          { key_id: wanted, processes: without },
          'the first key of AGW_ENCRYPTION_KEY is not used before these processes have it',
        )
      this.#waitsFor = waitsFor
      return
    }
    this.#waitsFor = ''
    const change = {
      key_id: wanted,
      next_state: 'retired',
      since: now().toISOString(),
      lease_ms,
    } as const
    if (await activateKey(redis, ring, stored, change)) this.#use(wanted)
  }

  /** Reports what is still encrypted with a key that is not there, and drops keys that nothing needs. */
  async #check(counts: SealedCounts, active: string): Promise<void> {
    const { redis, ring, lost, lease_ms } = this.#parts
    const { keys } = this.#configured
    const missing = [...counts].filter(([key_id]) => !keys.has(key_id))
    const isLost = ([key_id]: readonly [string, unknown]): boolean => lost.includes(key_id)
    const problems = missing.filter((row) => !isLost(row)).map((row) => missingKey(...row))
    if (!keys.has(active) && !counts.has(active))
      problems.push(
        `AGW_ENCRYPTION_KEY does not contain key ${active}, with which this deployment encrypts. Set it again as the first key.`,
      )
    await this.#report(problems[0] ?? null)
    for (const row of missing.filter(isLost)) await this.#alert(lostKey(...row))
    for (const { process, key_ids } of await keyHolders(redis, lease_ms))
      for (const key_id of counts.keys())
        if (key_ids.length > 0 && !key_ids.includes(key_id) && keys.has(key_id))
          await this.#alert(edgeWithoutKey(process, key_id))
    const needed = [...ring.keys].filter(([key_id]) => counts.has(key_id) || key_id === active)
    // The keys as they are now: the file may have been read again while this method waited.
    const kept = [...needed, ...this.#configured.keys]
    ring.replace({ primary_id: ring.primary_id, keys: new Map(kept) })
  }

  #say({ unreadable, waits_for }: Resealed): void {
    const edges = waits_for.join(', ')
    if (edges !== '' && edges !== this.#oldEdges)
      this.#parts.log.warn(
        { edges: waits_for },
        'some user names stay unencrypted in the store until these edges run this version',
      )
    this.#oldEdges = edges
    const text = JSON.stringify(unreadable)
    if (unreadable.length > 0 && text !== this.#unreadable)
      this.#parts.log.error(
        { unreadable },
        'stored secrets that cannot be decrypted with any key; set them again',
      )
    this.#unreadable = text
  }

  async #report(problem: string | null): Promise<void> {
    this.#problem = problem
    if (problem !== null) await this.#alert(problem)
  }

  /** Each sentence once for each life of this process; the alert stays open until somebody acknowledges it. */
  async #alert(title: string): Promise<void> {
    if (this.#alerted.has(title)) return
    const { redis, organization_id, now, log } = this.#parts
    this.#alerted.add(title)
    log.error(title)
    const cause = { kind: 'encryption_key', severity: 'critical', title } as const
    await raiseAlert(redis, organization_id, { ...cause, about: title, occurrence: {} }, now())
  }
}
