import { credentialTypeOf, type OpenedFor } from '../../core/credential/catalogue.ts'
import type { Payload, Scheme } from '../../core/credential/credential-type.ts'
import type { Header } from '../../core/request/header.ts'
import { hashBody } from './hash-body.ts'

export type SignedPayload =
  | { readonly kind: 'payload'; readonly text: string }
  | { readonly kind: 'too_large'; readonly limit_bytes: number }
  | Extract<Payload, { readonly kind: 'refused' }>

/** A signature over the body itself is made on the event loop, in about a millisecond. */
const BODY_MAX_BYTES = 1 << 20

/** What the signature covers of the body: the body, its hash, or a placeholder for it. */
export async function payloadOf(
  auth: OpenedFor<'signature'>,
  scheme: Scheme,
  headers: readonly Header[],
  body: Buffer | null,
): Promise<SignedPayload> {
  const { application } = credentialTypeOf(auth.type)
  if (application.kind !== 'signature') throw new Error(`${auth.type} does not sign`)
  const payload = application.payload(auth, { scheme, headers, is_buffered: body !== null })
  switch (payload.kind) {
    case 'literal':
      return { kind: 'payload', text: payload.text }
    case 'refused':
      return payload
    case 'body':
      if (body === null) throw new Error('a body that must be signed was not buffered')
      if (body.length > BODY_MAX_BYTES) return { kind: 'too_large', limit_bytes: BODY_MAX_BYTES }
      return { kind: 'payload', text: body.toString('latin1') }
    case 'hash':
      if (body === null) throw new Error('a body that must be signed was not buffered')
      return { kind: 'payload', text: await hashBody(body) }
  }
}
