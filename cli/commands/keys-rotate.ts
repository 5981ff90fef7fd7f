import { randomBytes } from 'node:crypto'
import { renameSync, writeFileSync } from 'node:fs'
import type { Writable } from 'node:stream'
import { setTimeout as wait } from 'node:timers/promises'
import { countSealed, describeCounts } from '../../admin/encryption/count-sealed.ts'
import { describeUnreadable } from '../../admin/encryption/describe-unreadable.ts'
import { findUnreadable, type Unreadable } from '../../admin/encryption/find-unreadable.ts'
import { keyHolders } from '../../admin/encryption/key-holders.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { type KeyRing, parseKeyRing } from '../../core/keys/seal.ts'
import type { Environment } from '../../core/settings/settings.ts'
import { activeKeyId, readStoredKeys } from '../../core/store/stored-keys.ts'
import { findOwnDeployment } from '../deployment/find-own-deployment.ts'
import { openStore } from '../deployment/open-store.ts'
import type { OwnKey } from '../deployment/own-key.ts'
import { terminalLines } from '../terminal/terminal-text.ts'

const POLL_MS = 250

export interface RotateOptions {
  /** How long it waits for all processes to take a key; it can be run again then. */
  readonly timeout_s: number
}

interface Rotation {
  readonly redis: RedisClient
  readonly own: OwnKey
  readonly lease_ms: number
  readonly deadline_ms: number
  readonly say: (line: string) => void
}

/**
 * `agw keys rotate`: puts a new encryption key in front of the old one, waits until every process has it and everything
 * is encrypted with it, checks that it opens everything, and removes the old key. Each step can be repeated: a rotation
 * that was interrupted is continued.
 * @returns the exit code: 0 done, 1 something is left to do, which it says
 * @throws with a sentence for the operator
 */
export async function runKeysRotate(
  { timeout_s }: RotateOptions,
  env: Environment,
  stdout: Writable,
): Promise<number> {
  const { settings, own, store } = await findOwnDeployment(env)
  const redis = await openStore(store, 'agw-keys-rotate')
  try {
    const say = (line: string): void => void stdout.write(`${terminalLines(line)}\n`)
    const deadline_ms = Date.now() + timeout_s * 1000
    return await rotate({ redis, own, lease_ms: settings.killLease_ms, deadline_ms, say })
  } finally {
    redis.disconnect()
  }
}

async function rotate(rotation: Rotation): Promise<number> {
  const { redis, own, say } = rotation
  const active = activeKeyId(await readStoredKeys(redis))
  if (active === null) throw new Error('No admin service has started on this store yet.')
  if (!own.ring.keys.has(active))
    throw new Error(
      `The store is encrypted with key ${active}, which the key of this machine is not. Nothing was changed.`,
    )
  const started = startRotation(rotation, active)
  if (started === null) return 1
  const { primary_id } = started
  const isActive = await becomesActive(rotation, primary_id)
  if (!isActive || !(await isReencrypted(rotation, started))) return 1
  const { found } = await findUnreadable(redis, onlyKey(started, primary_id), null)
  if (found.length > 0) {
    sayUnreadable(rotation, found)
    return 1
  }
  say(`Everything opens with key ${primary_id} alone.`)
  return finish(rotation, started)
}

/** The ring with the new key in front; null when the operator has to put it there. */
function startRotation({ own, say }: Rotation, active: string): KeyRing | null {
  if (own.ring.keys.size > 1) {
    say(`Continuing the rotation to key ${own.ring.primary_id}.`)
    return own.ring
  }
  const text = `${randomBytes(32).toString('base64')},${own.text}`
  if (own.file === null) {
    say(
      [
        'AGW_ENCRYPTION_KEY comes from the environment, which this command cannot change:',
        '1. On every host, set it to a new key (openssl rand -base64 32), a comma, and the old value.',
        '2. Restart all processes, edges first.',
        '3. Run this command again with the same setting. It says when the old key can be removed.',
      ].join('\n'),
    )
    return null
  }
  try {
    replaceFile(own.file, text)
  } catch (error) {
    say(
      `${own.file} cannot be written (${(error as Error).message}). Put a new key (openssl rand -base64 32) and a comma in front of its content, and run this again.`,
    )
    return null
  }
  const ring = parseKeyRing(text)
  say(`Key ${ring.primary_id} was added in front of key ${active} in ${own.file}.`)
  return ring
}

