import { existsSync, readFileSync } from 'node:fs'
import { type KeyRing, parseKeyRing } from '../../core/keys/seal.ts'
import type { Settings } from '../../core/settings/settings.ts'
import { dataDirAt, encryptionKeyFile } from '../launcher/data-dir.ts'

/** The encryption keys of this machine, and the file that holds them; null where they come from the environment. */
export interface OwnKey {
  readonly text: string
  readonly ring: KeyRing
  readonly file: string | null
}

/** Null when there are none: neither a setting, nor a file in the data directory. */
export function findOwnKey(settings: Settings): OwnKey | null {
  const { encryptionKey, encryptionKeyFile: given, dataDir } = settings
  if (encryptionKey !== null)
    return { text: encryptionKey, ring: parseKeyRing(encryptionKey), file: given }
  const file = encryptionKeyFile(dataDirAt(dataDir))
  if (!existsSync(file)) return null
  const text = readFileSync(file, 'utf8').trim()
  return { text, ring: parseKeyRing(text), file }
}
