import { createHash, randomBytes } from 'node:crypto'
import { knownUrl } from '../../core/bounded/parse-url.ts'
import type { OpenedFor } from '../../core/credential/catalogue.ts'
import { hashKey } from '../../core/keys/api-key.ts'
import { type SealBinding, seal } from '../../core/keys/seal.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { openForUse } from '../../core/secret/open-for-use.ts'
import { apiUrlOf } from '../../core/settings/console-link.ts'
import { postAsClient } from '../../core/token/ask-token.ts'
import type { Egress } from '../../core/token/post-form.ts'
import type { Actor, AdminContext } from '../context/admin-context.ts'
import { conflict, invalid, type Refusal } from '../http/outcome.ts'
import type { OwnedConnection } from './connection-owner.ts'

/** A request for consent in progress, as it is stored under the hash of its `state`. */
export interface Consent {
  readonly organization_id: string
  readonly connection_id: string
  /** Who may complete it: this operator, and in this session if it was begun in one. */
  readonly token_id: string
  readonly session: string | null
  /** Sealed. */
  readonly verifier: string
  /** Of the credential as it was: an endpoint that has changed since gets no code. */
  readonly auth_hash: string
  readonly redirect_uri: string
}

export const CONSENT_LIMIT_MS = 600_000
export const SECRET_UNAVAILABLE = conflict(
  'reference_unavailable',
  'A secret of the credential is kept elsewhere and cannot be read. Nothing was sent to the provider.',
)
const SECRET_BYTES = 32
const PAR_LIMIT_MS = 5_000

export const hashOfAuth = (auth: object): string =>
  createHash('sha256').update(JSON.stringify(auth)).digest('base64url')

export const verifierBinding = (
  organization_id: string,
  connection_id: string,
  state_hash: string,
): SealBinding => ({
  stored_as: 'connection_grant',
  organization_id,
  owner_id: connection_id,
  kind: 'oauth.code_verifier',
  origin: state_hash,
})

export const redirectUriOf = (settings: AdminContext['settings']): string =>
  `${apiUrlOf(settings)}/oauth/callback`

/** Prepares a request for consent. Returns the address to open in a browser; it is good for ten minutes, once. */
export async function startConsent(
  context: Pick<AdminContext, 'redis' | 'ring' | 'references' | 'settings' | 'tokenEgress'>,
  actor: Actor,
  { connection, owner }: OwnedConnection,
): Promise<{ readonly kind: 'started'; readonly authorize_url: string } | Refusal> {
  const { redis, ring, settings, tokenEgress } = context
  const { organization_id, connection_id } = connection
  if (connection.auth.type !== 'oauth2_authorization_code')
    return conflict('no_consent', 'The credential of this connection needs no consent.')
  const auth = await openForUse(context, owner)
  if (auth === 'reference_unavailable') return SECRET_UNAVAILABLE
  if (typeof auth === 'string' || auth.type !== 'oauth2_authorization_code')
    return invalid([
      { path: '/auth', message: 'is not readable or was bound to another origin: send it again' },
    ])
  const state = randomBytes(SECRET_BYTES).toString('base64url')
  const verifier = randomBytes(SECRET_BYTES).toString('base64url')
  const redirect_uri = redirectUriOf(settings)
  const asked = await authorizeUrl(tokenEgress, auth, { state, verifier, redirect_uri })
  if (typeof asked !== 'string') return asked
  const hash = hashKey(state)
  const consent: Consent = {
    organization_id,
    connection_id,
    token_id: actor.token_id,
    session: actor.session ?? null,
    verifier: seal(ring, verifier, verifierBinding(organization_id, connection_id, hash)),
    auth_hash: hashOfAuth(connection.auth),
    redirect_uri,
  }
  await redis.set(REDIS_KEYS.consent(hash), JSON.stringify(consent), 'PX', CONSENT_LIMIT_MS)
  return { kind: 'started', authorize_url: asked }
}

async function authorizeUrl(
  egress: Egress,
  auth: OpenedFor<'connection'>,
  {
    state,
    verifier,
    redirect_uri,
  }: { readonly state: string; readonly verifier: string; readonly redirect_uri: string },
): Promise<string | Refusal> {
  const { client_id, scope, resource, pushed_authorization_url } = auth
  const form = new URLSearchParams({
    response_type: 'code',
    client_id,
    redirect_uri,
    state,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    ...(scope === undefined ? {} : { scope }),
    ...(resource === undefined ? {} : { resource }),
  })
  const url = knownUrl(auth.authorization_url)
  // What the URL says beyond these, such as prompt=consent, goes along, and never replaces one of them.
  for (const [name, value] of url.searchParams) if (!form.has(name)) form.set(name, value)
  if (pushed_authorization_url !== undefined) {
    const pushed = await push(egress, auth, pushed_authorization_url, form)
    if (pushed === null)
      return conflict('provider_refused', 'The provider did not accept the request for consent.')
    url.search = new URLSearchParams({ client_id, request_uri: pushed }).toString()
  } else url.search = form.toString()
  return url.href
}

/** RFC 9126. Null if the provider does not accept it. */
async function push(
  egress: Egress,
  auth: OpenedFor<'connection'>,
  url: string,
  form: URLSearchParams,
): Promise<string | null> {
  for (const style of ['basic', 'post'] as const) {
    const deadline = AbortSignal.timeout(PAR_LIMIT_MS)
    const answer = await postAsClient(egress, url, auth, { style, form, deadline })
    if (answer.kind === 'failed') return null
    if (answer.status === 401) continue
    const uri = requestUriOf(answer.body)
    return answer.status === 201 || answer.status === 200 ? uri : null
  }
  return null
}

const URI_LENGTH_LIMIT = 512

function requestUriOf(body: Buffer): string | null {
  try {
    const { request_uri } = JSON.parse(body.toString()) as { readonly request_uri?: unknown }
    return typeof request_uri === 'string' && request_uri.length <= URI_LENGTH_LIMIT
      ? request_uri
      : null
  } catch {
    return null
  }
}
