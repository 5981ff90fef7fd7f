import { AUTHORIZATION } from '../credential/authorization.ts'
import { findCredentialType, type SealedAuth } from '../credential/catalogue.ts'
import type { OwnedPlace } from '../credential/credential-type.ts'
import { plainHeaderName } from './plain-header-name.ts'

/** The name of a header is in its plain form (`plainHeaderName`), that of a parameter is decoded. */
export type OwnedName = OwnedPlace

/** The header or parameter that the credential of an integration fills. A credential of an unknown type is never applied. */
export function ownedName(auth: SealedAuth): OwnedName {
  const owned = findCredentialType(auth.type)?.owned(auth) ?? AUTHORIZATION
  if (owned.kind !== 'header') return owned
  const { name, further } = owned
  return further === undefined
    ? { ...owned, name: plainHeaderName(name) }
    : { ...owned, name: plainHeaderName(name), further: further.map(plainHeaderName) }
}
