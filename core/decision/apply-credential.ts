import { credentialTypeOf, type OpenedFor } from '../credential/catalogue.ts'
import { fillPlaceholder } from '../credential/fill-placeholder.ts'
import type { FilledPair } from '../credential/credential-type.ts'
import type { Secret } from '../keys/secret.ts'
import type { Header } from '../request/header.ts'
import { isHeaderValue } from '../request/is-header-value.ts'
import { replaceQueryParameter } from '../request/query-parameter.ts'

/** A credential that is inserted as it is stored. */
export type StaticCredential = OpenedFor<'static'>

/** What is sent in addition to the caller's request: from here on the credential is in plaintext. */
export type CredentialEffect =
  | {
      readonly kind: 'applied'
      /** Replace every header with the same name; values have one character per byte (latin1). */
      readonly headers: readonly Header[]
      readonly raw_query: string | null
      /** The whole path, if the credential is in it. */
      readonly raw_path?: string
    }
  /** The call is then refused with `credential_unavailable`. */
  | { readonly kind: 'unusable' }
  /** The caller has not written the placeholder where it is declared. */
  | { readonly kind: 'no_place' }

/**
 * @param raw_query the caller's query, into which a query credential is inserted
 * @param at the caller's path, of a credential that may be in it
 */
export function applyCredential(
  auth: StaticCredential,
  raw_query: string | null,
  at: { readonly raw_path: string; readonly base_segments: number } | null = null,
): CredentialEffect {
  const { headers, query, placeholder } = staticApplication(auth).apply(auth)
  if (placeholder !== undefined) {
    const target = at && fillPlaceholder({ ...at, raw_query }, at.base_segments, placeholder)
    return target === null ? { kind: 'no_place' } : { kind: 'applied', headers: [], ...target }
  }
  let filled = raw_query
  for (const { name, value } of query) filled = replaceQueryParameter(filled, name, value)
  return withHeaders(headers, filled)
}

/** The headers in Envoy's form, if each of them is valid in a request. */
export function withHeaders(
  filled: readonly FilledPair[],
  raw_query: string | null,
): CredentialEffect {
  const headers = filled.map(({ name, value }) => ({
    name: name.toLowerCase(),
    value: Buffer.from(value, 'utf8').toString('latin1'),
  }))
  const can_stand = headers.every(({ name, value }) => isHeaderName(name) && isHeaderValue(value))
  return can_stand ? { kind: 'applied', headers, raw_query } : { kind: 'unusable' }
}

/** The member that the API may repeat in its response headers. */
export const echoedSecret = (auth: StaticCredential): Secret | null =>
  secretOf(auth, staticApplication(auth).echoed)

/** The secret that is sent along with a signature. */
export function sentSecret(auth: OpenedFor<'signature'>): Secret | null {
  const { application } = credentialTypeOf(auth.type)
  return application.kind === 'signature' ? secretOf(auth, application.sent) : null
}

function secretOf(auth: object, member: string | undefined): Secret | null {
  const members = auth as Readonly<Record<string, string | Secret>>
  const value = member === undefined ? undefined : members[member]
  return typeof value === 'object' ? value : null
}

function staticApplication({ type }: StaticCredential) {
  const { application } = credentialTypeOf(type)
  if (application.kind !== 'static') throw new Error(`${type} is not applied as it is stored`)
  return application
}

const isHeaderName = (name: string): boolean => /^[a-z0-9!#$%&'*+.^_`|~-]+$/.test(name)
