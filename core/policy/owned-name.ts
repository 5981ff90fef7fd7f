import type { SealedAuth } from '../model.ts'
import { plainHeaderName } from './plain-header-name.ts'

/** The header or query parameter that a credential fills: a caller's own is replaced, and may hold our key. */
export interface OwnedName {
  readonly kind: 'header' | 'query'
  /** A header's in its plain form (`plainHeaderName`), a parameter's decoded. */
  readonly name: string
}

/** Bearer and Basic fill `Authorization`, which is always ours; the other types own nothing a caller could send. */
export function ownedName(auth: Pick<SealedAuth, 'type'> & { readonly name?: string }): OwnedName {
  if (auth.type === 'header') return { kind: 'header', name: plainHeaderName(auth.name ?? '') }
  if (auth.type === 'query') return { kind: 'query', name: auth.name ?? '' }
  return AUTHORIZATION
}

const AUTHORIZATION: OwnedName = { kind: 'header', name: 'authorization' }
