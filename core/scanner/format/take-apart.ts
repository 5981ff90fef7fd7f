import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib'
import { decodeCharset } from './charset.ts'
import { inflateBody } from './inflate-body.ts'
import { boundaryOf, type Part, readMultipart } from './multipart.ts'
import { eachPair, spacesForPlus } from './pairs.ts'
import { isBinary, readableRuns } from './readable-runs.ts'
import type { Source } from './source.ts'
import { joinShort } from './split-values.ts'
import { wideRuns } from './wide-runs.ts'

/** A form inside a part of a form is a text. */
const DEEPEST_NESTING = 2
/** Short values of a form that are read as one text. */
const MOST_VALUES = 256

const firstByte = (body: Buffer): number => {
  let i = body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf ? 3 : 0
  while (i < body.length && (body[i] as number) <= 0x20) i += 1
  return body[i] ?? 0
}

const looksLikeForm = (body: Buffer): boolean => {
  const head = body.toString('latin1', 0, 4_096)
  return /^[^\s=&<{["]{1,200}=/.test(head) && !/[\s<>{}"]/.test(head)
}

/** Compressed without a content encoding: some servers detect this by themselves. Brotli has no sign, so any binary bytes may be it. */
const inflateUnannounced = (body: Buffer, limit_bytes: number): Buffer | null => {
  const inflate = decoderOf(body)
  if (inflate === null) return null
  try {
    return inflate(body, { maxOutputLength: limit_bytes })
  } catch {
    return null
  }
}

const decoderOf = (body: Buffer): typeof gunzipSync | null => {
  if (body[0] === 0x1f && body[1] === 0x8b) return gunzipSync
  if (!isBinary(body)) return null
  const isZlib =
    ((body[0] as number) & 15) === 8 && body.length > 1 && body.readUInt16BE(0) % 31 === 0
  return isZlib ? inflateSync : brotliDecompressSync
}

/**
 * The texts to scan in a body, according to its bytes rather than its content type. If bytes can be read in two ways, both are
 * scanned.
 */
export const takeApart = (
  body: Buffer,
  contentType: string | null,
  location: string,
  limit_bytes: number,
  nesting = 0,
): Source[] => {
  if (body.length === 0) return []
  const inflated = nesting < DEEPEST_NESTING ? inflateUnannounced(body, limit_bytes) : null
  if (inflated !== null)
    return [
      ...takeApart(inflated, contentType, location, limit_bytes, nesting + 1),
      ...takeApart(body, contentType, location, limit_bytes, DEEPEST_NESTING),
    ]
  const decoded = decodeCharset(body, contentType)
  if (decoded !== null && nesting < DEEPEST_NESTING) {
    return [
      ...takeApart(decoded, null, location, limit_bytes, nesting + 1),
      asItStands(body, location),
    ]
  }
  const boundary = nesting < DEEPEST_NESTING ? boundaryOf(body, contentType) : null
  if (boundary !== null) {
    const parts = readMultipart(body, boundary, location)
    const sources = parts.flatMap((part) =>
      [part.headers, ...inflatedPart(part, limit_bytes), part.bytes].flatMap((one) =>
        Buffer.isBuffer(one)
          ? takeApart(one, part.content_type, part.name, limit_bytes, nesting + 1)
          : [one],
      ),
    )
    const joined = joinShort(parts.map(({ bytes }) => withoutLineEnd(bytes)))
    if (joined !== null) sources.push({ bytes: joined, format: 'text', location })
    if (parts.length > 0) return [...sources, asItStands(body, location)]
  }
  const first = firstByte(body)
  if (first === 0x7b || first === 0x5b || first === 0x22)
    return [{ bytes: body, format: 'json', location }]
  if (looksLikeForm(body) || /^\s*application\/x-www-form-urlencoded/i.test(contentType ?? '')) {
    return pairSources(body, location)
  }
  return isBinary(body)
    ? binarySources(body, location)
    : [{ bytes: body, format: 'text', location }]
}

/** What a part contains for a server that undoes its encoding. */
const inflatedPart = ({ bytes, content_encoding }: Part, limit_bytes: number): Buffer[] => {
  if (content_encoding === null) return []
  const body = withoutLineEnd(bytes)
  const inflated = inflateBody(body, content_encoding, limit_bytes, 'response')
  return inflated.kind === 'inflated' && inflated.was_compressed ? [inflated.bytes] : []
}

const withoutLineEnd = (bytes: Buffer): Buffer => {
  const isCrlf = bytes.at(-1) === 0x0a && bytes.at(-2) === 0x0d
  return bytes.subarray(0, bytes.length - (isCrlf ? 2 : 0))
}

/** A form: its pairs, its short values as one text, and its bytes. */
const pairSources = (body: Buffer, location: string): Source[] => {
  const bytes = spacesForPlus(body)
  const values: Buffer[] = []
  eachPair(bytes, ({ name_end, value_end }) => {
    if (values.length < MOST_VALUES) values.push(bytes.subarray(name_end + 1, value_end))
  })
  const joined = joinShort(values)
  return [
    { bytes, format: 'pairs', location },
    ...(joined === null ? [] : [{ bytes: joined, format: 'text' as const, location }]),
    asItStands(body, location),
  ]
}

/** The raw bytes, in addition to the decoded text. */
export const asItStands = (body: Buffer, location: string): Source => ({
  bytes: body,
  format: 'text',
  location,
  is_noise: isBinary(body),
})

/** The texts in an image, an archive or a file of another format. Single words within noise mean nothing to the model. */
export const binarySources = (body: Buffer, location: string): Source[] => {
  const sources: Source[] = []
  const { words, sentences } = readableRuns(body)
  if (words !== null) sources.push({ bytes: words, format: 'text', location, is_noise: true })
  for (const bytes of [sentences, wideRuns(body)])
    if (bytes !== null) sources.push({ bytes, format: 'text', location })
  return sources
}
