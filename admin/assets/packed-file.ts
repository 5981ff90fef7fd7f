import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { acceptedEncoding } from '../http/accepted-encoding.ts'
import type { DashboardFile } from './dashboard-files.ts'

/** Nearly the smallest that Brotli makes, in a tenth of the time. */
const BROTLI_QUALITY = 9

export interface PackedFile {
  readonly encoding: 'br' | 'gzip' | null
  /** Another for each encoding, since the bytes differ. */
  readonly etag: string
  readonly body: string | Buffer
}

/**
 * A file in the best encoding that a request accepts; each is made when it is first asked for. On a slow line the console is usable
 * three times as soon.
 */
export function packedFile({ text, etag }: DashboardFile): (accepted: string) => PackedFile {
  const known = new Map<string, PackedFile>()
  const make = (encoding: 'br' | 'gzip'): PackedFile => ({
    encoding,
    etag: etag.replace(/"$/, `-${encoding}"`),
    body:
      encoding === 'br'
        ? brotliCompressSync(text, {
            params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY },
          })
        : gzipSync(text),
  })
  return (accepted) => {
    const encoding = acceptedEncoding(accepted)
    if (encoding === null) return { encoding, etag, body: text }
    const packed = known.get(encoding) ?? make(encoding)
    known.set(encoding, packed)
    return packed
  }
}
