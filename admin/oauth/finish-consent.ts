import type { OpenedFor } from '../../core/credential/catalogue.ts'
import { resolveAlert } from '../../core/alerts/resolve-alert.ts'
import { hashKey } from '../../core/keys/api-key.ts'
import { unseal } from '../../core/keys/seal.ts'
import { changeConnection } from '../../core/oauth/change-connection.ts'
import { grantOf } from '../../core/oauth/grant.ts'
import { dueMember, dueOf, readGrant } from '../../core/oauth/grant-store.ts'
import { revokeTokens } from '../../core/oauth/revoke-token.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { openForUse } from '../../core/secret/open-for-use.ts'
import { askToken, type ClientStyle } from '../../core/token/ask-token.ts'
import type { Egress } from '../../core/token/post-form.ts'
import type { TokenAnswer } from '../../core/token/read-token-answer.ts'
import { auditEntry } from '../changes/audit-entry.ts'
import { waitForEdges } from '../changes/wait-for-edges.ts'
import type { Actor, AdminContext } from '../context/admin-context.ts'
import { answer, type Answer, conflict, type Refusal } from '../http/outcome.ts'
import { connectionOwner, type OwnedConnection } from './connection-owner.ts'
import { type Consent, hashOfAuth, SECRET_UNAVAILABLE, verifierBinding } from './start-consent.ts'

/** What the provider sent to the callback. */
export interface Callback {
  readonly state: string
  readonly code?: string | undefined
  readonly iss?: string | undefined
  readonly error?: string | undefined
}

const EXCHANGE_LIMIT_MS = 10_000

/** Exchanges the code for tokens, and makes the connection active. Each `state` is looked at once, whatever comes of it. */
export async function finishConsent(
  context: AdminContext,
  actor: Actor,
  request_id: string,
  callback: Callback,
): Promise<Answer | Refusal> {
  const { redis, ring } = context
  const hash = hashKey(callback.state)
  const text = await redis.getdel(REDIS_KEYS.consent(hash))
  const consent = text === null ? null : (JSON.parse(text) as Consent)
  // An operator who did not ask is told no more than one who made a state up.
  if (consent === null || !isOf(consent, actor))
    return refused(
      'unknown_state',
      'This request for consent is unknown, was completed before, is older than ten minutes, or was made by another operator or in another session. Start again.',
    )
  const { organization_id, connection_id } = consent
  const owned = await connectionOwner(redis, organization_id, connection_id)
  const auth = owned === null ? 'not_opened' : await openForUse(context, owned.owner)
  const verifier = unseal(
    ring,
    consent.verifier,
    verifierBinding(organization_id, connection_id, hash),
  )
  if (auth === 'reference_unavailable') return SECRET_UNAVAILABLE
  if (
    owned === null ||
    typeof auth === 'string' ||
    auth.type !== 'oauth2_authorization_code' ||
    verifier === null ||
    hashOfAuth(owned.connection.auth) !== consent.auth_hash
  )
    return CHANGED
  const problem = problemOf(auth, callback)
  if (problem !== null) return problem
  const { now_ms } = await readGrant(redis, owned.owner)
  const form = new URLSearchParams({
    grant_type: 'authorization_code',
    code: callback.code ?? '',
    redirect_uri: consent.redirect_uri,
    code_verifier: verifier.reveal(),
    ...(auth.resource === undefined ? {} : { resource: auth.resource }),
  })
  const { answer: tokens, style } = await exchange(context.tokenEgress, auth, form)
  if (tokens.kind === 'failed') {
    const { cause, token_status, token_error } = tokens.failure
    return refused('exchange_failed', 'The provider did not exchange the code for tokens.', {
      cause,
      token_status,
      token_error,
    })
  }
  const grant = grantOf(ring, owned.owner, null, { ...tokens, style, started_ms: now_ms })
  return await keepGrant(context, { actor, request_id }, owned, grant)
}

const isOf = ({ organization_id, token_id, session }: Consent, actor: Actor): boolean =>
  organization_id === actor.organization_id &&
  token_id === actor.token_id &&
  (session === null || session === actor.session)

