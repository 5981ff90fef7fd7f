import type { OpenedAuth } from '../credential/catalogue.ts'
import type { KeyRing } from '../keys/seal.ts'
import { type CredentialOwner, openAuth } from '../store/credential-binding.ts'
import type { CredentialCause } from '../token/credential-cause.ts'
import type { SecretReferences } from './secret-references.ts'

export interface SecretParts {
  readonly ring: KeyRing
  readonly references: Pick<SecretReferences, 'resolve'>
}

/** A credential with its secrets, wherever they are kept; the cause if it cannot be used. Never rejects. */
export async function openForUse(
  { ring, references }: SecretParts,
  owner: CredentialOwner,
): Promise<OpenedAuth | CredentialCause> {
  const opened = openAuth(ring, owner)
  if (opened === null) return 'not_opened'
  return (await references.resolve(owner.organization_id, opened)) ?? 'reference_unavailable'
}
