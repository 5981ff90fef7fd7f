import { fromEbcdic } from '../decode/from-ebcdic.ts'

/** Charset labels whose texts the scanner can read as UTF-8. */
const AS_UTF8 = /^(?:utf-?8|us-ascii|ascii|iso-8859-1|latin1|windows-1252)$/

/** All have the letters, digits and blanks of code page 037. */
const EBCDIC =
  /^(?:(?:cs)?ebcdic.*|(?:cs|x-)?(?:ibm|cp|ccsid)[-_]?0*(?:37|2[7-9]\d|420|42[34]|500|83[38]|87[015]|880|905|918|924|102[56]|1047|1112|112[23]|11[34]\d))$/

const UTF16_PROBE_BYTES = 512
const UTF16_ZEROS = 4

const PARAMETERS = {
  boundary: /;\s*boundary\s*=\s*(?:"([^"]*)"|([^;\s]+))/i,
  charset: /;\s*charset\s*=\s*(?:"([^"]*)"|([^;\s]+))/i,
} as const

export const parameterOf = (
  contentType: string | null,
  name: keyof typeof PARAMETERS,
): string | null => {
  if (contentType === null || !contentType.includes(';')) return null
  const match = PARAMETERS[name].exec(contentType)
  return match?.[1] ?? match?.[2] ?? null
}

const isUtf16 = (body: Buffer): 'utf-16le' | 'utf-16be' | null => {
  if (body[0] === 0xff && body[1] === 0xfe) return 'utf-16le'
  if (body[0] === 0xfe && body[1] === 0xff) return 'utf-16be'
  // Without a byte-order mark: ASCII characters in UTF-16 have a zero in every second byte, and only there.
  const probe = Math.min(body.length & ~1, UTF16_PROBE_BYTES)
  const zero = body.indexOf(0)
  if (zero < 0 || zero >= probe) return null
  let even = 0
  let odd = 0
  for (let i = 0; i < probe; i += 2) {
    if (body[i] === 0) even += 1
    if (body[i + 1] === 0) odd += 1
  }
  if (odd >= UTF16_ZEROS && even === 0) return 'utf-16le'
  return even >= UTF16_ZEROS && odd === 0 ? 'utf-16be' : null
}

const isUtf32 = (body: Buffer): boolean =>
  body.length >= 8 &&
  body.length % 4 === 0 &&
  ((body[1] === 0 && body[2] === 0 && body[3] === 0) ||
    (body[0] === 0 && body[1] === 0 && body[2] === 0))

const fromUtf32 = (body: Buffer): Buffer => {
  const isBig = body[0] === 0
  let text = ''
  for (let i = 0; i + 4 <= body.length; i += 4) {
    const codePoint = isBig ? body.readUInt32BE(i) : body.readUInt32LE(i)
    text += codePoint <= 0x10ffff ? String.fromCodePoint(codePoint) : '\ufffd'
  }
  return Buffer.from(text)
}

/** The wide encoding (UTF-16 or UTF-32) of bytes, according to their beginning. */
export const wideCharset = (body: Buffer): 'utf-16le' | 'utf-16be' | 'utf-32' | null =>
  isUtf32(body) ? 'utf-32' : isUtf16(body)

/** Converts bytes in a wide encoding to UTF-8. */
export const decodeWide = (
  body: Buffer,
  charset: NonNullable<ReturnType<typeof wideCharset>>,
): Buffer =>
  charset === 'utf-32' ? fromUtf32(body) : Buffer.from(new TextDecoder(charset).decode(body))

/** The body converted to UTF-8 if it has or claims another encoding; null if no conversion is needed. */
export const decodeCharset = (body: Buffer, contentType: string | null): Buffer | null => {
  const wide = wideCharset(body)
  if (wide !== null) return decodeWide(body, wide)
  const label = parameterOf(contentType, 'charset')?.toLowerCase() ?? 'utf-8'
  if (AS_UTF8.test(label)) return null
  if (label === 'utf-7') return fromUtf7(body)
  if (EBCDIC.test(label)) return fromEbcdic(body, true)
  try {
    return Buffer.from(new TextDecoder(label).decode(body))
  } catch {
    return fromEbcdic(body)
  }
}

const fromUtf7 = (body: Buffer): Buffer =>
  Buffer.from(
    body.toString('latin1').replace(/\+([A-Za-z0-9+/]*)-?/g, (_, run: string) => {
      if (run === '') return '+'
      const units = Buffer.from(run, 'base64')
      return Buffer.from(units.subarray(0, units.length & ~1))
        .swap16()
        .toString('utf16le')
    }),
  )
