import { gunzipSync, inflateSync } from 'node:zlib'
import { HEX_VALUE } from '../text/byte-classes.ts'
import type { WindowView } from '../text/text-scanner.ts'
import { decodeBase32, decodeBase58 } from './decode-base.ts'
import type { DerivedText } from './derived-text.ts'
import { fromEbcdic } from './from-ebcdic.ts'

/** Base64 in mail is wrapped at 76 columns, in PEM at 64; shorter lines are lines of text. */
const WRAPPED_LINE_BYTES = 60
/** Fewer bytes than this cannot hide a sentence. */
const SHORTEST_BLOB_BYTES = 16
const SHORTEST_RUN_BYTES = 12

const BASE64 = new Uint8Array(256)
for (const character of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_') {
  BASE64[character.charCodeAt(0)] = 1
}

/** Where the run of Base64 characters around `at` begins and ends; it may contain line breaks, raw or escaped. */
const blobAround = (source: Buffer, at: number, floor: number): { start: number; end: number } => {
  let start = at
  while (start > floor && BASE64[source[start - 1] as number] === 1) start -= 1
  // The letter of an escape such as \n in front belongs to the escape.
  if (start > floor && source[start - 1] === 0x5c) start += 1
  let end = at
  let line = 0
  while (end < source.length) {
    const byte = source[end] as number
    if (BASE64[byte] === 1) {
      line += 1
      end += 1
    } else if (byte === 0x5c && source[end + 1] === 0x2f) end += 2
    else if (line >= WRAPPED_LINE_BYTES && (byte === 0x0a || byte === 0x0d)) {
      end += 1
      if (source[end] === 0x0a) end += 1
      line = 0
    } else if (
      line >= WRAPPED_LINE_BYTES &&
      byte === 0x5c &&
      (source[end + 1] === 0x6e || source[end + 1] === 0x72)
    ) {
      end += 2
      if (source[end] === 0x5c && source[end + 1] === 0x6e) end += 2
      line = 0
    } else break
  }
  while (source[end] === 0x3d) end += 1
  return { start, end }
}

const compact = (source: Buffer, start: number, end: number): Buffer => {
  const bytes = Buffer.allocUnsafe(end - start)
  let n = 0
  for (let i = start; i < end; i += 1) {
    const byte = source[i] as number
    if (byte === 0x5c) {
      if (source[i + 1] !== 0x2f) i += 1
    } else if (BASE64[byte] === 1) {
      bytes[n] = byte
      n += 1
    }
  }
  return bytes.subarray(0, n)
}

const isPrintable = (byte: number): boolean =>
  (byte >= 0x20 && byte < 0x7f) || byte === 0x0a || byte === 0x0d || byte === 0x09

/** The text in decoded bytes: all of it, as UTF-16 if every second byte is zero, or its readable runs. */
const textIn = (bytes: Buffer): Buffer | null => {
  const inflated = inflate(bytes)
  return inflated === null ? (plainTextIn(bytes) ?? fromEbcdic(bytes)) : plainTextIn(inflated)
}

/** A text does not shrink more than this; what does is a bomb, not a sentence. */
const LARGEST_INFLATED = { bytes: 4_096, times: 6 }

/** How often a window may still be decompressed: a failure costs 30 microseconds. */
let inflations = 0
const MOST_INFLATIONS = 4

/** What gzip or zlib compressed; null if nothing did. */
const inflate = (bytes: Buffer): Buffer | null => {
  const isGzip = bytes[0] === 0x1f && bytes[1] === 0x8b
  const isZlib = bytes[0] === 0x78 && [0x01, 0x5e, 0x9c, 0xda].includes(bytes[1] ?? 0)
  if ((!isGzip && !isZlib) || inflations === 0) return null
  inflations -= 1
  const maxOutputLength = Math.max(LARGEST_INFLATED.bytes, bytes.length * LARGEST_INFLATED.times)
  try {
    return isGzip ? gunzipSync(bytes, { maxOutputLength }) : inflateSync(bytes, { maxOutputLength })
  } catch {
    return null
  }
}

