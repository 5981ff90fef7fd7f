import type { Header } from '../../core/policy/header.ts'
import { isS3 } from './canonical-request.ts'
import { hashBody } from './hash-body.ts'

export type Payload =
  | { readonly kind: 'payload'; readonly text: string }
  /** The caller has signed each chunk of the body with a key that the API does not know. */
  | { readonly kind: 'signed_chunks' }

/** The body is in chunks of AWS's own, none of them signed; the signature covers this word in place of a hash. */
const UNSIGNED_CHUNKS = 'STREAMING-UNSIGNED-PAYLOAD-TRAILER'

/** S3 takes bodies that are not signed, which TLS must protect then; so they stream through at any size. */
export const needsHash = (service: string, scheme: 'http' | 'https'): boolean =>
  !(isS3(service) && scheme === 'https')

/** What a signature says of the body: its hash where it is held, else that it is not signed. */
export async function payloadOf(
  service: string,
  scheme: 'http' | 'https',
  headers: readonly Header[],
  body: Buffer | null,
): Promise<Payload> {
  const said = headers.find(({ name }) => name === 'x-amz-content-sha256')?.value.trim() ?? ''
  const must_hash = needsHash(service, scheme)
  if (said.startsWith('STREAMING-'))
    return said === UNSIGNED_CHUNKS && !must_hash
      ? { kind: 'payload', text: said }
      : { kind: 'signed_chunks' }
  if (body !== null) return { kind: 'payload', text: await hashBody(body) }
  if (must_hash) throw new Error('a body that must be signed was not held')
  return { kind: 'payload', text: 'UNSIGNED-PAYLOAD' }
}
