import { createHmac } from 'node:crypto'
import type { KeyRing } from '../keys/seal.ts'
import { archiveHasher } from './archive-hasher.ts'

/**
 * One line of an archive. `n` counts the entries of an organization's log from its beginning, `place` is its position in the
 * store. Each line ends with a keyed hash of itself and of the previous line's hash, so that a line cannot be changed, dropped,
 * moved or added without the key.
 */
export interface ArchiveLine {
  readonly n: number
  readonly place: string
  /**
   * The entry as it was in the store; or `{"gap":{"missing":…}}` for entries that the store dropped before they were archived;
   * or `{"cut":{"missing":…}}` if the writer found that this many lines had been cut off the end, with `n` of the line before.
   */
  readonly entry_text: string | Buffer
}

/** The previous hash of the first line of a chain. */
export const CHAIN_START = 'start'

/** A key of one organization's chain, and the id that it has in the key ring. */
export interface ArchiveKey {
  readonly key_id: string
  readonly key: Buffer
}

/**
 * The values from which the archive keys of all organizations are derived, one per encryption key, by key id. They can be kept
 * after the encryption key itself has been removed, because it cannot be computed from them.
 */
export interface ArchiveRoots {
  /** New lines are written with this key. */
  readonly primary_id: string
  readonly roots: ReadonlyMap<string, Buffer>
}

/** HKDF with SHA-256 and no salt (RFC 5869), split between its two steps. */
export const archiveRoot = (key: Buffer): Buffer =>
  createHmac('sha256', Buffer.alloc(32)).update(key).digest()

export const archiveRoots = ({ primary_id, keys }: KeyRing): ArchiveRoots => ({
  primary_id,
  roots: new Map([...keys].map(([key_id, key]) => [key_id, archiveRoot(key)])),
})

/** The keys of one organization's chain; the key for new lines comes first. */
export const archiveKeys = (
  { primary_id, roots }: ArchiveRoots,
  organization_id: string,
): readonly ArchiveKey[] =>
  [primary_id, ...[...roots.keys()].filter((id) => id !== primary_id)].flatMap((key_id) => {
    const root = roots.get(key_id)
    if (root === undefined) return []
    const info = Buffer.from(`agw archive chain ${organization_id}\u0001`)
    return [{ key_id, key: createHmac('sha256', root).update(info).digest() }]
  })

const MAC_MEMBER = ',"mac":"'
const FORM = /^\{"n":(\d{1,15}),"place":"(\d{1,15}-\d{1,15})","key":"([\w-]{1,64})","entry":/

/** More than a line has in addition to its entry: the names of members, two numbers, a position, a key id and a hash. */
const LINE_EXTRA_BYTES = 256

/**
 * The lines with a line feed after each, and the hash of the last one, which the next line includes. Entries are copied as bytes,
 * because most of them come from the store as bytes: converting each to a text and back took longer than hashing it.
 */
export function writeArchiveLines(
  lines: readonly ArchiveLine[],
  { key_id, key }: ArchiveKey,
  previous: string,
): { readonly bytes: Buffer; readonly mac: string } {
  let size = 0
  for (const { entry_text } of lines) size += Buffer.byteLength(entry_text) + LINE_EXTRA_BYTES
  const bytes = Buffer.allocUnsafe(size)
  const macOfLine = archiveHasher(key)
  let mac = previous
  let at = 0
  for (const { n, place, entry_text } of lines) {
    const begin = at
    at += bytes.write(`{"n":${n},"place":"${place}","key":"${key_id}","entry":`, at, 'latin1')
    at += typeof entry_text === 'string' ? bytes.write(entry_text, at) : entry_text.copy(bytes, at)
    mac = macOfLine(mac, bytes.subarray(begin, at))
    at += bytes.write(`${MAC_MEMBER}${mac}"}\n`, at, 'latin1')
  }
  return { bytes: bytes.subarray(0, at), mac }
}

/** Null if the text is not a line of an archive. `isGenuine` tells whether it follows the line with the hash `previous`. */
export function readArchiveLine(text: string): {
  readonly n: number
  readonly place: string
  readonly key_id: string
  readonly entry_text: string
  readonly mac: string
  readonly isGenuine: (key: Buffer, previous: string) => boolean
} | null {
  const head = FORM.exec(text)
  const cut = text.lastIndexOf(MAC_MEMBER)
  if (head === null || cut < head[0].length || !text.endsWith('"}')) return null
  const body = text.slice(0, cut)
  const mac = text.slice(cut + MAC_MEMBER.length, -2)
  return {
    n: Number(head[1]),
    place: head[2] ?? '',
    key_id: head[3] ?? '',
    entry_text: body.slice(head[0].length),
    mac,
    isGenuine: (key, previous) => macOf(key, previous, body) === mac,
  }
}

/** As archiveHasher computes it, by another function, so that an error of one of them is found. */
const macOf = (key: Buffer, previous: string, body: string): string =>
  createHmac('sha256', key).update(`${previous}\n`).update(body).digest('base64url')
