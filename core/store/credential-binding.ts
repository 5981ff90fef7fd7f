import {
  findCredentialType,
  type OpenedAuth,
  type SealedAuth,
  secretMembers,
} from '../credential/catalogue.ts'
import {
  type GivenReference,
  isGivenReference,
  isReferenceText,
  openedSecret,
  sealedTextOf,
} from '../credential/secret-reference.ts'
import { urlsOf } from '../credential/urls-of.ts'
import type { Connection, Integration } from '../catalogue/model.ts'
import { isSealed, type KeyRing, reseal, type SealBinding, seal, unseal } from '../keys/seal.ts'
import { Secret } from '../keys/secret.ts'
import { parseUrl } from '../bounded/parse-url.ts'
import { originsWithCredential } from '../decision/also-hosts.ts'

/** The credential as a caller of the admin API sends it: the same form as the sealed one, in plaintext. */
export type PlainAuth = SealedAuth

/** The members of an integration that a seal is bound to, with the connection that it belongs to. */
export type CredentialOwner = Pick<
  Integration,
  'organization_id' | 'integration_id' | 'base_url' | 'also_hosts' | 'auth'
> & { readonly connection_id?: string }

/** A connection as the owner of its credential, which goes where that of its integration goes. */
export const ownerOfConnection = (
  { organization_id, integration_id, base_url, also_hosts }: Omit<CredentialOwner, 'auth'>,
  { connection_id, auth }: Pick<Connection, 'connection_id' | 'auth'>,
): CredentialOwner => ({
  organization_id,
  integration_id,
  base_url,
  ...(also_hosts === undefined ? {} : { also_hosts }),
  connection_id,
  auth,
})

/**
 * Binds a secret to its organization, its integration or connection, its kind, and the origins it may be sent to, so that a sealed value
 * cannot be opened after it is moved, or after `base_url`, `token_url` or a further host that gets the credential is changed.
 */
export function credentialBinding(owner: CredentialOwner, member: string): SealBinding {
  const { organization_id, integration_id, connection_id, base_url, auth } = owner
  const further = originsWithCredential(owner).map((origin) => `+${origin}`)
  const origins = [...[base_url, ...urlsOf(auth).map(([, url]) => url)].map(originOf), ...further]
  return {
    stored_as: 'credential',
    organization_id,
    owner_id: connection_id === undefined ? integration_id : `${integration_id} ${connection_id}`,
    kind: `${auth.type}.${member}`,
    origin: origins.join(' '),
  }
}

/**
 * `owner.auth` contains the plaintext secrets; returns the same credential with each of them sealed. A reference is sealed as a secret
 * is, so that it is bound to the same origins.
 */
export function sealAuth(
  ring: KeyRing,
  owner: Omit<CredentialOwner, 'auth'> & { readonly auth: PlainAuth },
): SealedAuth {
  return mapSecrets(owner.auth, (text, member) =>
    seal(ring, text, (isReferenceText(text) ? referenceBinding : credentialBinding)(owner, member)),
  ) as SealedAuth
}

/** A process of a version without references opens none, so it cannot send a name in place of the secret. */
function referenceBinding(owner: CredentialOwner, member: string): SealBinding {
  const binding = credentialBinding(owner, member)
  return { ...binding, kind: `${binding.kind} reference` }
}

const BINDINGS = [credentialBinding, referenceBinding]

/** Null if a secret does not open: another key, a changed text, or a value that belongs elsewhere. */
export function openAuth(ring: KeyRing, owner: CredentialOwner): OpenedAuth | null {
  const declared = findCredentialType(owner.auth.type)
  if (declared === null) return null
  let complete = true
  const opened = mapSecrets(owner.auth, (text, member) => {
    if (declared.members[member]?.was_public && !isSealed(text)) return new Secret(text)
    const secret =
      unseal(ring, text, credentialBinding(owner, member)) ??
      unseal(ring, text, referenceBinding(owner, member))
    complete &&= secret !== null
    return secret === null ? null : openedSecret(secret)
  })
  return complete ? (opened as OpenedAuth) : null
}

/**
 * The same credential with each secret sealed with the primary key; null if one does not open.
 * @param as the integration that it is bound to from now on
 */
export function resealAuth(
  ring: KeyRing,
  owner: CredentialOwner,
  as: CredentialOwner = owner,
): SealedAuth | null {
  const declared = findCredentialType(owner.auth.type)
  if (declared === null) return null
  let complete = true
  const resealed = mapSecrets(owner.auth, (text, member) => {
    if (declared.members[member]?.was_public && !isSealed(text))
      return seal(ring, text, credentialBinding(as, member))
    let again: string | null = null
    for (const bindingOf of BINDINGS)
      again ??= reseal(ring, text, bindingOf(owner, member), bindingOf(as, member))
    complete &&= again !== null
    return again
  })
  return complete ? (resealed as SealedAuth) : null
}

function mapSecrets<T>(auth: SealedAuth, change: (text: string, member: string) => T): object {
  const changed: Record<string, unknown> = { ...auth }
  for (const member of secretMembers(auth.type)) {
    const given = changed[member] as string | GivenReference | undefined
    const text = isGivenReference(given) ? sealedTextOf(given) : given
    if (text !== undefined) changed[member] = change(text, member)
  }
  return changed
}

/**
 * A text that is not a URL, which only a manipulated store can contain, is returned unchanged and therefore matches no origin.
 */
const originOf = (url: string): string => parseUrl(url)?.origin ?? url
