import { brotliDecompressSync, gunzipSync, inflateRawSync, inflateSync } from 'node:zlib'
import { Decompress } from 'fzstd'
import { beginsLikeJson } from './begins-like-json.ts'

export type Inflated =
  | { readonly kind: 'inflated'; readonly bytes: Buffer; readonly was_compressed: boolean }
  /** The encoding is unknown or the bytes do not match it, so it is not known what the upstream would read. */
  | { readonly kind: 'unsupported'; readonly content_encoding: string }
  | { readonly kind: 'too_large'; readonly limit_bytes: number }

/** More layers than any client sends; each is a full pass over the body. */
const LARGEST_LAYER_COUNT = 3
/** RFC 8878 requires decoders to support at least 8 MiB; a header may claim terabytes. */
const ZSTD_WINDOW_BYTES = 8 * 1024 * 1024
const ZSTD_CHUNK_BYTES = 65_536

class TooLarge extends Error {}

/** Window sizes and block lengths are read before anything is decompressed, so that no frame can reserve memory. */
const checkZstdFrames = (bytes: Buffer): boolean => {
  let at = 0
  while (at < bytes.length) {
    if (at + 6 > bytes.length) return false
    const magic = bytes.readUInt32LE(at)
    if ((magic & 0xfffffff0) >>> 0 === 0x184d2a50) {
      if (at + 8 > bytes.length) return false
      at += 8 + bytes.readUInt32LE(at + 4)
      continue
    }
    if (magic !== 0xfd2fb528) return false
    const descriptor = bytes[at + 4] as number
    const isSingleSegment = (descriptor & 0x20) !== 0
    const dictionaryBytes = [0, 1, 2, 4][descriptor & 3] as number
    const sizeBytes = descriptor >> 6 === 0 ? (isSingleSegment ? 1 : 0) : 1 << (descriptor >> 6)
    if (!isSingleSegment) {
      const window = bytes[at + 5] as number
      const base = 2 ** (10 + (window >> 3))
      if (base + (base / 8) * (window & 7) > ZSTD_WINDOW_BYTES) return false
    }
    let next = at + 5 + (isSingleSegment ? 0 : 1) + dictionaryBytes
    if (next + sizeBytes > bytes.length) return false
    if (isSingleSegment) {
      const size =
        sizeBytes === 8 ? Number(bytes.readBigUInt64LE(next)) : bytes.readUIntLE(next, sizeBytes)
      if (size > ZSTD_WINDOW_BYTES) return false
    }
    next += sizeBytes
    for (;;) {
      if (next + 3 > bytes.length) return false
      const header = bytes.readUIntLE(next, 3)
      next += 3 + (((header >> 1) & 3) === 1 ? 1 : header >> 3)
      if ((header & 1) === 1) break
    }
    at = next + ((descriptor & 4) === 0 ? 0 : 4)
  }
  return at === bytes.length
}

const inflateZstd = (bytes: Buffer, limit: number): Buffer => {
  if (!checkZstdFrames(bytes)) throw new Error('not a Zstandard stream this gateway reads')
  const chunks: Uint8Array[] = []
  let total = 0
  const stream = new Decompress((chunk) => {
    total += chunk.length
    if (total > limit) throw new TooLarge()
    chunks.push(chunk)
  })
  for (let at = 0; at < bytes.length; at += ZSTD_CHUNK_BYTES) {
    stream.push(bytes.subarray(at, at + ZSTD_CHUNK_BYTES), at + ZSTD_CHUNK_BYTES >= bytes.length)
  }
  return Buffer.concat(chunks)
}

const inflateDeflate = (bytes: Buffer, limit: number, of: MessageKind): Buffer => {
  try {
    return inflateSync(bytes, { maxOutputLength: limit })
  } catch (error) {
    if (isTooLarge(error) || of === 'request') throw error
    return inflateRawSync(bytes, { maxOutputLength: limit })
  }
}

const isTooLarge = (error: unknown): boolean =>
  error instanceof TooLarge || (error as { code?: string }).code === 'ERR_BUFFER_TOO_LARGE'

const inflateOne = (
  encoding: string,
  bytes: Buffer,
  limit: number,
  of: MessageKind,
): Buffer | null => {
  switch (encoding) {
    case 'gzip':
    case 'x-gzip':
      return gunzipSync(bytes, { maxOutputLength: limit })
    case 'deflate':
      return inflateDeflate(bytes, limit, of)
    case 'br':
      return brotliDecompressSync(bytes, { maxOutputLength: limit })
    case 'zstd':
      return inflateZstd(bytes, limit)
    default:
      return null
  }
}

/**
 * Some servers send DEFLATE without the zlib header that RFC 9110 requires. It is not accepted in a request: nearly any text
 * can be made to begin with such a stream, and an upstream that ignores encodings would read the text.
 */
export type MessageKind = 'request' | 'response'

/** Undoes the content encodings of a body, last applied first, never to more than `limit_bytes`. */
export const inflateBody = (
  body: Buffer,
  content_encoding: string | null,
  limit_bytes: number,
  of: MessageKind,
): Inflated => {
  if (content_encoding === null) return { kind: 'inflated', bytes: body, was_compressed: false }
  const names = content_encoding
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '' && name !== 'identity')
  const unsupported = {
    kind: 'unsupported',
    content_encoding: content_encoding.slice(0, 100),
  } as const
  if (names.length > LARGEST_LAYER_COUNT) return unsupported
  let bytes = body
  for (const name of names.reverse()) {
    if (bytes.length === 0) break
    // A text can be crafted that is also a DEFLATE stream; an upstream that ignores encodings would read the text.
    if (beginsLikeJson(bytes)) return unsupported
    try {
      const inflated = inflateOne(name, bytes, limit_bytes, of)
      if (inflated === null) return unsupported
      bytes = inflated
    } catch (error) {
      return isTooLarge(error) ? { kind: 'too_large', limit_bytes } : unsupported
    }
  }
  return { kind: 'inflated', bytes, was_compressed: names.length > 0 }
}
