import type { Secret } from '../keys/secret.ts'
import type { Member, Members } from './member.ts'
import type { TokenClient, TokenUse } from './token-client.ts'

/** The header or query parameter that a credential fills. A caller's own value is replaced, and may be a gateway key. */
export interface OwnedPlace {
  readonly kind: 'header' | 'query'
  readonly name: string
  /** Further headers that it fills; no gateway key is expected in them. */
  readonly further?: readonly string[]
  /** Query parameters of a signature that the caller made, in lower case; they are removed. */
  readonly replaced_parameters?: ReadonlySet<string>
}

/** Names and values to set in a request, as text; the caller's values for these names are replaced. */
export interface Filling {
  readonly headers: readonly FilledPair[]
  readonly query: readonly FilledPair[]
  readonly placeholder?: PlaceholderFilling
}

/** Where a value is put in place of the placeholder. */
export interface PlaceholderFilling {
  readonly value: string
  /** Below the base URL; `*` is any segment. */
  readonly paths: readonly string[]
  /** A parameter. */
  readonly query: string | null
}

export interface FilledPair {
  readonly name: string
  readonly value: string
}

export type Scheme = 'http' | 'https'

/** How a signature covers the body. */
export type Payload =
  /** Its hash (SHA-256, lower-case hex), so the body has to be buffered. */
  | { readonly kind: 'hash' }
  | { readonly kind: 'literal'; readonly text: string }
  /** The body itself, which has to be buffered. */
  | { readonly kind: 'body' }
  /** The body cannot be signed: its encoding, and why. */
  | { readonly kind: 'refused'; readonly content_encoding: string; readonly reason: string }

/** A request as it is sent to the API; all texts have one character per byte (latin1). */
export interface SignableRequest {
  readonly method: string
  /** In the caller's spelling, which is what the API receives. */
  readonly raw_path: string
  readonly raw_query: string | null
  /** `host` and the headers selected by `signs`, names in lower case. */
  readonly headers: readonly FilledPair[]
  /** The body, its hash, or the literal used instead. */
  readonly payload: string
}

/** Inserted as it is stored. Pure. */
export interface StaticApplication<M extends Members> {
  readonly kind: 'static'
  apply(auth: OpenedMembers<M>): Filling
  /** A member that the API may repeat in its response headers, where it is redacted. */
  readonly echoed?: string & keyof M
}

/** Exchanged for an access token, which is inserted as `bearer` is. ext-proc fetches and caches the token. */
export interface TokenApplication<M extends Members> {
  readonly kind: 'token'
  clientOf(auth: OpenedMembers<M>, use: TokenUse): TokenClient
}

/** Signs each request as the API will receive it. Pure; ext-proc hashes the body and passes the time. */
export interface SignatureApplication<M extends Members> {
  readonly kind: 'signature'
  /** For a credential that is exchanged for a temporary one, with which the request is signed. */
  readonly exchange?: {
    /** Null if it signs itself. */
    clientOf(auth: OpenedMembers<M>, use: TokenUse): TokenClient | null
    signer(auth: OpenedMembers<M>, token: Secret): OpenedMembers<M>
  }
  /** A secret member that is sent with the signature, and that the API may repeat. */
  readonly sent?: string & keyof M
  /** Whether a body must be buffered for the signature alone. True wherever `payload` may cover the body, or each such call fails. */
  needsBody(auth: PublicMembers<M>, scheme: Scheme): boolean
  payload(
    auth: PublicMembers<M>,
    request: {
      readonly scheme: Scheme
      readonly headers: readonly FilledPair[]
      readonly is_buffered: boolean
    },
  ): Payload
  /** Whether a header of the caller is passed to `sign`; all others may change in transit. Names in lower case. */
  signs(name: string): boolean
  /** The headers to set. */
  sign(auth: OpenedMembers<M>, request: SignableRequest, now_ms: number): readonly FilledPair[]
}

/** The access token of a connection, inserted as `bearer` is. core/oauth/ requests and refreshes it. */
export interface ConnectionApplication {
  readonly kind: 'connection'
}

export type Application<M extends Members> =
  | StaticApplication<M>
  | TokenApplication<M>
  | SignatureApplication<M>
  | ConnectionApplication

/**
 * The complete declaration of a credential type. The stored and opened types, sealing, the schemas of the admin API, what reads
 * show, the masking of logs, `agw dump` and the form of the console are derived from it.
 */
export interface CredentialType<
  T extends string = string,
  M extends Members = Members,
  A extends Application<M> = Application<M>,
> {
  readonly type: T
  /** In the console. */
  readonly label: string
  /** What the API receives, for docs/guides/credentials.md. */
  readonly sends: string
  readonly members: M
  /** What the members must have in common; null if it is right. `member` is the one to correct. */
  check?(auth: TextMembers<M>): { readonly member?: keyof M; readonly message: string } | null
  owned(auth: PublicMembers<M>): OwnedPlace
  readonly application: A
}

/** Declares a credential type; it must also be listed in `catalogue.ts`. */
export const defineCredential = <
  const T extends string,
  M extends Members,
  A extends Application<M>,
>(
  declared: CredentialType<T, M, A>,
): CredentialType<T, M, A> => declared

type Named<M extends Members, Wanted extends Member> = {
  [N in keyof M]: M[N] extends Wanted ? N : never
}[keyof M]
type Required<M extends Members> = Named<M, Member<'secret' | 'public', 'required'>>
type Optional<M extends Members> = Named<M, Member<'secret' | 'public', 'optional'>>
type Flat<T> = { [N in keyof T]: T[N] } & {}

/** The members as texts: in plaintext as a caller sends them, or with the secret ones sealed as they are stored. */
export type TextMembers<M extends Members> = Flat<
  { readonly [N in Required<M>]: string } & { readonly [N in Optional<M>]?: string }
>

/** The members with the secret ones decrypted, each in a `Secret`. */
export type OpenedMembers<M extends Members> = Flat<
  { readonly [N in Required<M>]: Opened<M[N]> } & { readonly [N in Optional<M>]?: Opened<M[N]> }
>
type Opened<One> = One extends Member<'secret'> ? Secret : string

/** The members that are stored in plaintext. */
export type PublicMembers<M extends Members> = Flat<
  { readonly [N in Extract<Required<M>, Named<M, Member<'public'>>>]: string } & {
    readonly [N in Extract<Optional<M>, Named<M, Member<'public'>>>]?: string
  }
>
