import { HEX_VALUE } from './byte-classes.ts'

/** The decoded character; `code_point` -1 means that no escape begins here. */
export type Escape = { code_point: number; length: number }

const NAMED: Readonly<Record<string, string>> = {
  lt: '<',
  gt: '>',
  amp: '&',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  sol: '/',
  lpar: '(',
  rpar: ')',
  colon: ':',
  semi: ';',
  period: '.',
  comma: ',',
  excl: '!',
  num: '#',
  dollar: '$',
  lowbar: '_',
  hyphen: '-',
  newline: '\n',
  tab: '\t',
  shy: '\u00ad',
  zwj: '\u200d',
  zwnj: '\u200c',
}

const hexAt = (source: Uint8Array, at: number, digits: number, end: number): number => {
  if (at + digits > end) return -1
  let value = 0
  for (let i = at; i < at + digits; i += 1) {
    const digit = HEX_VALUE[source[i] as number] as number
    if (digit === 255) return -1
    value = value * 16 + digit
  }
  return value
}

/** `\uXXXX` (with its surrogate partner), `\u{X}`, `\xXX`, `\UXXXXXXXX`; the backslash is at `at`. */
const readUnicode = (source: Uint8Array, at: number, end: number, into: Escape): void => {
  const kind = source[at + 1]
  if (kind === 0x78 || kind === 0x58) {
    into.code_point = hexAt(source, at + 2, 2, end)
    into.length = 4
    return
  }
  if (kind === 0x55) {
    into.code_point = hexAt(source, at + 2, 8, end)
    into.length = 10
    if (into.code_point > 0x10ffff) into.code_point = -1
    return
  }
  if (source[at + 2] === 0x7b) {
    let value = 0
    let i = at + 3
    while (i < end && i < at + 9 && HEX_VALUE[source[i] as number] !== 255) {
      value = value * 16 + (HEX_VALUE[source[i] as number] as number)
      i += 1
    }
    into.code_point = source[i] === 0x7d && i > at + 3 && value <= 0x10ffff ? value : -1
    into.length = i + 1 - at
    return
  }
  const unit = hexAt(source, at + 2, 4, end)
  into.code_point = unit
  into.length = 6
  if (unit < 0xd800 || unit > 0xdbff || source[at + 6] !== 0x5c || source[at + 7] !== 0x75) return
  const low = hexAt(source, at + 8, 4, end)
  if (low < 0xdc00 || low > 0xdfff) return
  into.code_point = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00)
  into.length = 12
}

/** `\\111`: three octal digits; the backslash is at `at`. */
const readOctal = (source: Uint8Array, at: number, end: number, into: Escape): void => {
  let value = 0
  for (let i = at + 1; i <= at + 3; i += 1) {
    const digit = (i < end ? (source[i] as number) : 0) - 0x30
    if (digit < 0 || digit > 7) return
    value = value * 8 + digit
  }
  into.code_point = value === 0 ? -1 : value
  into.length = 4
}

/** `&#105;`, `&#x69;`, `&lt;`; the ampersand is at `at`. The semicolon may be missing, as browsers allow. */
const readEntity = (source: Uint8Array, at: number, end: number, into: Escape): void => {
  let i = at + 1
  if (source[i] !== 0x23) {
    let name = ''
    while (
      i < end &&
      name.length < 8 &&
      ((source[i] as number) | 32) >= 0x61 &&
      ((source[i] as number) | 32) <= 0x7a
    ) {
      name += String.fromCharCode((source[i] as number) | 32)
      i += 1
    }
    const named = source[i] === 0x3b ? NAMED[name] : undefined
    into.code_point = named === undefined ? -1 : named.charCodeAt(0)
    into.length = i + 1 - at
    return
  }
  i += 1
  const isHex = source[i] === 0x78 || source[i] === 0x58
  if (isHex) i += 1
  const first = i
  let value = 0
  while (i < end && i < first + 8) {
    const digit = HEX_VALUE[source[i] as number] as number
    if (digit === 255 || (!isHex && digit > 9)) break
    value = value * (isHex ? 16 : 10) + digit
    i += 1
  }
  into.code_point = i === first || value > 0x10ffff || value === 0 ? -1 : value
  into.length = i - at + (source[i] === 0x3b ? 1 : 0)
}

/** `%69`, and UTF-8 sequences in it; the percent sign is at `at`. */
const readPercent = (source: Uint8Array, at: number, end: number, into: Escape): void => {
  if (((source[at + 1] as number) | 32) === 0x75) {
    // `%u0049`, the old escape of scripts.
    into.code_point = hexAt(source, at + 2, 4, end)
    into.length = 6
    return
  }
  const first = hexAt(source, at + 1, 2, end)
  into.code_point = first
  into.length = 3
  if (first < 0xc0) {
    if (first >= 0x80) into.code_point = 0xfffd
    return
  }
  const more = first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3
  let value = first & (0x3f >> more)
  for (let k = 1; k <= more; k += 1) {
    const next = source[at + 3 * k] === 0x25 ? hexAt(source, at + 3 * k + 1, 2, end) : -1
    if ((next & 0xc0) !== 0x80 || next < 0) {
      into.code_point = 0xfffd
      return
    }
    value = (value << 6) | (next & 0x3f)
  }
  into.code_point = value > 0x10ffff ? 0xfffd : value
  into.length = 3 * (more + 1)
}

/** Reads the escape that begins at `at` with `\`, `%` or `&`, inside or outside a JSON string. */
export const readEscape = (
  source: Uint8Array,
  at: number,
  end: number,
  isJson: boolean,
  into: Escape,
): void => {
  const lead = source[at]
  into.code_point = -1
  if (lead === 0x25) return readPercent(source, at, end, into)
  if (lead === 0x26) return readEntity(source, at, end, into)
  if (at + 1 >= end) {
    into.code_point = isJson ? 0x5c : -1
    into.length = 1
    return
  }
  const next = source[at + 1] as number
  into.length = 2
  if (next === 0x6e || next === 0x72) into.code_point = 0x0a
  else if (next === 0x74 || next === 0x62 || next === 0x66)
    into.code_point = isJson || next === 0x74 ? 0x20 : -1
  else if (next === 0x75 || next === 0x78 || next === 0x58 || next === 0x55)
    readUnicode(source, at, end, into)
  else if (!isJson && next >= 0x30 && next <= 0x33) readOctal(source, at, end, into)
  else if (isJson && next === 0x5c) {
    // A double backslash may hide a second layer of escapes: `\\u0069`, `\\n`.
    readEscape(source, at + 1, end, false, into)
    if (into.code_point >= 0) into.length += 1
    else {
      into.code_point = 0x5c
      into.length = 2
    }
  } else if (isJson) into.code_point = next
  if (isJson && into.code_point < 0) {
    into.code_point = 0x5c
    into.length = 1
  }
}
