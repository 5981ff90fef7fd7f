import { isWellFormedKey, KEY_PREFIX } from '../keys/api-key.ts'
import { basicPair } from './basic-pair.ts'
import type { Header } from './header.ts'
import type { OwnedName } from './owned-name.ts'
import { plainHeaderName } from './plain-header-name.ts'
import { queryValues } from './query-parameter.ts'

/** Where a key was found. It is removed from all of these before the call is sent upstream. */
export type KeyPlace = { readonly kind: 'authorization' } | OwnedName

export type PresentedKey =
  | { readonly kind: 'none' }
  | { readonly kind: 'presented'; readonly key: string; readonly place: KeyPlace }
  | { readonly kind: 'ambiguous'; readonly reason: 'authorization' | 'several_keys' }

const NONE: PresentedKey = { kind: 'none' }
const IN_AUTHORIZATION: KeyPlace = { kind: 'authorization' }

/**
 * The gateway key of a call: any value of `Authorization`, so that an invalid key is reported as such; in a header or parameter
 * that a credential fills, only a value with the gateway's prefix and checksum. A well-formed key takes precedence over any
 * other text. @param owned what the credentials of all integrations that match the target fill, of any organization: the owner
 * of the key is not known yet. The caller ignores a key in a place that the chosen integration does not own.
 */
export function readKey(
  headers: readonly Header[],
  raw_query: string | null,
  owned: readonly OwnedName[],
): PresentedKey {
  const lines = headers.filter(({ name }) => name === 'authorization')
  const authorization = lines[0]?.value ?? ''
  // Envoy joins several lines with a comma; only one of the schemes that can contain a gateway key uses commas itself.
  if (lines.length > 1 || (authorization.includes(',') && !AWS_SIGNATURE.test(authorization)))
    return { kind: 'ambiguous', reason: 'authorization' }
  const spoken = readAuthorization(authorization)
  let found: PresentedKey = NONE
  if (spoken !== null && isOurs(spoken))
    found = { kind: 'presented', key: spoken, place: IN_AUTHORIZATION }
  for (const place of owned) {
    for (const text of ownedTexts(headers, raw_query, place)) {
      const key = text.slice(text.lastIndexOf(' ') + 1)
      if (!isOurs(key)) continue
      if (found.kind !== 'presented') found = { kind: 'presented', key, place }
      else if (found.key !== key) return { kind: 'ambiguous', reason: 'several_keys' }
    }
  }
  if (found.kind === 'none' && spoken !== null)
    return { kind: 'presented', key: spoken, place: IN_AUTHORIZATION }
  return found
}

const isOurs = (text: string): boolean => text.startsWith(KEY_PREFIX.live) && isWellFormedKey(text)

/** A complete header of AWS Signature Version 4 with nothing after it; the group is the access key id. */
const AWS_SIGNATURE =
  /^AWS4-[A-Z0-9-]+ Credential=([^\s,/]+)\/[^\s,]*, ?SignedHeaders=[^\s,]+, ?Signature=[0-9a-f]+$/

/** The value of `Bearer` and `token`, the password of `Basic`, or the access key id of AWS; null for any other scheme. */
function readAuthorization(value: string): string | null {
  const text = value.trim()
  const space = text.indexOf(' ')
  if (space === -1) return null
  const rest = text.slice(space + 1).trim()
  switch (text.slice(0, space).toLowerCase()) {
    case 'bearer':
    case 'token':
      return rest
    case 'basic': {
      const pair = basicPair(text) ?? ''
      const colon = pair.indexOf(':')
      return colon === -1 || colon === pair.length - 1 ? null : pair.slice(colon + 1)
    }
    default:
      return AWS_SIGNATURE.exec(text)?.[1] ?? null
  }
}

function ownedTexts(
  headers: readonly Header[],
  raw_query: string | null,
  owned: OwnedName,
): string[] {
  if (owned.kind === 'query') return queryValues(raw_query, owned.name)
  return headers
    .filter(({ name }) => plainHeaderName(name) === owned.name)
    .map(({ value }) => value.trim())
}
