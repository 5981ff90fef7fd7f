import {
  credentialTypeOf,
  type OpenedAuth,
  type OpenedFor,
} from '../../core/credential/catalogue.ts'
import type { TokenClient } from '../../core/credential/credential-type.ts'
import type { Header } from '../../core/policy/header.ts'
import type { PlainCredential } from '../../core/policy/apply-credential.ts'
import type { TokenFailure } from '../credential/credential-cause.ts'
import type { TokenCache, TokenOrder, TokenResult } from '../credential/token-cache.ts'
import { payloadOf } from '../credential/payload-of.ts'
import { type Deny, deny, pass, type Step } from '../verdict/step.ts'
import type { AdmittedCall } from './admit-call.ts'

type Tokens = Pick<TokenCache, 'get' | 'rejected'>

/** The credential with all that had to be waited for. */
export type ReadyCredential =
  | {
      readonly kind: 'plain'
      readonly auth: PlainCredential
      /** To be told when the API answers 401; null where a next call could not do better. */
      readonly onUnauthorized: (() => void) | null
    }
  | {
      readonly kind: 'signature'
      readonly auth: OpenedFor<'signature'>
      /** What is signed of the body. */
      readonly payload: string
    }

/** A token that has to be fetched is on its way while the body arrives and is scanned. */
export function askForToken(tokens: Tokens, call: AdmittedCall): void {
  const auth = authOf(call)
  const client = auth === null ? null : clientOf(auth)
  if (client !== null) void tokens.get(orderOf(call, client))
}

/** Null where the stored credential does not open. */
const authOf = ({ organization, integration }: AdmittedCall): OpenedAuth | null =>
  organization.auth.get(integration.integration.integration_id) ?? null

/**
 * Waits for a token where the integration needs one that is not at hand, or for the hash of a large body.
 * @param headers as they came: a client may have signed the body's chunks
 * @param body as it goes to the API; null where it was not held.
 */
export function readyCredential(
  tokens: Tokens,
  call: AdmittedCall,
  headers: readonly Header[],
  body: Buffer | null,
): Step<ReadyCredential> | Promise<Step<ReadyCredential>> {
  const auth = authOf(call)
  if (auth === null) return denyCredential(call, { cause: 'not_opened' })
  const client = clientOf(auth)
  if (client !== null) {
    const order = orderOf(call, client)
    const found = tokens.get(order)
    return found instanceof Promise
      ? found.then((result) => withToken(tokens, call, order, result))
      : withToken(tokens, call, order, found)
  }
  if (isSigned(auth)) return readySignature(call, headers, auth, body)
  return pass({ kind: 'plain', auth: auth as PlainCredential, onUnauthorized: null })
}

/** Who asks for an access token, where the credential is applied in that way. */
function clientOf(auth: OpenedAuth): TokenClient | null {
  const { application } = credentialTypeOf(auth.type)
  return application.kind === 'token' ? application.clientOf(auth) : null
}

const isSigned = (auth: OpenedAuth): auth is OpenedFor<'signature'> =>
  credentialTypeOf(auth.type).application.kind === 'signature'

/** What the caller is told; the cause is for the operator. */
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
  result: TokenResult,
): Step<ReadyCredential> {
  if (result.kind === 'failed') return denyCredential(call, result.failure)
  const { token } = result
  return pass({
    kind: 'plain',
    auth: { type: 'bearer', token },
    onUnauthorized: () => tokens.rejected(order, token),
  })
}

async function readySignature(
  { integration }: AdmittedCall,
  headers: readonly Header[],
  auth: OpenedFor<'signature'>,
  body: Buffer | null,
): Promise<Step<ReadyCredential>> {
  const payload = await payloadOf(auth, integration.base.scheme, headers, body)
  return payload.kind === 'payload'
    ? pass({ kind: 'signature', auth, payload: payload.text })
    : deny('credential', 'unsupported_content_encoding', {
        content_encoding: 'aws-chunked',
        reason: payload.kind,
      })
}

function orderOf({ integration: { integration } }: AdmittedCall, client: TokenClient): TokenOrder {
  const { organization_id, integration_id } = integration
  return { organization_id, integration_id, revision: JSON.stringify(integration), client }
}
