import { findCredentialType } from '../../core/credential/catalogue.ts'
import type { TextKind } from '../../core/credential/member.ts'
import { readPrivateKey } from '../../core/credential/private-key.ts'
import {
  allowedBy,
  type GivenReference,
  isGivenReference,
  type SecretRefs,
} from '../../core/credential/secret-reference.ts'
import { isDropped, isFraming } from '../../core/catalogue/header-table.ts'
import { plainHeaderName } from '../../core/request/plain-header-name.ts'
import type { PlainAuth } from '../../core/store/credential-binding.ts'
import type { Issue } from '../http/outcome.ts'
import { parseUrl } from '../../core/bounded/parse-url.ts'

/** Headers of which HTTP or the gateway makes more than a text for the API. */
const FURTHER = /^(content-.*|via|proxy-.*|accept-encoding|http2-settings)$/

/** Headers that frame the message, name its route, or belong to this gateway or a proxy. */
const isReserved = (plain: string): boolean =>
  plain !== 'authorization' && (isDropped(plain) || isFraming(plain) || FURTHER.test(plain))

/** Checks a text beyond its schema; null if it is valid. */
const CHECKS: Partial<Record<TextKind, (text: string) => string | null>> = {
  header_name: (name) =>
    isReserved(plainHeaderName(name)) ? 'is a header that cannot carry a credential' : null,
  private_key: (text) =>
    readPrivateKey(text) === null
      ? 'must be a private key in PEM without a passphrase: RSA with 2048 to 4096 bits, P-256, P-384 or Ed25519'
      : null,
  url: (text) => {
    const url = parseUrl(text)
    if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:'))
      return 'must be an absolute http or https URL'
    return url.username !== '' || url.password !== '' || url.hash !== ''
      ? 'must have no user info and no fragment'
      : null
  },
}

/** Whether a secret may name this. */
type MayName = (ref: string) => boolean

/** What the deployment allows the organization; nothing says whether there is something of the name. */
export const mayNameIn =
  (refs: SecretRefs, organization_id: string): MayName =>
  (ref) =>
    allowedBy(refs, organization_id, ref) !== null

const REFERENCE_PROBLEM =
  'must be env:AGW_SECRET_NAME, file:/PATH, vault:PATH#FIELD or aws-sm:NAME below a prefix that AGW_SECRET_REFS lists for this organization; an operator of the deployment sets it'

/** Checks a credential beyond its schema. */
export function checkAuth(auth: PlainAuth, mayName: MayName): Issue[] {
  const given = auth as Readonly<Record<string, string | GivenReference | undefined>>
  const declared = findCredentialType(auth.type)
  const issues = Object.entries(declared?.members ?? {}).flatMap(
    ([name, { text: kind }]): Issue[] => {
      const text = given[name]
      const message = isGivenReference(text)
        ? mayName(text.ref)
          ? null
          : REFERENCE_PROBLEM
        : text === undefined
          ? null
          : (CHECKS[kind]?.(text) ?? null)
      return message === null ? [] : [{ path: `/auth/${name}`, message }]
    },
  )
  const together = declared?.check?.(auth as never) ?? null
  if (together === null) return issues
  const { member, message } = together
  return [...issues, { path: member === undefined ? '/auth' : `/auth/${member}`, message }]
}

/** The same for the credential of an integration itself. */
export const checkOwnAuth = (auth: PlainAuth, mayName: MayName): Issue[] =>
  findCredentialType(auth.type)?.application.kind === 'connection'
    ? [
        {
          path: '/auth/type',
          message: 'needs consent, which a connection of the integration is given: use none here',
        },
      ]
    : checkAuth(auth, mayName)
