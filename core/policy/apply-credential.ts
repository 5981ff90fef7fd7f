import type { OpenedAuth } from '../store/credential-binding.ts'
import type { Header } from './header.ts'
import { isHeaderValue } from './is-header-value.ts'
import { replaceQueryParameter } from './query-parameter.ts'

/** A credential that is put in as it is stored. */
export type PlainCredential = Exclude<
  OpenedAuth,
  { readonly type: 'oauth2_client_credentials' | 'aws_sigv4' }
>

/** What the upstream gets besides the caller's own: from here on the credential is in the clear. */
export type CredentialEffect =
  | {
      readonly kind: 'applied'
      /** Replace every header of the same name; values are one character a byte (latin1). */
      readonly headers: readonly Header[]
      readonly raw_query: string | null
    }
  /** Answers `credential_unavailable`. */
  | { readonly kind: 'unusable' }

const UNUSABLE: CredentialEffect = { kind: 'unusable' }

/** @param raw_query the caller's query, which a query credential is put into. */
export function applyCredential(auth: PlainCredential, raw_query: string | null): CredentialEffect {
  switch (auth.type) {
    case 'bearer':
      return withHeader('authorization', `Bearer ${auth.token.reveal()}`, raw_query)
    case 'header':
      return withHeader(auth.name.toLowerCase(), auth.value.reveal(), raw_query)
    case 'basic': {
      const pair = Buffer.from(`${auth.username}:${auth.password.reveal()}`, 'utf8')
      return withHeader('authorization', `Basic ${pair.toString('base64')}`, raw_query)
    }
    case 'query':
      return {
        kind: 'applied',
        headers: [],
        raw_query: replaceQueryParameter(raw_query, auth.name, auth.value.reveal()),
      }
    case 'none':
      return { kind: 'applied', headers: [], raw_query }
  }
}

function withHeader(name: string, text: string, raw_query: string | null): CredentialEffect {
  const value = Buffer.from(text, 'utf8').toString('latin1')
  if (!isHeaderName(name) || !isHeaderValue(value)) return UNUSABLE
  return { kind: 'applied', headers: [{ name, value }], raw_query }
}

const isHeaderName = (name: string): boolean => /^[a-z0-9!#$%&'*+.^_`|~-]+$/.test(name)
