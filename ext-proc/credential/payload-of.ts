import { credentialTypeOf, type OpenedFor } from '../../core/credential/catalogue.ts'
import type { Payload, Scheme } from '../../core/credential/credential-type.ts'
import type { Header } from '../../core/request/header.ts'
import { hashBody } from './hash-body.ts'

export type SignedPayload =
  | { readonly kind: 'payload'; readonly text: string }
  | Extract<Payload, { readonly kind: 'refused' }>

/** What the signature covers of the body: its hash, or a placeholder for it. */
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
    case 'hash':
      if (body === null) throw new Error('a body that must be signed was not buffered')
      return { kind: 'payload', text: await hashBody(body) }
  }
}
