import { createHash, createHmac } from 'node:crypto'
import { archiveRoot } from '../activity/archive-line.ts'
import type { Speaker } from '../catalogue/model.ts'
import type { KeyRing } from '../keys/seal.ts'

/** An entry of `trusted_texts`: the SHA-256 of a whole text, and the speaker in whose words it is trusted; in any without one. */
export const TRUSTED_TEXT =
  '^sha256:[0-9a-f]{64}(?:/(?:operator|model|tool_description|user|tool_result|document))?$'

export const textHash = (text: string): string =>
  `sha256:${createHash('sha256').update(text).digest('hex')}`

export const isTrusted = (trusted: ReadonlySet<string>, hash: string, speaker: Speaker): boolean =>
  trusted.has(hash) || trusted.has(`${hash}/${speaker}`)

/**
 * The hash of a text as the log shows it: keyed, so that the log does not reveal which of some guessed texts it was. Whoever has the
 * text finds its entries with `POST /admin/scan`.
 */
export const keyedTextHash = (
  { primary_id, keys }: KeyRing,
  organization_id: string,
  hash: string,
): string => {
  const root = archiveRoot(keys.get(primary_id) ?? Buffer.alloc(0))
  const key = createHmac('sha256', root).update(`agw text ${organization_id}`).digest()
  return `hmac:${primary_id}:${createHmac('sha256', key).update(hash).digest('hex')}`
}
