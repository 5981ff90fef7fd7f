import { createHash, webcrypto } from 'node:crypto'

/** Larger bodies are hashed off the event loop, which they would block for more than 0.2 ms. */
const INLINE_LIMIT_BYTES = 131_072

/** SHA-256 in lower-case hex. */
export function hashBody(body: Buffer): string | Promise<string> {
  if (body.length <= INLINE_LIMIT_BYTES) return createHash('sha256').update(body).digest('hex')
  return webcrypto.subtle.digest('SHA-256', body).then((hash) => Buffer.from(hash).toString('hex'))
}