const plainTextIn = (bytes: Buffer): Buffer | null => {
  if (bytes.length < SHORTEST_RUN_BYTES - 2) return null
  let zeros = 0
  let readable = 0
  for (let i = 0; i < bytes.length; i += 1) {
    const byte = bytes[i] as number
    if (byte === 0) zeros += 1
    else if (isPrintable(byte) || byte >= 0xc2) readable += 1
    else if (byte >= 0x80) readable += (bytes[i - 1] ?? 0) >= 0x80 ? 1 : 0
  }
  if (zeros * 3 > bytes.length) {
    const isBig = bytes[0] === 0
    const even = Buffer.from(bytes.subarray(0, bytes.length & ~1))
    return Buffer.from((isBig ? even.swap16() : even).toString('utf16le'))
  }
  if (readable >= bytes.length * 0.92) return bytes
  const runs = Buffer.allocUnsafe(bytes.length + 1)
  let n = 0
  let start = 0
  for (let i = 0; i <= bytes.length; i += 1) {
    if (i < bytes.length && isPrintable(bytes[i] as number)) continue
    if (i - start >= SHORTEST_RUN_BYTES) {
      n += bytes.copy(runs, n, start, i)
      if (n < runs.length) runs[n++] = 0x0a
    }
    start = i + 1
  }
  return n === 0 ? null : runs.subarray(0, n)
}

export type Blob = {
  readonly start: number
  readonly end: number
  readonly text: DerivedText | null
  readonly is_base64: boolean
}

const ALIGNMENTS = [0, 1, 2, 3]
const PROBE_CHARACTERS = 64

/** Letters directly before Base64 shift it: the alignment whose beginning is readable as text, else none. */
const alignment = (characters: Buffer): number => {
  for (const skip of ALIGNMENTS) {
    const probe = Buffer.from(
      characters.toString('latin1', skip, skip + PROBE_CHARACTERS),
      'base64',
    )
    const found = textIn(probe)
    if (found !== null && found.length >= probe.length * 0.9) return skip
  }
  return 0
}

const isHexAt = (source: Buffer, start: number, end: number): boolean => {
  if ((end - start) % 2 !== 0) return false
  for (let i = start; i < end; i += 1) if (HEX_VALUE[source[i] as number] === 255) return false
  return true
}

const isWordByte = (byte: number): boolean =>
  BASE64[byte] === 1 && byte !== 0x2b && byte !== 0x2f && byte !== 0x2d && byte !== 0x5f

/** Base58 costs the most: so many words of a window are tried. */
const MOST_BASE58 = 4

type Limits = { base58: number }

const decodeWord = (
  source: Buffer,
  start: number,
  end: number,
  limits: Limits,
): DerivedText | null => {
  const from32 = decodeBase32(source, start, end)
  if (from32 !== null) return { via: 'base32', text: from32, start, end }
  if (limits.base58 === 0) return null
  limits.base58 -= 1
  const from58 = decodeBase58(source, start, end)
  return from58 === null ? null : { via: 'base58', text: from58, start, end }
}

const decodeBlob = (
  source: Buffer,
  at: number,
  start: number,
  end: number,
  limits: Limits,
): Blob[] => {
  let wordEnd = at
  while (wordEnd < end && isWordByte(source[wordEnd] as number)) wordEnd += 1
  if (isHexAt(source, at, wordEnd)) {
    const text = textIn(Buffer.from(source.toString('latin1', at, wordEnd), 'hex'))
    return [
      {
        start: at,
        end: wordEnd,
        is_base64: false,
        text: text === null ? null : { via: 'hex', text, start: at, end: wordEnd },
      },
    ]
  }
  const other = decodeWord(source, at, wordEnd, limits)
  if (other !== null) return [{ start: at, end: wordEnd, is_base64: false, text: other }]
  // The text before a slash may be a path, so the last word is also decoded separately.
  return [start, ...(at > start ? [at] : [])].map((from) => {
    const characters = compact(source, from, end)
    let kinds = 0
    for (const byte of characters)
      kinds |= byte >= 0x61 ? 1 : byte >= 0x41 ? 2 : byte >= 0x30 && byte <= 0x39 ? 4 : 0
    const text = textIn(Buffer.from(characters.toString('latin1', alignment(characters)), 'base64'))
    return {
      start: from,
      end,
      is_base64: kinds === 7,
      text: text === null ? null : { via: 'base64', text, start: from, end },
    }
  })
}

