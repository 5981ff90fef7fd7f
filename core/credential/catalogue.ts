import { awsSigv4 } from './aws-sigv4.ts'
import { basic } from './basic.ts'
import { bearer } from './bearer.ts'
import type { Application, CredentialType, OpenedMembers, TextMembers } from './credential-type.ts'
import { githubApp } from './github-app.ts'
import { header } from './header.ts'
import { hmac } from './hmac.ts'
import { jwtBearer } from './jwt-bearer.ts'
import type { Members } from './member.ts'
import { none } from './none.ts'
import { oauth2AuthorizationCode } from './oauth2-authorization-code.ts'
import { oauth2ClientCredentials } from './oauth2-client-credentials.ts'
import { placeholder } from './placeholder.ts'
import { query } from './query.ts'

/** Every credential type, in the order in which they are offered. */
const ALL = [
  bearer,
  header,
  basic,
  query,
  placeholder,
  none,
  oauth2ClientCredentials,
  oauth2AuthorizationCode,
  jwtBearer,
  githubApp,
  awsSigv4,
  hmac,
] as const

type Declared = (typeof ALL)[number]
export type AuthType = Declared['type']

/** As a caller of the admin API sends it, or as it is stored: then the secret members are sealed (core/keys/seal.ts). */
export type SealedAuth = TextsOf<Declared>
type TextsOf<D> =
  D extends CredentialType<infer T, infer M, infer _>
    ? { readonly type: T } & TextMembers<M>
    : never

/** With the secret members decrypted, each in a `Secret`. */
export type OpenedAuth = OpenedOf<Declared>
type OpenedOf<D> =
  D extends CredentialType<infer T, infer M, infer _>
    ? { readonly type: T } & OpenedMembers<M>
    : never

/** The opened credentials that are applied in this way. */
export type OpenedFor<K extends Application<Members>['kind']> = OpenedOf<
  Extract<Declared, { readonly application: { readonly kind: K } }>
>

const BY_TYPE: ReadonlyMap<string, CredentialType> = new Map(ALL.map((one) => [one.type, one]))

export const CREDENTIAL_TYPES: readonly CredentialType[] = ALL

/** Null for a type that this version does not know, which only the store of a newer version can contain. */
export const findCredentialType = (type: unknown): CredentialType | null =>
  typeof type === 'string' ? (BY_TYPE.get(type) ?? null) : null

/** @throws for a type that is not in the catalogue; every opened credential has one that is. */
export function credentialTypeOf(type: AuthType): CredentialType {
  const found = findCredentialType(type)
  if (found === null) throw new Error('a credential of an unknown type was opened')
  return found
}

/** The names of the members that are secret; none of an unknown type. */
export const secretMembers = (type: unknown): readonly string[] =>
  Object.entries(findCredentialType(type)?.members ?? {})
    .filter(([, { visibility }]) => visibility === 'secret')
    .map(([name]) => name)

/** The secret members of all types, each name once. */
export const SECRET_MEMBER_NAMES: readonly string[] = [
  ...new Set(ALL.flatMap(({ type }) => secretMembers(type))),
]
