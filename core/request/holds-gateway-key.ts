import { hexDigit } from './decode-path.ts'
import { isWellFormedKey, KEY_PREFIX, KEY_SYMBOLS } from '../keys/api-key.ts'

/** The shortest key; every spelling of one is longer. Most values of a request are done with by this. */
const KEY_BYTES = KEY_PREFIX.live.length + KEY_SYMBOLS
const PREFIX = new RegExp(Object.values(KEY_PREFIX).join('|'), 'g')
/** Encodings within encodings that are undone, in any order: a token in a URL in a parameter of a URL has three. */
const DEPTH_MAX = 4
/**
 * What is decoded of one value. A header of 60 KiB that is Base64 from end to end takes 180 KiB, since each place in a
 * group of four is tried; only one that was made to be decoded often takes more, and it is treated as if it held a key.
 */
const DECODED_BYTES_MAX = 1 << 20

/** A key in Base64 is at least as long. */
const BASE64_RUN = /[A-Za-z0-9+/_-]{63,}/g
/**
 * Base64 of 45 bytes of ASCII, in groups of which each has the bits that make its three bytes less than 128: every
 * spelling of a key has so many within its first and last byte. Signatures and identifiers are no ASCII, and end here.
 */
const ASCII_IN_BASE64 =
  /(?:[A-Za-f][A-HQ-Xg-nw-z0-3][ABEFIJMNQRUVYZcdghklopstwx014589][A-Za-z0-9+/_-]){15}/
/** The same for hexadecimal digits. */
const ASCII_IN_HEX = /(?:[0-7][0-9a-f]){46}/i
const HEX_RUN = /[0-9a-f]{94,}/gi

/**
 * Whether a text holds a gateway key anywhere: as it is, or in any sequence of percent-encoding, escapes of JSON,
 * JavaScript or HTML, Base64 (as `Basic` has it) and hexadecimal digits. Such a header, cookie or parameter never goes
 * upstream, where the key would open the gateway.
 * @param text one character per byte (latin1)
 */
export const holdsGatewayKey = (text: string): boolean =>
  text.length >= KEY_BYTES && searches(text, DEPTH_MAX, { left_bytes: DECODED_BYTES_MAX })

interface Budget {
  left_bytes: number
}

function searches(text: string, depth: number, budget: Budget): boolean {
  if (text.length < KEY_BYTES) return false
  if (holdsPlainKey(text)) return true
  if (depth === 0) return false
  const unescaped = unescape(text)
  if (unescaped !== text && leads(unescaped, depth, budget)) return true
  // What stands before the encoded text may be of the same letters, so each place in a group is tried.
  if (ASCII_IN_BASE64.test(text))
    for (const [run] of text.matchAll(BASE64_RUN))
      for (let start = 0; start < 4; start++)
        if (leads(decoded(run.slice(start), 'base64'), depth, budget)) return true
  if (ASCII_IN_HEX.test(text))
    for (const [run] of text.matchAll(HEX_RUN))
      for (let start = 0; start < 2; start++)
        if (leads(decoded(run.slice(start), 'hex'), depth, budget)) return true
  return false
}

function leads(text: string, depth: number, budget: Budget): boolean {
  budget.left_bytes -= text.length
  return budget.left_bytes < 0 || searches(text, depth - 1, budget)
}

const decoded = (text: string, encoding: 'base64' | 'hex'): string =>
  Buffer.from(text, encoding).toString('latin1')

function holdsPlainKey(text: string): boolean {
  if (!text.includes('agw_')) return false
  for (const { 0: prefix, index } of text.matchAll(PREFIX))
    if (isWellFormedKey(text.slice(index, index + prefix.length + KEY_SYMBOLS))) return true
  return false
}

const ESCAPED =
  /\\(?:u00|x)([0-9a-f]{2})|\\u\{0{0,6}([0-9a-f]{2})\}|&#x0{0,6}([0-9a-f]{2});?|&#0{0,6}(\d{2,3});?/gi

function unescape(text: string): string {
  const plain = unescapePercent(text)
  if (!plain.includes('\\') && !plain.includes('&#')) return plain
  return plain.replace(ESCAPED, (...groups: readonly (string | undefined)[]) => {
    const [, escape, braced, entity, decimal] = groups
    const hex = escape ?? braced ?? entity
    return String.fromCharCode(hex === undefined ? Number(decimal) : Number.parseInt(hex, 16))
  })
}

/** Perl's CGI and classic ASP read `%u0061` like `%61`. Four times as fast as `replace` with a function. */
function unescapePercent(text: string): string {
  let plain = ''
  let from = 0
  for (let at = text.indexOf('%'); at !== -1; at = text.indexOf('%', at + 1)) {
    const isLong = (text.charCodeAt(at + 1) | 0x20) === 0x75 && text.startsWith('00', at + 2)
    const start = isLong ? at + 4 : at + 1
    const high = hexDigit(text.charCodeAt(start))
    const low = hexDigit(text.charCodeAt(start + 1))
    if (high < 0 || low < 0) continue
    plain += text.slice(from, at) + String.fromCharCode(high * 16 + low)
    from = start + 2
  }
  return from === 0 ? text : plain + text.slice(from)
}