/** Decodes what looked like Base64 or hex; `floor` is where the last window stopped. */
export const deriveBlobs = (view: WindowView, floor: number): Blob[] => {
  const blobs: Blob[] = []
  let last = floor
  inflations = MOST_INFLATIONS
  const limits = { base58: MOST_BASE58 }
  for (const at of view.signs.blobs) {
    if (at < last) continue
    const { start, end } = blobAround(view.source, at, last)
    const decoded =
      end - start >= SHORTEST_BLOB_BYTES ? decodeBlob(view.source, at, start, end, limits) : []
    blobs.push(...decoded)
    last = decoded.at(-1)?.end ?? end
  }
  return blobs
}

/** Decodes runs of numbers: hex pairs, decimal character codes, or bits. */
export const deriveNumbers = (view: WindowView, start: number, end: number): DerivedText[] => {
  const numbers = view.text.toString('latin1', start, end).match(/[0-9a-fx]+/g) ?? []
  const isBits = numbers.every((number) => /^[01]{8}$/.test(number))
  const isDecimal = numbers.every((number) => /^\d{2,3}$/.test(number) && Number(number) <= 255)
  const isOctal = numbers.every((number) => /^[0-3]?[0-7]{2}$/.test(number))
  const readings = [isBits ? 2 : 16, ...(isDecimal ? [10] : []), ...(isOctal ? [8] : [])]
  return readings.flatMap((base) => {
    const bytes = Buffer.from(
      numbers
        .map((number) => Number.parseInt(number.replace(/^0x/, ''), base))
        .filter((value) => value >= 0 && value <= 255),
    )
    const text = bytes.every(isPrintable) ? textIn(bytes) : null
    if (text === null) return []
    return [
      {
        via: 'numbers' as const,
        text,
        start: view.offsets[start] ?? 0,
        end: (view.offsets[end - 1] ?? 0) + 1,
      },
    ]
  })
}

/** How many words before the first of a run may belong to it, and how much of a run is read. */
const WORDS_BEFORE = 4
const LONGEST_PARTS_BYTES = 8_192

const isBlank = (source: Buffer, at: number): number => {
  const byte = source[at]
  if (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) return 1
  if (byte !== 0x5c) return 0
  const next = source[at + 1]
  return next === 0x6e || next === 0x72 || next === 0x74 ? 2 : 0
}

/** Where the words begin that stand before a position, nearest last. */
const startsBefore = (source: Buffer, at: number, floor: number): number[] => {
  const starts = [at]
  let i = at
  while (starts.length <= WORDS_BEFORE && i > floor + 1) {
    let end = i
    while (end > floor && (source[end - 1] === 0x20 || source[end - 1] === 0x0a)) end -= 1
    if (source[end - 1] === 0x6e && source[end - 2] === 0x5c) end -= 2
    if (end === i) break
    let start = end
    while (start > floor && BASE64[source[start - 1] as number] === 1) start -= 1
    if (start === end) break
    starts.unshift(start)
    i = start
  }
  return starts
}

const lettersFrom = (
  source: Buffer,
  start: number,
  limit: number,
): { letters: string; end: number } => {
  let letters = ''
  let i = start
  while (i < limit) {
    const blank = isBlank(source, i)
    if (blank > 0) {
      i += blank
      continue
    }
    const byte = source[i] as number
    if (BASE64[byte] !== 1 && byte !== 0x3d) break
    letters += String.fromCharCode(byte)
    i += 1
  }
  return { letters, end: i }
}

/** Base64 that blanks or line breaks divide into words. */
export const deriveParts = (view: WindowView): DerivedText | null => {
  const { source, signs } = view
  let last = 0
  for (const at of signs.mixed) {
    if (at < last) continue
    const limit = Math.min(source.length, at + LONGEST_PARTS_BYTES)
    for (const start of startsBefore(source, at, last)) {
      const { letters, end } = lettersFrom(source, start, limit)
      last = Math.max(last, end)
      const probe = Buffer.from(letters.slice(0, PROBE_CHARACTERS), 'base64')
      if (probe.length < SHORTEST_RUN_BYTES || !probe.every(isPrintable)) continue
      const text = textIn(Buffer.from(letters, 'base64'))
      if (text !== null) return { via: 'base64', text, start, end }
    }
  }
  return null
}
