import { normalizeText } from '../bounded/normalize-text.ts'
import type { HiddenRange } from './hidden-range.ts'

/**
 * Twelve digits or more, with at most four separators between two of them: blanks and dashes of all kinds, dots, and list
 * separators. Digits and separators have no character in common, so the search is linear.
 */
const DIGITS = /\d(?:[ .\-\t\r\n_/,|:+*~"']{0,4}\d){11,}/g
/** The same with the digits of every script, because `４` is read as a four. */
const DIGITS_OF_ANY_SCRIPT = /\p{Nd}(?:[\p{Z}\p{Pd}\p{Cf}.\t\r\n_/,|:+*~"'·•∙−]{0,4}\p{Nd}){11,}/gu

/** First digits and lengths of the issuers (ISO/IEC 7812); a number that matches none of them is not a card number. */
const ISSUERS: readonly (readonly [prefix: RegExp, lengths: readonly number[]])[] = [
  // Visa
  [/^4/, [19, 16, 13]],
  // Mastercard
  [/^(?:5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720)/, [16]],
  // American Express
  [/^3[47]/, [15]],
  // Diners Club
  [/^3(?:0[0-5]|095|[689])/, [16, 14]],
  // Discover
  [/^6(?:011|4[4-9]|5)/, [19, 16]],
  // JCB
  [/^35(?:2[89]|[3-8])/, [19, 16]],
  // UnionPay
  [/^62/, [19, 18, 17, 16]],
  // Maestro
  [/^(?:5018|5020|5038|5893|6304|6759|676[1-3])/, [19, 18, 17, 16, 15, 14, 13, 12]],
  // Mir, RuPay, Troy
  [/^(?:220[0-4]|60|81|82|508|9792)/, [16]],
]

/** A group of adjacent digits. */
interface Group {
  readonly digits: string
  readonly start: number
  readonly end: number
  /** The text between this group and the previous one. */
  readonly sign: string
}

/** The positions of payment card numbers in a text: the format of an issuer, whole groups of digits, a valid check digit. */
export function findCardNumbers(text: string): HiddenRange[] {
  // oxlint-disable-next-line no-control-regex -- ASCII is what the faster search is for
  const search = /^[\x00-\x7f]*$/.test(text) ? DIGITS : DIGITS_OF_ANY_SCRIPT
  return [...text.matchAll(search)].flatMap(({ index, 0: run }) =>
    cardsOf(groupsOf(run, index)).filter((range) => !isInHex(text, range)),
  )
}

function groupsOf(run: string, offset: number): Group[] {
  const groups: Group[] = []
  let end = 0
  for (const { index, 0: digits } of run.matchAll(/\p{Nd}+/gu)) {
    const sign = run.slice(end, index)
    end = index + digits.length
    groups.push({ digits: plain(digits), start: offset + index, end: offset + end, sign })
  }
  return groups
}

/** In ASCII. */
const plain = (digits: string): string =>
  /^\d+$/.test(digits)
    ? digits
    : Array.from(normalizeText(digits, 'NFKC'), (one) => valueOf(one)).join('')

/** Every script has its ten digits in a row, with none before the first. */
function valueOf(digit: string): number {
  if (digit >= '0' && digit <= '9') return Number(digit)
  const code = digit.codePointAt(0) ?? 0
  let value = 0
  while (value < 9 && /^\p{Nd}$/u.test(String.fromCodePoint(code - value - 1))) value++
  return value
}

function cardsOf(groups: readonly Group[]): HiddenRange[] {
  const ranges: HiddenRange[] = []
  const [one, other] = [groups[0], groups.at(-1)]
  if (one && other && isSpacedOut(groups)) return [{ start: one.start, end: other.end }]
  for (let from = 0; from < groups.length; ) {
    const count = groupsOfCard(groups, from)
    const [first, last] = [groups[from], groups[from + count - 1]]
    if (count > 0 && first && last) ranges.push({ start: first.start, end: last.end })
    from += Math.max(count, 1)
  }
  return ranges
}

/** Separates the groups of a card number; other characters separate the members of a list. */
const ON_CARD = /^[\p{Z}\p{Pd}\p{Cf}.\t\r\n]*$/u
/** As the issuers print them. */
const PRINTED = /^(?:4 4 4 4(?: 3)?|4 6 [45]|4 4 5|6 13)$/

/** A list of numbers has different groups, or different separators. */
function isGroupedAsCard(groups: readonly Group[]): boolean {
  const signs = groups.slice(1).map(({ sign }) => sign)
  if (signs.every((sign) => ON_CARD.test(sign))) return true
  return (
    signs.every((sign) => sign === signs[0]) &&
    PRINTED.test(groups.map(({ digits }) => digits.length).join(' '))
  )
}

/** `4 1 1 1 …`: all digits of a run are single, with the same separator other than a comma. */
function isSpacedOut(groups: readonly Group[]): boolean {
  const number = groups.map(({ digits }) => digits).join('')
  const sign = groups[1]?.sign ?? ''
  return (
    groups.length === number.length &&
    /^[ \-_.]$/.test(sign) &&
    groups.slice(1).every((group) => group.sign === sign) &&
    lengthsOf(number).includes(number.length) &&
    hasCheckDigit(number)
  )
}

const lengthsOf = (number: string): readonly number[] =>
  ISSUERS.find(([prefix]) => prefix.test(number))?.[1] ?? []

/** How many groups, from this one on, are a card number; 0 if none. */
function groupsOfCard(groups: readonly Group[], from: number): number {
  const first = groups[from]
  // The digits after a decimal point, and single digits, which are a list.
  if (first === undefined || (from > 0 && first.sign === '.') || first.digits.length < 2) return 0
  const lengths = lengthsOf(first.digits + (groups[from + 1]?.digits ?? ''))
  let number = ''
  for (let count = 1; lengths.length > 0 && from + count <= groups.length; count++) {
    number += groups[from + count - 1]?.digits ?? ''
    if (number.length > 19) return 0
    if (lengths.includes(number.length) && hasCheckDigit(number))
      return isGroupedAsCard(groups.slice(from, from + count)) ? count : 0
    if ((groups[from + count - 1]?.digits.length ?? 0) < 2) return 0
  }
  return 0
}

/** The Luhn formula. */
function hasCheckDigit(number: string): boolean {
  let sum = 0
  for (let i = 0; i < number.length; i++) {
    const value = Number(number[number.length - 1 - i])
    const doubled = i % 2 === 1 ? value * 2 : value
    sum += doubled > 9 ? doubled - 9 : doubled
  }
  return sum % 10 === 0
}

/** How much of a word before or after a number is checked for hexadecimal digits, as in a hash. */
function isInHex(text: string, { start, end }: HiddenRange): boolean {
  // As the magnetic stripe of a card has it.
  if (/[\^=]/.test(text[end] ?? '')) return false
  const before = /[0-9A-Za-z]*$/.exec(text.slice(Math.max(0, start - 64), start))?.[0] ?? ''
  const after = /^[0-9A-Za-z]*/.exec(text.slice(end, end + 64))?.[0] ?? ''
  return before + after !== '' && /^[0-9A-Fa-f]*$/.test(before + after)
}
