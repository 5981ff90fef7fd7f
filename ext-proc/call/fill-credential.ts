import { credentialTypeOf } from '../../core/credential/catalogue.ts'
import {
  applyCredential,
  type CredentialEffect,
  echoedSecret,
  sentSecret,
  type StaticCredential,
  withHeaders,
} from '../../core/decision/apply-credential.ts'
import type { EchoGuard } from '../../core/catalogue/model.ts'
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
  readonly raw_path: string
  /** Redacted in response headers; null if nothing is. */
  readonly echo_forms: RegExp | null
  /** What a body is withheld for; empty if bodies are not searched. One character per byte. */
  readonly echo_secrets: readonly string[]
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
    ? applyCredential(credential.auth, call.outgoing.raw_query, {
        raw_path: call.target.raw_path,
        base_segments: call.integration.base.segments.length,
      })
    : signCall(call, credential, now_ms)
  if (effect.kind === 'no_place') return denyCredential(call, { cause: 'no_placeholder' })
  if (effect.kind !== 'applied') return denyCredential(call, { cause: 'not_a_header' })
  const guard = guardOf(call)
  return pass({
    headers: effect.headers,
    raw_query: effect.raw_query,
    raw_path: effect.raw_path ?? call.target.raw_path,
    echo_forms: isStatic
      ? formsOf(credential.auth, guard !== 'off', effect)
      : guard === 'off'
        ? null
        : echoForms(null, partsOf(effect)),
    echo_secrets: guard === 'full' ? secretsOf(credential, effect.headers) : [],
    onUnauthorized: credential.onUnauthorized,
  })
}

/** A scope that scans responses guards their bodies too. */
function guardOf({ integration, settings }: AdmittedCall): EchoGuard {
  const { enabled, scan_responses } = settings.injection
  return enabled && scan_responses ? 'full' : (integration.integration.echo_guard ?? 'off')
}

/**
 * The secrets that were sent. A signature proves nothing about other requests, its time and hash occur in bodies; and a user name
 * is one only where it stands for a key, without a password.
 */
function secretsOf(credential: ReadyCredential, headers: readonly Header[]): readonly string[] {
  const { auth } = credential
  if (credential.kind === 'signature') {
    const sent = sentSecret(credential.auth)
    return sent === null ? [] : [latin1(sent.reveal())]
  }
  const named = echoedSecret(credential.auth)
  if (named !== null) return [latin1(named.reveal())]
  if (auth.type !== 'basic') return headers.map(({ value }) => value.replace(SCHEME, ''))
  const [user, password] = [auth.username.reveal(), auth.password.reveal()]
  return [`${user}:${password}`, password === '' ? user : password].map(latin1)
}

/** With and without the parts of headers; a credential is the same for all of its calls, and its patterns are costly to make. */
const FORMS = {
  guarded: new WeakMap<object, RegExp | 'none'>(),
  plain: new WeakMap<object, RegExp | 'none'>(),
}

function formsOf(
  auth: StaticCredential,
  isGuarded: boolean,
  effect: Extract<CredentialEffect, { kind: 'applied' }>,
): RegExp | null {
  const known = isGuarded ? FORMS.guarded : FORMS.plain
  const key = auth.type === 'bearer' ? auth.token : auth
  let forms = known.get(key)
  if (forms === undefined) {
    forms = echoForms(echoedSecret(auth), isGuarded ? partsOf(effect) : []) ?? 'none'
    known.set(key, forms)
  }
  return forms === 'none' ? null : forms
}

const latin1 = (text: string): string => Buffer.from(text, 'utf8').toString('latin1')

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
