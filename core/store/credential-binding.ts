import { type Integration, SECRET_MEMBERS, type SealedAuth } from '../model.ts'
import { type KeyRing, type SealBinding, seal, unseal } from '../seal.ts'
import type { Secret } from '../secret.ts'

/** The credential as a caller of the admin API gives it: the same shape as the sealed one, in the clear. */
export type PlainAuth = SealedAuth

type SecretMember =
  | 'token'
  | 'value'
  | 'password'
  | 'client_secret'
  | 'secret_access_key'
  | 'session_token'
type Opened<A> = A extends unknown
  ? { readonly [M in keyof A]: M extends SecretMember ? Secret : A[M] }
  : never

/** The credential with its secret members in the clear, each in a `Secret`. */
export type OpenedAuth = Opened<SealedAuth>

/** What of an integration a seal is bound to. */
export type CredentialOwner = Pick<
  Integration,
  'organization_id' | 'integration_id' | 'base_url' | 'auth'
>

/**
 * Binds a secret to its organization, its integration, what it is, and the origins it may be sent to, so that
 * neither a moved sealed value nor a changed `base_url` or `token_url` opens (threats.md 4).
 */
export function credentialBinding(owner: CredentialOwner, member: string): SealBinding {
  const { organization_id, integration_id, base_url, auth } = owner
  const origins = [originOf(base_url)]
  if (auth.type === 'oauth2_client_credentials') origins.push(originOf(auth.token_url))
  return {
    organization_id,
    owner_id: integration_id,
    kind: `${auth.type}.${member}`,
    origin: origins.join(' '),
  }
}

/** `owner.auth` holds the plain secrets; the answer is the same credential with each of them sealed. */
export function sealAuth(
  ring: KeyRing,
  owner: Omit<CredentialOwner, 'auth'> & { readonly auth: PlainAuth },
): SealedAuth {
  return mapSecrets(owner.auth, (text, member) =>
    seal(ring, text, credentialBinding(owner, member)),
  ) as SealedAuth
}

/** Null when a secret does not open: another key, a changed text, or a value that belongs elsewhere. */
export function openAuth(ring: KeyRing, owner: CredentialOwner): OpenedAuth | null {
  let complete = true
  const opened = mapSecrets(owner.auth, (sealed, member) => {
    const secret = unseal(ring, sealed, credentialBinding(owner, member))
    complete &&= secret !== null
    return secret
  })
  return complete ? (opened as OpenedAuth) : null
}

function mapSecrets<T>(auth: SealedAuth, change: (text: string, member: string) => T): object {
  const changed: Record<string, unknown> = { ...auth }
  for (const member of SECRET_MEMBERS[auth.type]) {
    const text = changed[member]
    if (typeof text === 'string') changed[member] = change(text, member)
  }
  return changed
}

/** A text that is no URL, which only a changed store can hold, stands for itself and so opens nothing. */
const originOf = (url: string): string => (URL.canParse(url) ? new URL(url).origin : url)
