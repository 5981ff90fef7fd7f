import { parseUrl } from '../../core/bounded/parse-url.ts'
import { isSecureUrl } from '../../core/credential/is-secure-url.ts'
import type { CredentialCause } from '../../core/token/credential-cause.ts'
import { type Egress, getDocument } from '../../core/token/post-form.ts'

/** What the metadata of a provider says, for an administrator to confirm. Nothing is taken from it before that. */
export interface Proposal {
  readonly issuer: string
  /** Members of an `oauth2_authorization_code` credential. */
  readonly auth: Readonly<Record<string, string>>
  readonly scopes_supported: readonly string[]
  /** Why the provider cannot be used as it is, or what to know about it. */
  readonly warnings: readonly string[]
}

export type Discovered =
  | { readonly kind: 'proposal'; readonly proposal: Proposal }
  | { readonly kind: 'failed'; readonly url: string; readonly why: string }

type Document = Readonly<Record<string, unknown>>

/** For all documents together. */
const LIMIT_MS = 5_000
const SCOPES_SHOWN = 100
const SCOPE_LENGTH_LIMIT = 200
const URL_LENGTH_LIMIT = 2048

/**
 * Reads the metadata of an authorization server (RFC 8414, or OpenID Connect Discovery), or of an API that names its server (RFC
 * 9728). Only over https, except on loopback; without redirects; under the egress rules of token endpoints.
 */
export async function discover(
  egress: Egress,
  given: { readonly issuer?: string | undefined; readonly resource?: string | undefined },
): Promise<Discovered> {
  const deadline = AbortSignal.timeout(LIMIT_MS)
  let { issuer } = given
  let resource: string | undefined
  if (issuer === undefined) {
    const api = given.resource ?? ''
    const found = await readFirst(egress, placesOf(api, ['oauth-protected-resource']), deadline)
    if (found.kind === 'failed') return found
    // RFC 9728 §3.3: a document that speaks for another API is not used.
    if (!isSame(found.document['resource'], api))
      return { kind: 'failed', url: found.url, why: 'it is about another resource' }
    const servers = found.document['authorization_servers']
    const [first] = Array.isArray(servers) ? (servers as readonly unknown[]) : []
    if (typeof first !== 'string')
      return { kind: 'failed', url: found.url, why: 'it names no authorization server' }
    issuer = first
    resource = api
  }
  const found = await readFirst(
    egress,
    placesOf(issuer, ['oauth-authorization-server', 'openid-configuration']),
    deadline,
  )
  if (found.kind === 'failed') return found
  // RFC 8414 §3.3. A document with another issuer would let one provider pose as another.
  if (found.document['issuer'] !== issuer)
    return { kind: 'failed', url: found.url, why: 'its issuer is another one than was asked for' }
  return proposalOf(found, issuer, resource)
}

const isSame = (said: unknown, asked: string): boolean =>
  typeof said === 'string' && said.replace(/\/$/, '') === asked.replace(/\/$/, '')

/** The well-known part comes before the path (RFC 8414 §3.1); OpenID Connect puts it behind. */
function placesOf(base: string, names: readonly string[]): readonly string[] {
  const url = base.length > URL_LENGTH_LIMIT ? null : parseUrl(base)
  if (url === null || !isSecureUrl(base) || url.search !== '' || url.hash !== '') return []
  const path = url.pathname.replace(/\/$/, '')
  const places = names.map((name) => `${url.origin}/.well-known/${name}${path}`)
  if (path === '' || !names.includes('openid-configuration')) return places
  return [...places, `${url.origin}${path}/.well-known/openid-configuration`]
}

type Read =
  | { readonly kind: 'read'; readonly url: string; readonly document: Document }
  | { readonly kind: 'failed'; readonly url: string; readonly why: string }

async function readFirst(
  egress: Egress,
  places: readonly string[],
  deadline: AbortSignal,
): Promise<Read> {
  let last: Read = {
    kind: 'failed',
    url: '',
    why: 'it must be an https URL without query and fragment; http is possible on loopback alone',
  }
  for (const url of places) {
    last = await read(egress, url, deadline)
    if (last.kind === 'read' || last.why !== NOT_FOUND) return last
  }
  return last
}

