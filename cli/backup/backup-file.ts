import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { type KeyRing, parseKeyRing } from '../../core/keys/seal.ts'
import { backupMac, unwrapKeys, type WrappedKeys } from './backup-keys.ts'

/** The first line of a backup. */
export interface BackupHeader {
  readonly format: 'agw-backup'
  readonly version: 1
  readonly created_at: string
  readonly gateway_version: string
  readonly deployment_id: string
  readonly epoch: number
  /** Of the store; absent in backups of older versions, as the next. */
  readonly lineage?: string | null
  /** For each organization, the position in its log up to which all changes are in the backup. */
  readonly log_places?: Readonly<Record<string, string>>
  /** The encryption key that opens what is in the backup, and that authenticates it. */
  readonly key_id: string
  /** Null: the keys are not in the backup. */
  readonly keys: WrappedKeys | null
}

/** The lines between the first and the last. */
export type BackupLine =
  /** A key as DUMP writes it, in Base64; `ttl_ms` 0: it does not expire. */
  | { readonly key: string; readonly dump: string; readonly ttl_ms: number }
  /** Entries of the log of one organization, in order: id, and fields in Base64. */
  | { readonly log: string; readonly entries: readonly (readonly [string, readonly string[]])[] }
  /** The end of a log: its last id and how many entries it ever had. */
  | { readonly log: string; readonly last_id: string; readonly added: number }

/** The last line. */
export interface BackupEnd {
  readonly end: { readonly lines: number; readonly mac: string }
}

export interface CheckedBackup {
  readonly header: BackupHeader
  /** All keys that are known: those of this machine, and those in the backup. */
  readonly ring: KeyRing
  /** The keys in the backup, as text; null where it has none. */
  readonly keys_text: string | null
}

/**
 * Reads a backup to its end before anything is changed.
 * @throws with a sentence for the operator when it is not one, is truncated or altered, or its key is not known
 */
export async function checkBackup(
  file: string,
  own: KeyRing | null,
  passphrase: string | null,
): Promise<CheckedBackup> {
  let checked: CheckedBackup | null = null
  let mac: ReturnType<typeof backupMac> | null = null
  let lines = 0
  let end: BackupEnd['end'] | null = null
  for await (const text of linesOf(file)) {
    if (end !== null) throw new Error(`${file} was altered: it goes on after its end.`)
    if (checked === null) {
      checked = openHeader(file, text, own, passphrase)
      mac = backupMac(checked.ring.keys.get(checked.header.key_id) ?? Buffer.alloc(0))
    } else if (text.startsWith('{"end":')) {
      end = (JSON.parse(text) as BackupEnd).end
      continue
    }
    lines++
    mac?.update(`${text}\n`)
  }
  if (checked === null) throw new Error(`${file} is empty.`)
  if (end === null)
    throw new Error(`${file} is truncated: its end is missing. Nothing was changed.`)
  if (end.lines !== lines || mac?.digest('base64') !== end.mac)
    throw new Error(`${file} was altered or is damaged. Nothing was changed.`)
  return checked
}

/** The lines of a checked backup between the first and the last. */
export async function* readBackup(file: string): AsyncGenerator<BackupLine> {
  let isFirst = true
  for await (const text of linesOf(file)) {
    if (!isFirst && !text.startsWith('{"end":')) yield JSON.parse(text) as BackupLine
    isFirst = false
  }
}

const linesOf = (file: string): AsyncIterable<string> =>
  createInterface({ input: createReadStream(file, 'utf8'), crlfDelay: Infinity })

function openHeader(
  file: string,
  text: string,
  own: KeyRing | null,
  passphrase: string | null,
): CheckedBackup {
  const header = headerOf(text)
  if (header === null) throw new Error(`${file} is not a backup of this gateway.`)
  const { keys: wrapped, key_id } = header
  const keys_text = wrapped === null || passphrase === null ? null : unwrapKeys(wrapped, passphrase)
  const inside = keys_text === null ? null : parseKeyRing(keys_text)
  const keys = new Map([...(inside?.keys ?? []), ...(own?.keys ?? [])])
  if (!keys.has(key_id))
    throw new Error(
      wrapped === null
        ? `The backup needs encryption key ${key_id}, which this machine does not have. Add it to AGW_ENCRYPTION_KEY or to the file encryption-key.`
        : `The backup needs encryption key ${key_id}. It is in the backup: set AGW_BACKUP_PASSPHRASE to its passphrase.`,
    )
  return { header, ring: { primary_id: key_id, keys }, keys_text }
}

function headerOf(text: string): BackupHeader | null {
  try {
    const header = JSON.parse(text) as BackupHeader
    return header.format === 'agw-backup' && header.version === 1 ? header : null
  } catch {
    return null
  }
}
