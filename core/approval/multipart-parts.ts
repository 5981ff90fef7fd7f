import { createHash } from 'node:crypto'
import type { Header } from '../request/header.ts'

/** A multipart body without its boundary, which clients draw for each request. */
export interface MultipartBody {
  /** `Content-Type` with an empty boundary. */
  readonly content_type: string
  /** The header lines of each part as they are, and the SHA-256 of its content in hex. */
  readonly parts: readonly (readonly [head: string, sha256: string])[]
}

const BOUNDARY =
  /^(multipart\/[!#$&^_.+a-z0-9-]+(?:\s*;[^"]*)?;\s*boundary=)(?:"([0-9a-z'()+_,./:=? -]{1,70})"|([0-9a-z'+_./-]{1,70}))(\s*(?:;.*)?)$/i
/** More have a digest of their bytes as a whole. */
const PARTS_MAX = 1_000
/** Of `Content-Type`. */
const TYPE_LENGTH_MAX = 1_000
const CRLF = '\r\n'

/**
 * The parts of a body that every reader splits alike; null for any other body, of which all bytes count. The boundary stands nowhere but
 * between the parts, with the line ends of the standard and nothing before the first or after the last one. Otherwise another boundary
 * could split the same parts in another way.
 */
export function multipartParts(headers: readonly Header[], body: Buffer): MultipartBody | null {
  const types = headers.filter(({ name }) => name === 'content-type')
  const [type] = types
  if (type === undefined || types.length > 1 || type.value.length > TYPE_LENGTH_MAX) return null
  if (headers.some(({ name }) => name === 'content-encoding')) return null
  if ((type.value.match(/boundary/gi) ?? []).length !== 1) return null
  const [, before = '', quoted, plain, after = ''] = BOUNDARY.exec(type.value) ?? []
  const boundary = quoted ?? plain
  if (boundary === undefined || boundary.endsWith(' ')) return null
  const pieces = split(body, `--${boundary}`)
  return pieces === null ? null : { content_type: `${before}${after}`, parts: pieces }
}

function split(body: Buffer, delimiter: string): MultipartBody['parts'] | null {
  const parts: (readonly [string, string])[] = []
  const mark = Buffer.from(delimiter, 'latin1')
  let at = body.indexOf(mark)
  if (at !== 0) return null
  for (;;) {
    const from = at + mark.length
    const next = body.toString('latin1', from, from + 4)
    if (next.startsWith('--')) {
      const isLast = from + 2 === body.length || body.toString('latin1', from + 2) === CRLF
      return isLast && parts.length > 0 ? parts : null
    }
    if (!next.startsWith(CRLF) || parts.length >= PARTS_MAX) return null
    at = body.indexOf(mark, from)
    // The line end before a delimiter belongs to it.
    if (at < from + 4 || body.toString('latin1', at - 2, at) !== CRLF) return null
    const part = readPart(body.subarray(from + 2, at - 2))
    if (part === null) return null
    parts.push(part)
  }
}

/** The header lines and the content; null if there is no empty line between them. */
function readPart(part: Buffer): readonly [string, string] | null {
  const isBare = part.subarray(0, 2).toString('latin1') === CRLF
  const end = isBare ? 0 : part.indexOf(CRLF + CRLF)
  if (end < 0) return null
  const content = part.subarray(end + (isBare ? 2 : 4))
  return [part.toString('latin1', 0, end), sha256(content)]
}

export const sha256 = (bytes: Buffer | string): string =>
  createHash('sha256').update(bytes).digest('hex')