const NOT_FOUND = 'there is no such document'

async function read(egress: Egress, url: string, deadline: AbortSignal): Promise<Read> {
  const answer = await getDocument(egress, url, deadline)
  const failed = (why: string): Read => ({ kind: 'failed', url, why })
  if (answer.kind === 'failed') return failed(WHY[answer.cause] ?? answer.cause)
  const { status, body } = answer
  if (status === 404) return failed(NOT_FOUND)
  if (status >= 300 && status < 400) return failed('redirects are not followed')
  if (status !== 200) return failed(`the response had the status ${status}`)
  try {
    const document: unknown = JSON.parse(body.toString())
    if (typeof document === 'object' && document !== null)
      return { kind: 'read', url, document: document as Document }
  } catch {
    // Said below.
  }
  return failed('it is not a JSON object')
}

const WHY: Partial<Record<CredentialCause, string>> = {
  address_refused: 'its host is, or resolves to, an address that is not public',
  dns_failed: 'its host cannot be resolved',
  connection_failed: 'it is unreachable',
  tls_failed: 'its certificate is not valid',
  timeout: 'there was no complete response within 5 seconds',
  answer_too_large: 'it is larger than 64 KiB',
  proxy_refused: 'the egress proxy refused the connection',
}

/** Members of the metadata that become members of the credential. */
const ENDPOINTS = {
  authorization_endpoint: 'authorization_url',
  token_endpoint: 'token_url',
  revocation_endpoint: 'revocation_url',
  introspection_endpoint: 'introspection_url',
  pushed_authorization_request_endpoint: 'pushed_authorization_url',
} as const
const NEEDED = ['authorization_endpoint', 'token_endpoint'] as const

function proposalOf(
  { url, document }: Extract<Read, { kind: 'read' }>,
  issuer: string,
  resource: string | undefined,
): Discovered {
  const auth: Record<string, string> = { type: 'oauth2_authorization_code', issuer }
  for (const [said, member] of Object.entries(ENDPOINTS)) {
    const endpoint = document[said]
    if (endpoint === undefined) continue
    if (
      typeof endpoint !== 'string' ||
      endpoint.length > URL_LENGTH_LIMIT ||
      !isSecureUrl(endpoint)
    )
      return { kind: 'failed', url, why: `its ${said} is not an https URL` }
    auth[member] = endpoint
  }
  for (const needed of NEEDED)
    if (auth[ENDPOINTS[needed]] === undefined)
      return { kind: 'failed', url, why: `it has no ${needed}` }
  if (document['authorization_response_iss_parameter_supported'] === true)
    auth['iss_parameter'] = 'required'
  if (resource !== undefined) auth['resource'] = resource
  const proposal = {
    issuer,
    auth,
    scopes_supported: scopesOf(document),
    warnings: warningsOf(document, auth),
  }
  return { kind: 'proposal', proposal }
}

const textsOf = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((text) => typeof text === 'string') : []

const scopesOf = (document: Document): readonly string[] =>
  textsOf(document['scopes_supported'])
    .filter((scope) => scope.length <= SCOPE_LENGTH_LIMIT)
    .slice(0, SCOPES_SHOWN)

function warningsOf(document: Document, auth: Readonly<Record<string, string>>): readonly string[] {
  const methods = document['code_challenge_methods_supported']
  const hosts = new Set(
    Object.values(ENDPOINTS).flatMap((member) => {
      const host = auth[member] === undefined ? null : parseUrl(auth[member])?.host
      return host == null ? [] : [host]
    }),
  )
  return [
    ...(methods !== undefined && !textsOf(methods).includes('S256')
      ? ['The provider does not list S256 among its PKCE methods, and the gateway uses no other.']
      : []),
    ...(auth['revocation_url'] === undefined
      ? ['The provider has no revocation endpoint: a kill cannot end its tokens there.']
      : []),
    ...(hosts.size > 1
      ? [
          `The endpoints are on several hosts: ${[...hosts].join(', ')}. Check that all belong to the provider.`,
        ]
      : []),
  ]
}