/** Why the answer of the provider is not used; null if it is. */
function problemOf(
  { issuer, iss_parameter }: OpenedFor<'connection'>,
  { code, iss, error }: Callback,
): Refusal | null {
  // RFC 9207: the answer of another provider must not be taken for one of this.
  if (iss === undefined ? iss_parameter === 'required' : iss !== issuer)
    return refused('other_issuer', 'The answer came from another provider than the one asked.')
  if (error !== undefined)
    return refused('consent_refused', 'The provider or its user refused the consent.', {
      error: ERRORS.has(error) ? error : null,
    })
  return code === undefined ? refused('no_code', 'The answer of the provider has no code.') : null
}

/** RFC 6749 §4.1.2.1, and those of OpenID Connect; any other text is not shown. */
const ERRORS: ReadonlySet<string> = new Set([
  'access_denied',
  'consent_required',
  'interaction_required',
  'invalid_request',
  'invalid_scope',
  'invalid_target',
  'login_required',
  'server_error',
  'temporarily_unavailable',
  'unauthorized_client',
  'unsupported_response_type',
])

/** A client that is not recognized in one style has used nothing of the code. */
async function exchange(
  egress: Egress,
  auth: OpenedFor<'connection'>,
  form: URLSearchParams,
): Promise<{ readonly answer: TokenAnswer; readonly style: ClientStyle }> {
  const deadline = AbortSignal.timeout(EXCHANGE_LIMIT_MS)
  const first = await askToken(egress, auth, { style: 'basic', form, deadline })
  const isUnknown = first.kind === 'failed' && first.failure.token_error === 'invalid_client'
  if (!isUnknown || auth.client_secret === undefined) return { answer: first, style: 'basic' }
  return { answer: await askToken(egress, auth, { style: 'post', form, deadline }), style: 'post' }
}

/** Makes the connection active with these tokens, in place of those it had. */
export async function keepGrant(
  context: AdminContext,
  by: { readonly actor: Actor; readonly request_id: string },
  { connection, owner }: OwnedConnection,
  grant: ReturnType<typeof grantOf>,
): Promise<Answer | Refusal> {
  const { redis, settings, nowMs, now } = context
  const { organization_id, connection_id, integration_id } = connection
  const { actor, request_id } = by
  const at = now()
  const started_ms = nowMs()
  const members = {
    status: 'active' as const,
    granted_by: actor.email,
    refreshed_at: at.toISOString(),
    ended_by: null,
  }
  const audit = {
    action: 'connection.consent' as const,
    target: connection_id,
    before: { status: connection.status, granted_by: connection.granted_by },
    after: { ...members, scope: grant.scope },
    integration_id,
  }
  const committed = await changeConnection({ redis, lease_ms: settings.killLease_ms }, owner, {
    // Its endpoints may have changed while the provider answered.
    isWanted: ({ auth }) => hashOfAuth(auth) === hashOfAuth(connection.auth),
    members,
    guards: [],
    writes: [
      ['HSET', REDIS_KEYS.grants(organization_id), connection_id, JSON.stringify(grant)],
      ['ZADD', REDIS_KEYS.grantsDue, dueOf(grant), dueMember(owner)],
    ],
    entries: [auditEntry(audit, { actor, request_id, time: context.clock.now() })],
    by: { timestamp: at.toISOString(), email: actor.email, source_ip: actor.source_ip, request_id },
  })
  if (committed === null) {
    void revokeTokens({ ...context, egress: context.tokenEgress }, owner, grant)
    return CHANGED
  }
  await waitForEdges(context, committed, started_ms)
  await resolveAlert(redis, organization_id, `connection ${connection_id}`, {
    resolution: 'Consent was given again.',
    at,
  })
  return answer(200, { connection_id, integration_id, name: connection.name, status: 'active' })
}

const refused = (
  reason: string,
  message: string,
  details: Readonly<Record<string, unknown>> = {},
): Refusal => conflict(reason, message, details)

const CHANGED = refused('connection_changed', 'The connection has changed or is gone. Start again.')
