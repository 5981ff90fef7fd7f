import type { SealedAuth } from '../model.ts'
import { plainHeaderName } from './plain-header-name.ts'

/** The header or query parameter that a credential fills: a caller's own is replaced, and may hold our key. */
export interface OwnedName {
  readonly kind: 'header' | 'query'
  /** A header's in its plain form (`plainHeaderName`), a parameter's decoded. */
  readonly name: string
  /** Further headers that it fills, in which no key of ours is looked for. */
  readonly further?: readonly string[]
}

/**
 * Bearer, Basic and tokens fill `Authorization`, which is always ours. A signature fills more, and one of these a client
 * of AWS can be given our key for: the session token.
 */
export function ownedName(auth: Pick<SealedAuth, 'type'> & { readonly name?: string }): OwnedName {
  if (auth.type === 'header') return { kind: 'header', name: plainHeaderName(auth.name ?? '') }
  if (auth.type === 'query') return { kind: 'query', name: auth.name ?? '' }
  return auth.type === 'aws_sigv4' ? SIGNATURE : AUTHORIZATION
}

const AUTHORIZATION: OwnedName = { kind: 'header', name: 'authorization' }
const SIGNATURE: OwnedName = {
  kind: 'header',
  name: 'x-amz-security-token',
  further: ['x-amz-content-sha256', 'x-amz-date'],
}
