import { normalizeText } from '../bounded/normalize-text.ts'

/** A text as a person or a parser reads it, and the position of each of its characters in the written text. */
export interface PlainReading {
  readonly text: string
  /** By index in `text`: where its source begins and ends in the written text. */
  readonly starts: readonly number[]
  readonly ends: readonly number[]
}

/** Encodings within encodings: JSON in JSON in a form, for instance. */
const ROUNDS_MAX = 3

/** Decoded in one pass: percent-encoding, escapes of JSON and JavaScript, HTML entities and tags. */
const ESCAPE =
  /((?:%[0-9A-Fa-f]{2})+)|\\{1,8}(?:u\{([0-9A-Fa-f]{1,6})\}|u([0-9A-Fa-f]{4})|x([0-9A-Fa-f]{2})|([nrt]))|&(?:#(\d{1,7})|#[xX]([0-9A-Fa-f]{1,6})|([A-Za-z]{2,8}));|(<\/?[A-Za-z][^<>]{0,200}>)/sy
/** Of ASCII, all other characters are kept. */
const MAY_ESCAPE: ReadonlySet<number> = new Set(Buffer.from('%\\&<'))
/** No other character changes. */
const IS_WRITTEN = /%[0-9A-Fa-f]{2}|\\[unrtx]|&[#A-Za-z]|<\/?[A-Za-z]|[^\0-\x7e]/

const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  apos: "'",
  colon: ':',
  commat: '@',
  dash: '-',
  equals: '=',
  gt: '>',
  hyphen: '-',
  lowbar: '_',
  lt: '<',
  nbsp: ' ',
  period: '.',
  quot: '"',
  sol: '/',
}

/** Null if the text reads as it is written. Linear in its length. */
export function readPlainly(written: string): PlainReading | null {
  let reading: PlainReading | null = null
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const text = reading?.text ?? written
    if (!IS_WRITTEN.test(text)) break
    const next = readOnce(text)
    if (next.text === text) break
    reading = reading === null ? next : through(reading, next)
  }
  return reading
}

function readOnce(written: string): PlainReading {
  const starts: number[] = []
  const ends: number[] = []
  let text = ''
  const add = (read: string, start: number, end: number): void => {
    text += read
    for (let i = 0; i < read.length; i++) {
      starts.push(start)
      ends.push(end)
    }
  }
  for (let at = 0; at < written.length; ) {
    const start = at
    const code = written.codePointAt(at) ?? 0
    if (code > 0x7e) {
      at += code > 0xffff ? 2 : 1
      add(readCompatible(code), start, at)
      continue
    }
    ESCAPE.lastIndex = at
    const match = MAY_ESCAPE.has(code) ? ESCAPE.exec(written) : null
    at += match?.[0].length ?? 1
    if (match === null) add(String.fromCharCode(code), start, at)
    else if (match[1] !== undefined) text += readPercent(match[1], start, starts, ends)
    else add(readEscape(match), start, at)
  }
  return { text, starts, ends }
}

function readEscape([sign, , braced, unit, byte, control, decimal, hex, name]: RegExpExecArray) {
  const digits = braced ?? unit ?? byte ?? hex
  if (digits !== undefined) return characterOf(Number.parseInt(digits, 16))
  if (decimal !== undefined) return characterOf(Number(decimal))
  if (control !== undefined) return '\n'
  // A tag is left out.
  return name === undefined ? '' : (ENTITIES[name.toLowerCase()] ?? sign)
}

/** Texts of one script have a few of them. */
const COMPATIBLE_KEPT_MAX = 4_096
const compatible = new Map<number, string>()

function readCompatible(code: number): string {
  const known = compatible.get(code)
  if (known !== undefined) return known
  const read = compatibleOf(String.fromCodePoint(code))
  if (compatible.size >= COMPATIBLE_KEPT_MAX) compatible.clear()
  compatible.set(code, read)
  return read
}

function compatibleOf(sign: string): string {
  // Invisible: zero width, soft hyphen, direction marks.
  if (/^\p{Cf}$/u.test(sign)) return ''
  const plain = normalizeText(sign, 'NFKC')
  return plain.length > COMPATIBLE_MAX ? sign : plain
}

/** Longer ones are whole words in one character, up to 18 times as long; no secret is written so. */
const COMPATIBLE_MAX = 4

const characterOf = (code: number): string => (code > 0x10_ffff ? '' : String.fromCodePoint(code))

/** Each character is mapped to the escapes of its bytes; bytes that are not UTF-8 become one replacement character each. */
function readPercent(escapes: string, offset: number, starts: number[], ends: number[]): string {
  const bytes = Buffer.from(escapes.replaceAll('%', ''), 'hex')
  const text = bytes.toString('utf8')
  let byte = 0
  for (const character of text) {
    const length = character === '\ufffd' ? 1 : Buffer.byteLength(character)
    const start = offset + 3 * Math.min(byte, bytes.length - 1)
    byte += length
    for (let i = 0; i < character.length; i++) {
      starts.push(start)
      ends.push(offset + 3 * Math.min(byte, bytes.length))
    }
  }
  return text
}

/** Maps the second reading to positions in the written text. */
const through = (first: PlainReading, second: PlainReading): PlainReading => ({
  text: second.text,
  starts: second.starts.map((at) => first.starts[at] ?? 0),
  ends: second.ends.map((at) => first.ends[at - 1] ?? 0),
})
