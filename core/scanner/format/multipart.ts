import { parameterOf } from './charset.ts'
import type { Source } from './source.ts'

/** More parts than any form has; the rest is scanned as one text. */
const LARGEST_PART_COUNT = 1_000

const SNIFFED_BYTES = 2_048
/** The single-byte white space of regular expressions. */
const SPACES: ReadonlySet<number> = new Set([0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x20, 0xa0])

/** Checked without a copy, since it runs for every body. */
const beginsWithDash = (body: Buffer): boolean => {
  let i = 0
  while (i < SNIFFED_BYTES && SPACES.has(body[i] ?? 0)) i += 1
  return body[i] === 0x2d
}

/** The boundary of the content type, or the one at the beginning of the body. */
export const boundaryOf = (body: Buffer, contentType: string | null): string | null => {
  const named = /^\s*multipart\//i.test(contentType ?? '')
    ? parameterOf(contentType, 'boundary')
    : null
  if (named !== null && named !== '') return named
  if (!beginsWithDash(body)) return null
  const head = body.toString('latin1', 0, SNIFFED_BYTES)
  const sniffed = /^\s*--([^\r\n]{1,70})\r?\n(?:[\w-]+:[^\r\n]*\r?\n)*content-disposition:/i.exec(
    head,
  )
  return sniffed?.[1] ?? null
}

const fromQuotedPrintable = (bytes: Buffer): Buffer =>
  Buffer.from(
    bytes
      .toString('latin1')
      .replace(/=\r?\n/g, '')
      .replace(/=([0-9a-fA-F]{2})/g, (_, hex: string) =>
        String.fromCharCode(Number.parseInt(hex, 16)),
      ),
    'latin1',
  )

const decodePart = (headers: string, bytes: Buffer): Buffer => {
  const encoding = /^content-transfer-encoding:\s*(\S+)/im.exec(headers)?.[1]?.toLowerCase()
  if (encoding === 'base64') return Buffer.from(bytes.toString('latin1'), 'base64')
  return encoding === 'quoted-printable' ? fromQuotedPrintable(bytes) : bytes
}

/** A part between two boundaries: its headers, and its bytes after transfer decoding. */
export type Part = {
  readonly name: string
  readonly content_type: string | null
  readonly content_encoding: string | null
  readonly headers: Source
  readonly bytes: Buffer
}

const readPart = (part: Buffer, index: number, location: string): Part => {
  const crlf = part.indexOf('\r\n\r\n')
  const lf = part.indexOf('\n\n')
  const isCrlf = crlf >= 0 && (lf < 0 || crlf < lf)
  const split = isCrlf ? crlf : lf
  const head = split < 0 ? part.subarray(0, 0) : part.subarray(0, split)
  const headers = head.toString('latin1')
  const name = /\bname\s*=\s*(?:"([^"]*)"|([^;\s]+))/i.exec(headers)
  const label = `${location}.${(name?.[1] ?? name?.[2] ?? `part${index}`).slice(0, 64)}`
  return {
    name: label,
    content_type: /^content-type:\s*([^\r\n]+)/im.exec(headers)?.[1] ?? null,
    content_encoding: /^content-encoding:\s*([^\r\n]+)/im.exec(headers)?.[1] ?? null,
    headers: { bytes: head, format: 'text', location: `${label}.headers` },
    bytes: decodePart(headers, split < 0 ? part : part.subarray(split + (isCrlf ? 4 : 2))),
  }
}

export const readMultipart = (body: Buffer, boundary: string, location: string): Part[] => {
  const marker = Buffer.from(`--${boundary}`, 'latin1')
  const parts: Part[] = []
  let at = body.indexOf(marker)
  while (at >= 0 && parts.length < LARGEST_PART_COUNT) {
    const start = at + marker.length
    const next = body.indexOf(marker, start)
    const part = body.subarray(start, next < 0 ? body.length : next)
    if (part.length > 4) parts.push(readPart(part, parts.length, location))
    at = next
  }
  return parts
}
