import { AUTHORIZATION } from '../credential/authorization.ts'
import { findCredentialType, type SealedAuth } from '../credential/catalogue.ts'
import type { OwnedPlace } from '../credential/credential-type.ts'
import { plainHeaderName } from './plain-header-name.ts'

/** A header's name is in its plain form (`plainHeaderName`), a parameter's decoded. */
export type OwnedName = OwnedPlace

/** What the credential of an integration fills. One of a type that this version does not know is never applied. */
export function ownedName(auth: SealedAuth): OwnedName {
  const owned = findCredentialType(auth.type)?.owned(auth) ?? AUTHORIZATION
  return owned.kind === 'header' ? { ...owned, name: plainHeaderName(owned.name) } : owned
}
