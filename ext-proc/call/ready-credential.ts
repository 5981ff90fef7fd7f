import {
  credentialTypeOf,
  type OpenedAuth,
  type OpenedFor,
} from '../../core/credential/catalogue.ts'
import { credentialOwner } from '../../core/decision/also-hosts.ts'
import type { TokenUse } from '../../core/credential/token-client.ts'
import type { Header } from '../../core/request/header.ts'
import type { ChosenCredential } from '../../core/decision/choose-credential.ts'
import type { ConnectRequest } from '../../core/store/connect-token.ts'
import type { StaticCredential } from '../../core/decision/apply-credential.ts'
import type { CredentialCause, TokenFailure } from '../../core/token/credential-cause.ts'
import { ownerOfConnection } from '../../core/store/credential-binding.ts'
import type { GrantClient, TokenCache, TokenOrder, TokenResult } from '../credential/token-cache.ts'
import type { SecretReferences } from '../../core/secret/secret-references.ts'
import { payloadOf } from '../credential/payload-of.ts'
import { type Deny, deny, pass, type Step } from '../verdict/step.ts'
import type { AdmittedCall } from './admit-call.ts'

type Tokens = Pick<TokenCache, 'get' | 'rejected'>

interface Services {
  readonly tokens: Tokens
  readonly references: Pick<SecretReferences, 'resolve'>
}

/** The credential, with everything that had to be awaited. */
export type ReadyCredential =
  | {
      readonly kind: 'static'
      readonly auth: StaticCredential
      /** Called when the API responds with 401; null if the next call would use the same credential anyway. */
      readonly onUnauthorized: (() => void) | null
    }
  | {
      readonly kind: 'signature'
      readonly auth: OpenedFor<'signature'>
      /** The part of the signature that covers the body. */
      readonly payload: string
      /** As above; of temporary keys. */
      readonly onUnauthorized: (() => void) | null
    }

/** A token is fetched while the body arrives and is scanned. Null: none is fetched. */
export function askForToken(
  { tokens, references }: Services,
  call: AdmittedCall,
): TokenOrder | null {
  const stored = authOf(call)
  const auth = stored === null ? null : references.resolve(call.agent.organization_id, stored)
  // A secret that is being read is waited for later.
  if (auth === null || auth instanceof Promise) return null
  const order = narrowingCause(auth, call) === null ? orderOf(call, auth) : null
  if (order !== null) void tokens.get(order)
  return order
}

const NO_AUTH: OpenedAuth = { type: 'none' }

/** Null if the stored credential cannot be decrypted. */
function authOf({ organization, integration, scope, credential }: AdmittedCall): OpenedAuth | null {
  if (credential.kind === 'refused') return NO_AUTH
  const { connection } = credential.credential
  if (connection !== null) return organization.authOfConnection(connection)
  const owner = credentialOwner(integration, scope)
  return owner === null ? NO_AUTH : (organization.auth.get(owner.integration_id) ?? null)
}

/**
 * Waits for a secret that is kept elsewhere, for an access token that is not cached, or for the hash of a large body.
 * @param headers as received: a client may have signed the chunks of the body
 * @param body as it is sent to the API; null if it was not buffered.
 * @param asked what `askForToken` has returned
 */
export function readyCredential(
  { connectUrl, ...services }: Services & { readonly connectUrl: ConnectUrl },
  call: AdmittedCall,
  headers: readonly Header[],
  body: Buffer | null,
  asked: TokenOrder | null,
): Step<ReadyCredential> | Promise<Step<ReadyCredential>> {
  if (call.credential.kind === 'refused') return denyConnection(call, call.credential, connectUrl)
  const stored = authOf(call)
  if (stored === null) return denyCredential(call, { cause: 'not_opened' })
  const use = (auth: OpenedAuth | null) =>
    auth === null
      ? denyCredential(call, { cause: 'reference_unavailable' })
      : readyAuth(services, call, auth, { headers, body, asked })
  const auth = services.references.resolve(call.agent.organization_id, stored)
  return auth instanceof Promise ? auth.then(use) : use(auth)
}

function readyAuth(
  { tokens }: Services,
  call: AdmittedCall,
  auth: OpenedAuth,
  {
    headers,
    body,
    asked,
  }: {
    readonly headers: readonly Header[]
    readonly body: Buffer | null
    readonly asked: TokenOrder | null
  },
): Step<ReadyCredential> | Promise<Step<ReadyCredential>> {
  const cause = narrowingCause(auth, call)
  if (cause !== null) return denyCredential(call, { cause })
  const order = asked ?? orderOf(call, auth)
  if (order !== null) {
    const found = tokens.get(order)
    const use = (result: TokenResult) =>
      withToken(tokens, call, order, { auth, result, headers, body })
    return found instanceof Promise ? found.then(use) : use(found)
  }
  if (auth.type === 'oauth2_authorization_code')
    return denyCredential(call, { cause: 'needs_consent' })
  if (isSigned(auth)) return readySignature(call, headers, auth, { body, onUnauthorized: null })
  return pass({ kind: 'static', auth: auth as StaticCredential, onUnauthorized: null })
}

/** The client of a credential that is exchanged for a token; null for other credentials. */
function clientOf(auth: OpenedAuth, call: AdmittedCall): TokenOrder['client'] | null {
  const { agent, settings } = call
  const { application } = credentialTypeOf(auth.type)
  const use: TokenUse = { agent_id: agent.agent_id, narrowing: settings.token_narrowing }
  switch (application.kind) {
    case 'token':
      return application.clientOf(auth, use)
    case 'signature':
      return application.exchange?.clientOf(auth, use) ?? null
    case 'connection':
      return grantOf(call)
    case 'static':
      return null
  }
}

