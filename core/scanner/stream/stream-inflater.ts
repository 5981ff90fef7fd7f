import {
  type BrotliDecompress,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  type Gunzip,
  type Inflate,
} from 'node:zlib'

/** Maximum size of one inflated chunk. Stops decompression bombs; an ordinary chunk is a thousand times smaller. */
const INFLATED_CHUNK_BYTES = 8 * 1024 * 1024

export type InflatedChunk = Buffer | 'unsupported' | 'too_large'

/** Inflates a stream chunk by chunk; one at a time. */
export type StreamInflater = { inflate(chunk: Buffer): Promise<InflatedChunk>; close(): void }

const inflateWith = (stream: Gunzip | Inflate | BrotliDecompress): StreamInflater => {
  let chunks: Buffer[] = []
  let total = 0
  let failed = false
  stream.on('data', (chunk: Buffer) => {
    total += chunk.length
    if (total <= INFLATED_CHUNK_BYTES) chunks.push(chunk)
    else stream.destroy()
  })
  stream.on('error', () => {
    failed = true
  })
  return {
    inflate: async (chunk) => {
      chunks = []
      total = 0
      if (failed || stream.destroyed) return 'unsupported'
      await new Promise<void>((resume) => {
        stream.once('close', resume)
        stream.write(chunk, () => {
          stream.off('close', resume)
          resume()
        })
      })
      if (total > INFLATED_CHUNK_BYTES) return 'too_large'
      return failed ? 'unsupported' : Buffer.concat(chunks)
    },
    close: () => stream.destroy(),
  }
}

/**
 * An inflater for one content encoding; null for one that is not supported. Zstandard is not: where zlib lacks it, no decoder
 * checks the window size before it reserves the memory.
 */
export const openStreamInflater = (
  content_encoding: string | null,
): StreamInflater | 'identity' | null => {
  switch ((content_encoding ?? '').trim().toLowerCase()) {
    case '':
    case 'identity':
      return 'identity'
    case 'gzip':
    case 'x-gzip':
      return inflateWith(createGunzip())
    case 'deflate':
      return inflateWith(createInflate())
    case 'br':
      return inflateWith(createBrotliDecompress())
    default:
      return null
  }
}
