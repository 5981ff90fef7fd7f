import { decodeOnce } from '../../core/request/decode-path.ts'

/** As often as anything between a client and this gateway may decode. */
const DECODING_ROUNDS = 4

/**
 * A path as it is written, and as it reads after each round of percent-decoding until nothing changes. Null if it is
 * encoded more often than any reader decodes, which is meant to deceive.
 */
export function pathDecodings(path: string): readonly string[] | null {
  const texts = [path]
  let text = path
  for (let round = 0; round < DECODING_ROUNDS; round++) {
    const decoded = decodeOnce(text)
    if (decoded === text) return texts
    texts.push(decoded)
    text = decoded
  }
  return null
}