async function becomesActive(rotation: Rotation, key_id: string): Promise<boolean> {
  const { redis, lease_ms, say } = rotation
  let told = ''
  const isDone = await within(rotation, async () => {
    const stored = await readStoredKeys(redis)
    if (activeKeyId(stored) === key_id) return true
    const state = stored.get(key_id)?.state
    if (state === 'retired' || state === 'lost')
      throw new Error(
        `Key ${key_id} was replaced before and is not used again. Remove it, or put a new key in front.`,
      )
    const holders = await keyHolders(redis, lease_ms)
    const without = holders.filter(({ key_ids }) => !key_ids.includes(key_id))
    const names = without.map(({ process }) => process).join(', ')
    if (names !== '' && names !== told) say(`Waiting for processes that lack the key: ${names}.`)
    told = names
    return false
  })
  say(
    isDone
      ? `Key ${key_id} is in use.`
      : 'Not all processes have the new key. Give it to those that lack it (the same file or setting, then a restart), and run this again.',
  )
  return isDone
}

async function isReencrypted(rotation: Rotation, ring: KeyRing): Promise<boolean> {
  const { redis, say } = rotation
  const { primary_id } = ring
  let left = ''
  let unreadable: readonly Unreadable[] = []
  await within(rotation, async () => {
    const before = left
    const others = [...(await countSealed(redis, 'all'))].filter(([id]) => id !== primary_id)
    left = others.map(([id, row]) => `key ${id}: ${describeCounts(row)}`).join('; ')
    if (left === '') return true
    // Decrypting takes time, and tells something only when the admin service makes no more progress.
    if (left !== before) return false
    const { found, count } = await findUnreadable(redis, ring, primary_id)
    unreadable = found
    return count > 0 && found.length === count
  })
  if (left === '') say(`Everything is encrypted with key ${primary_id}.`)
  else if (unreadable.length > 0) sayUnreadable(rotation, unreadable)
  else
    say(
      `Still encrypted with another key: ${left}. Run this again, or see the log of the admin service.`,
    )
  return left === ''
}

function sayUnreadable({ say }: Rotation, found: readonly Unreadable[]): void {
  for (const line of [
    `These cannot be decrypted with the available keys, so the old key stays (${found.length}):`,
    ...describeUnreadable(found).split('\n'),
    'Then run this again.',
  ])
    say(line)
}

async function finish({ redis, own, lease_ms, say }: Rotation, ring: KeyRing): Promise<number> {
  const { primary_id, keys } = ring
  const old = [...keys.keys()].filter((id) => id !== primary_id).join(', ')
  const kept = `Backups made before this need key ${old}: keep it with them.`
  if (own.file === null) {
    say(
      `Key ${old} is not needed any more. Remove it from AGW_ENCRYPTION_KEY on every host, and restart. ${kept}`,
    )
    return 0
  }
  replaceFile(own.file, keys.get(primary_id)?.toString('base64') ?? '')
  const others = (await keyHolders(redis, lease_ms)).filter(({ key_ids }) => key_ids.length > 1)
  say(`Key ${old} was removed from ${own.file}. ${kept}`)
  if (others.length > 0)
    say('Processes on this machine drop it within seconds. On other hosts, remove it too.')
  return 0
}

const onlyKey = ({ keys }: KeyRing, primary_id: string): KeyRing => ({
  primary_id,
  keys: new Map([...keys].filter(([id]) => id === primary_id)),
})

/** In one step, so that a process that reads it meanwhile finds the old keys or the new ones. */
function replaceFile(file: string, text: string): void {
  writeFileSync(`${file}.new`, `${text}\n`, { mode: 0o600, flush: true })
  renameSync(`${file}.new`, file)
}

async function within(
  { deadline_ms }: Pick<Rotation, 'deadline_ms'>,
  isDone: () => Promise<boolean>,
): Promise<boolean> {
  for (;;) {
    if (await isDone()) return true
    if (Date.now() > deadline_ms) return false
    await wait(POLL_MS)
  }
}
