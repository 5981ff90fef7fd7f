import { createHash } from 'node:crypto'
import type { Refusal } from './outcome.ts'

/** Changes with every change of the stored record. */
export const entityTag = (stored: string): string =>
  `"${createHash('sha256').update(stored).digest('base64url').slice(0, 22)}"`

/** If-Match is optional; without it the last writer wins. */
export function checkPrecondition(
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
  stored: string,
): Refusal | null {
  const wanted = headers['if-match']
  if (typeof wanted !== 'string' || wanted.trim() === '*') return null
  const tags = wanted.split(',').map((tag) => tag.trim())
  return tags.includes(entityTag(stored)) ? null : { kind: 'refusal', error: 'precondition_failed' }
}
