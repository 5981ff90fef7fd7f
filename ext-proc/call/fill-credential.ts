import { credentialTypeOf } from '../../core/credential/catalogue.ts'
import {
  applyCredential,
  type CredentialEffect,
  echoedSecret,
  withHeaders,
} from '../../core/decision/apply-credential.ts'
import { authorityOf } from '../../core/request/authority-of.ts'
import type { Header } from '../../core/request/header.ts'
import { Secret } from '../../core/keys/secret.ts'
import { echoForms } from '../response/echo-forms.ts'
import { pass, type Step } from '../verdict/step.ts'
import type { AdmittedCall } from './admit-call.ts'
import { denyCredential, type ReadyCredential } from './ready-credential.ts'

/** What a credential adds to a request; from here on it is in the clear. */
export interface FilledCredential {
  readonly headers: readonly Header[]
  /** The whole query, with a credential that is a parameter. */
  readonly raw_query: string | null
  /** Redacted in response headers; null if nothing is. */
  readonly echo_forms: RegExp | null
  /** Called when the API responds with 401; null if the next call would use the same credential anyway. */
  readonly onUnauthorized: (() => void) | null
}

/** Puts a credential into the request, or signs the request with it. */
export function fillCredential(
  call: AdmittedCall,
  credential: ReadyCredential,
  now_ms: number,
): Step<FilledCredential> {
  const isStatic = credential.kind === 'static'
  const effect = isStatic
    ? applyCredential(credential.auth, call.outgoing.raw_query)
    : signCall(call, credential, now_ms)
  if (effect.kind !== 'applied') return denyCredential(call, { cause: 'not_a_header' })
  return pass({
    headers: effect.headers,
    raw_query: effect.raw_query,
    echo_forms: echoForms(
      isStatic ? echoedSecret(credential.auth) : null,
      call.integration.integration.echo_guard === 'headers' ? partsOf(effect) : [],
    ),
    onUnauthorized: credential.onUnauthorized,
  })
}

const SCHEME = /^[a-z][a-z0-9_-]*\s+/i

/** What an API can repeat of the credential: each header without its scheme, and user name and password. */
function partsOf({ headers }: Extract<CredentialEffect, { kind: 'applied' }>): readonly Secret[] {
  return headers.flatMap(({ value }) => {
    const text = value.replace(SCHEME, '')
    const pair = /^basic\s/i.test(value) ? Buffer.from(text, 'base64').toString('latin1') : ''
    return [text, pair, ...pair.split(':')].map((part) => new Secret(part))
  })
}

/** Signs the request as the API will see it. */
function signCall(
  { head, integration, target, outgoing }: AdmittedCall,
  { auth, payload }: Extract<ReadyCredential, { readonly kind: 'signature' }>,
  now_ms: number,
): CredentialEffect {
  const { application } = credentialTypeOf(auth.type)
  if (application.kind !== 'signature') throw new Error(`${auth.type} does not sign`)
  const { raw_query } = outgoing
  const kept = outgoing.headers.filter(({ name }) => application.signs(name))
  const signed = application.sign(
    auth,
    {
      method: head.method,
      raw_path: target.raw_path,
      raw_query,
      headers: [{ name: 'host', value: authorityOf(integration.base) }, ...kept],
      payload,
    },
    now_ms,
  )
  return withHeaders(signed, raw_query)
}
