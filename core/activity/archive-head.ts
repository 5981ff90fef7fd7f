import { createHmac } from 'node:crypto'
import type { ArchiveKey } from './archive-line.ts'

/** The end of an organization's archive; without it, lines could be removed from the end unnoticed. */
export interface ArchiveHead {
  /** The first retained line, and the hash of the line before it. */
  readonly first_n: number
  readonly before: string
  /** The number and hash of the last line. */
  readonly n: number
  readonly mac: string
}

export const HEAD_FILE = 'head.json'

export const writeArchiveHead = (head: ArchiveHead, { key_id, key }: ArchiveKey): string =>
  `${JSON.stringify({ ...head, key: key_id, seal: sealOf(head, key) })}\n`

/** Null if the text is not a head or is not sealed with one of the keys. */
export function readArchiveHead(text: string, keys: readonly ArchiveKey[]): ArchiveHead | null {
  let value: Partial<ArchiveHead & { key: string; seal: string }> | null
  try {
    value = JSON.parse(text) as typeof value
  } catch {
    return null
  }
  const { first_n, before, n, mac, key: key_id, seal } = value ?? {}
  if (typeof first_n !== 'number' || typeof n !== 'number') return null
  if (typeof before !== 'string' || typeof mac !== 'string') return null
  const head = { first_n, before, n, mac }
  const key = keys.find((one) => one.key_id === key_id)?.key
  return key !== undefined && seal === sealOf(head, key) ? head : null
}

const sealOf = ({ first_n, before, n, mac }: ArchiveHead, key: Buffer): string =>
  createHmac('sha256', key).update(`head\n${first_n}\n${before}\n${n}\n${mac}`).digest('base64url')
