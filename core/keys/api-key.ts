import { createHash, randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
/** 32 symbols of 62 are 190 bits. */
const RANDOM_SYMBOLS = 32
/** 62^6 exceeds 2^32, so six symbols hold a CRC-32. */
const CHECK_SYMBOLS = 6

export const KEY_PREFIX = { live: 'agw_live_', admin: 'agw_admin_' } as const
export type KeyKind = keyof typeof KEY_PREFIX

/** What follows the prefix. */
export const KEY_SYMBOLS = RANDOM_SYMBOLS + CHECK_SYMBOLS
const WELL_FORMED = new RegExp(
  `^(?:${Object.values(KEY_PREFIX).join('|')})[0-9A-Za-z]{${KEY_SYMBOLS}}$`,
)

/** A new key: prefix, 190 random bits, and a checksum that detects typing errors and foreign tokens. */
export function mintKey(kind: KeyKind): string {
  const random = randomText(RANDOM_SYMBOLS)
  return KEY_PREFIX[kind] + random + checksum(KEY_PREFIX[kind] + random)
}

/** Whether the text has one of our prefixes and a matching checksum; says nothing about whether it is known. */
export function isWellFormedKey(text: string): boolean {
  return (
    WELL_FORMED.test(text) && checksum(text.slice(0, -CHECK_SYMBOLS)) === text.slice(-CHECK_SYMBOLS)
  )
}

/** SHA-256, lower-case hex. A key has 190 random bits, so a plain hash cannot be searched. */
export const hashKey = (key: string): string => createHash('sha256').update(key).digest('hex')

export const lastFour = (key: string): string => key.slice(-4)

/** `agt_…`, `key_…`: the prefix and 20 random symbols (119 bits). */
export const mintId = (prefix: string): string => `${prefix}_${randomText(20)}`

function randomText(symbols: number): string {
  let text = ''
  while (text.length < symbols) {
    for (const byte of randomBytes(symbols * 2)) {
      // 248 is the largest multiple of 62 below 256; larger bytes would favour the first symbols.
      if (byte < 248 && text.length < symbols) text += ALPHABET[byte % 62]
    }
  }
  return text
}

function checksum(text: string): string {
  let rest = crc32(text) >>> 0
  let symbols = ''
  for (let i = 0; i < CHECK_SYMBOLS; i++) {
    symbols = (ALPHABET[rest % 62] ?? '0') + symbols
    rest = Math.floor(rest / 62)
  }
  return symbols
}