/** The tokens of the connection that decides; an integration itself has none. */
function grantOf({ integration, scope, credential }: AdmittedCall): GrantClient | null {
  const { connection } = credential.credential
  if (connection === null) return null
  const owner = credentialOwner(integration, scope) ?? integration.integration
  const { connection_id } = connection
  return { grant: { ...ownerOfConnection(owner, connection), connection_id }, variant: '' }
}

/** Why a credential cannot be narrowed as a scope demands. An empty list would mean all to GitHub. */
function narrowingCause({ type }: OpenedAuth, { settings }: AdmittedCall): CredentialCause | null {
  const narrowing = settings.token_narrowing
  if (narrowing === null) return null
  if (type !== 'github_app') return 'not_narrowable'
  const { repositories, permissions } = narrowing
  const isEmpty =
    repositories?.length === 0 ||
    (permissions !== undefined && Object.keys(permissions).length === 0)
  return isEmpty ? 'narrowed_to_nothing' : null
}

const isSigned = (auth: OpenedAuth): auth is OpenedFor<'signature'> =>
  credentialTypeOf(auth.type).application.kind === 'signature'

/** Makes the link at which an operator gives the credential that a call lacks. */
export type ConnectUrl = (request: ConnectRequest) => string

/** The connection that decides cannot be used, or there is none. The link is for the caller alone, not for the log. */
function denyConnection(
  { integration, scope, agent, facts }: AdmittedCall,
  { credential, status }: Extract<ChosenCredential, { kind: 'refused' }>,
  connectUrl: ConnectUrl,
): Deny {
  const { base_url } = integration.base
  const connection_id = credential.connection?.connection_id ?? scope.connection_id ?? null
  const data = { connection_id, status, base_url }
  const owner = credentialOwner(integration, scope)
  if (status === 'gone' || owner === null)
    return deny('credential', 'connection_required', data, { data })
  const { organization_id, agent_id } = agent
  const { integration_id } = owner
  const [named = null] = facts.request.named_users
  const user = named !== null && scope.users?.includes(named) === true ? named : null
  const request = { organization_id, integration_id, agent_id, user, connection_id }
  const details = { ...data, connect_url: connectUrl(request) }
  return deny('credential', 'connection_required', details, { data })
}

/** The caller's message. The cause is only shown to operators. */
export function denyCredential(
  { integration }: AdmittedCall,
  cause: Partial<TokenFailure> & Pick<TokenFailure, 'cause'>,
): Deny {
  const details = { base_url: integration.base.base_url }
  return deny('credential', 'credential_unavailable', details, { data: { ...details, ...cause } })
}

function withToken(
  tokens: Tokens,
  call: AdmittedCall,
  order: TokenOrder,
  {
    auth,
    result,
    headers,
    body,
  }: {
    readonly auth: OpenedAuth
    readonly result: TokenResult
    readonly headers: readonly Header[]
    readonly body: Buffer | null
  },
): Step<ReadyCredential> | Promise<Step<ReadyCredential>> {
  if (result.kind === 'failed') return denyCredential(call, result.failure)
  const { token } = result
  const onUnauthorized = (): void => tokens.rejected(order, token)
  const { application } = credentialTypeOf(auth.type)
  if (application.kind !== 'signature')
    return pass({ kind: 'static', auth: { type: 'bearer', token }, onUnauthorized })
  const signer = application.exchange?.signer(auth, token) ?? auth
  return readySignature(call, headers, signer as OpenedFor<'signature'>, { body, onUnauthorized })
}

async function readySignature(
  { integration }: AdmittedCall,
  headers: readonly Header[],
  auth: OpenedFor<'signature'>,
  { body, onUnauthorized }: SignedCall,
): Promise<Step<ReadyCredential>> {
  const payload = await payloadOf(auth, integration.base.scheme, headers, body)
  if (payload.kind === 'payload')
    return pass({ kind: 'signature', auth, payload: payload.text, onUnauthorized })
  if (payload.kind === 'too_large')
    return deny('credential', 'request_too_large', { limit_bytes: payload.limit_bytes })
  const { content_encoding, reason } = payload
  return deny('credential', 'unsupported_content_encoding', { content_encoding, reason })
}

interface SignedCall {
  readonly body: Buffer | null
  readonly onUnauthorized: (() => void) | null
}

/** What is asked of the token cache; null for a credential that is not exchanged. A token is the same for all hosts of an integration. */
function orderOf(call: AdmittedCall, auth: OpenedAuth): TokenOrder | null {
  const client = clientOf(auth, call)
  if (client === null) return null
  const { integration, scope, agent, credential } = call
  const owner = credentialOwner(integration, scope) ?? integration.integration
  const { organization_id, integration_id } = owner
  const { connection } = credential.credential
  const revision = connection === null ? textOf(owner) : `${textOf(connection)} ${owner.base_url}`
  const connection_id = connection?.connection_id ?? null
  const isOwn =
    connection?.subject === `agent:${agent.agent_id}` ||
    ('agent_id' in client && client.agent_id !== null)
  const agent_id = isOwn ? agent.agent_id : null
  return {
    organization_id,
    integration_id,
    connection_id,
    agent_id,
    type: auth.type,
    revision,
    client,
  }
}

/** The policy of an organization holds each record until it changes. */
const texts = new WeakMap<object, string>()

function textOf(record: object): string {
  const known = texts.get(record)
  if (known !== undefined) return known
  const text = JSON.stringify(record)
  texts.set(record, text)
  return text
}
