import {
  credentialTypeOf,
  type OpenedAuth,
  type OpenedFor,
} from '../../core/credential/catalogue.ts'
import type { TokenClient } from '../../core/credential/credential-type.ts'
import type { PlainCredential } from '../../core/policy/apply-credential.ts'
import type { TokenFailure } from '../credential/credential-cause.ts'
import type { TokenOrder, TokenResult } from '../credential/token-cache.ts'
import { payloadOf } from '../credential/payload-of.ts'
import { type Call, given, refuse, type Step } from './call.ts'
import type { Answer } from './call-stream.ts'
import type { AskedCall } from './check-scope.ts'

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
export function askForToken({ parts }: Call, asked: AskedCall): void {
  const { integration } = asked.integration
  const auth = asked.organization.auth.get(integration.integration_id)
  const client = auth ? clientOf(auth) : null
  if (client !== null) void parts.tokens.get(orderOf(asked, client))
}

/**
 * Waits for a token where the integration needs one that is not at hand, or for the hash of a large body.
 * @param body as it goes to the API; null where it was not held.
 */
export function readyCredential(
  call: Call,
  asked: AskedCall,
  body: Buffer | null,
): Step<ReadyCredential> | Promise<Step<ReadyCredential>> {
  const { organization, integration } = asked
  const auth = organization.auth.get(integration.integration.integration_id) ?? null
  if (auth === null)
    return { ok: false, answer: denyCredential(call, asked, { cause: 'not_opened' }) }
  const client = clientOf(auth)
  if (client !== null) {
    const order = orderOf(asked, client)
    const found = call.parts.tokens.get(order)
    return found instanceof Promise
      ? found.then((result) => withToken(call, asked, order, result))
      : withToken(call, asked, order, found)
  }
  if (isSigned(auth)) return readySignature(call, asked, auth, body)
  return given({ kind: 'plain', auth: auth as PlainCredential, onUnauthorized: null })
}

/** Who asks for an access token, where the credential is applied in that way. */
function clientOf(auth: OpenedAuth): TokenClient | null {
  const { application } = credentialTypeOf(auth.type)
  return application.kind === 'token' ? application.clientOf(auth) : null
}

const isSigned = (auth: OpenedAuth): auth is OpenedFor<'signature'> =>
  credentialTypeOf(auth.type).application.kind === 'signature'

/** What the caller is told; `data` is for the operator. */
export const denyCredential = (
  { record }: Call,
  { integration }: AskedCall,
  data: Partial<TokenFailure> & Pick<TokenFailure, 'cause'>,
): Answer => {
  const details = { base_url: integration.base.base_url }
  record.mark('credential', 'deny')
  return {
    kind: 'deny',
    denial: { reason: 'credential_unavailable', details, data: { ...details, ...data } },
  }
}

function withToken(
  call: Call,
  asked: AskedCall,
  order: TokenOrder,
  result: TokenResult,
): Step<ReadyCredential> {
  if (result.kind === 'failed')
    return { ok: false, answer: denyCredential(call, asked, result.failure) }
  const { token } = result
  return given({
    kind: 'plain',
    auth: { type: 'bearer', token },
    onUnauthorized: () => call.parts.tokens.rejected(order, token),
  })
}

async function readySignature(
  { headers, record }: Call,
  { integration }: AskedCall,
  auth: OpenedFor<'signature'>,
  body: Buffer | null,
): Promise<Step<ReadyCredential>> {
  const payload = await payloadOf(auth, integration.base.scheme, headers, body)
  return payload.kind === 'payload'
    ? given({ kind: 'signature', auth, payload: payload.text })
    : refuse(record, 'credential', 'unsupported_content_encoding', {
        content_encoding: 'aws-chunked',
        reason: payload.kind,
      })
}

function orderOf({ integration: { integration } }: AskedCall, client: TokenClient): TokenOrder {
  const { organization_id, integration_id } = integration
  return { organization_id, integration_id, revision: JSON.stringify(integration), client }
}
