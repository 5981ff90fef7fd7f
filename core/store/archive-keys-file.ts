import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type ArchiveRoots, archiveRoots } from '../activity/archive-line.ts'
import type { KeyRing } from '../keys/seal.ts'
import { openRoot, type StoredKeys } from './stored-keys.ts'

const KEYS_FILE = 'keys.json'

/**
 * Writes next to an archive what verifies the lines of retired encryption keys, encrypted with the active one, so that
 * `agw audit verify` needs only the folder and the current key.
 */
export function writeArchiveKeys(folder: string, stored: StoredKeys): void {
  const file = join(folder, KEYS_FILE)
  const roots = Object.fromEntries([...stored].map(([key_id, key]) => [key_id, key.archive_root]))
  const text = `${JSON.stringify(roots, null, 2)}\n`
  if (existsSync(file) && readFileSync(file, 'utf8') === text) return
  writeFileSync(`${file}.new`, text, { mode: 0o600 })
  renameSync(`${file}.new`, file)
}

/** The keys that verify an archive: those of the ring, and the retired ones whose roots the ring can decrypt. */
export function readArchiveKeys(folder: string, ring: KeyRing): ArchiveRoots {
  const file = join(folder, KEYS_FILE)
  const stored = existsSync(file)
    ? (JSON.parse(readFileSync(file, 'utf8')) as Readonly<Record<string, string>>)
    : {}
  return withRetired(ring, Object.entries(stored))
}

/** The same from the store. */
export const storedArchiveKeys = (stored: StoredKeys, ring: KeyRing): ArchiveRoots =>
  withRetired(
    ring,
    [...stored].map(([key_id, { archive_root }]) => [key_id, archive_root]),
  )

function withRetired(
  ring: KeyRing,
  sealed: readonly (readonly [key_id: string, root: string])[],
): ArchiveRoots {
  const { primary_id, roots } = archiveRoots(ring)
  const all = new Map(roots)
  for (const [key_id, text] of sealed) {
    const root = all.has(key_id) ? null : openRoot(ring, key_id, text)
    if (root !== null) all.set(key_id, root)
  }
  return { primary_id, roots: all }
}
