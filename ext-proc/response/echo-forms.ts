import type { Secret } from '../../core/keys/secret.ts'
import { escapedForms } from './echo-search.ts'

/** A shorter part of a credential occurs in headers by chance. */
const LENGTH_MIN = 8

/**
 * How an API may repeat the credential of a call in its headers; null if there is nothing to look for.
 * @param query_secret a credential in the query, in any length, as it is and percent-encoded
 * @param guarded parts of a credential, also in Base64, and as JSON and pages escape them
 */
export function echoForms(query_secret: Secret | null, guarded: readonly Secret[]): RegExp | null {
  const named = query_secret?.reveal() ?? ''
  const parts = guarded.map((one) => one.reveal()).filter(({ length }) => length >= LENGTH_MIN)
  const forms = [
    ...(named === '' ? [] : [percentForms(named)]),
    ...parts.flatMap((text) => [
      percentForms(text),
      ...base64Forms(text),
      ...new Set(escapedForms(text).map((form) => form.replaceAll(SYNTAX, '\\$&'))),
    ]),
  ]
  return forms.length === 0 ? null : new RegExp(forms.join('|'), 'g')
}

const SYNTAX = /[\\^$.*+?()[\]{}|/-]/g

/**
 * What Base64 makes of the text wherever it stands in the encoded bytes: the characters that depend on it alone, for each of
 * the three offsets; also percent-encoded, and with the URL alphabet.
 */
const base64Forms = (text: string): readonly string[] =>
  [0, 1, 2].map((offset) => {
    const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(text, 'utf8')])
    return bytes
      .toString('base64')
      .slice(Math.ceil((offset * 8) / 6), Math.floor((bytes.length * 8) / 6))
      .replaceAll(/[+/]/g, (sign) => (sign === '+' ? '(?:[-+]|%2[bB])' : '(?:[/_]|%2[fF])'))
  })

/**
 * Every spelling of the text in which each byte stands for itself, is escaped as JSON or a page does it, or is percent-encoded, in
 * either case and however often again, as in a `Location` that carries the address called as a parameter.
 */
const percentForms = (text: string): string =>
  [...Buffer.from(text, 'utf8')].map(formsOfByte).join('')

function formsOfByte(byte: number): string {
  const hex = byte.toString(16).padStart(2, '0')
  const digits = hex.replace(/./g, (digit) => `[${digit}${digit.toUpperCase()}]`)
  const escaped = `%(?:25)*${digits}`
  const plus = byte === 0x20 ? '|\\+|%(?:25)*2[bB]' : ''
  // Not before a backslash: a run of them could be read in too many ways.
  const sign = byte > 0x7f || /[\w\\]/.test(String.fromCharCode(byte)) ? '' : '\\\\?'
  const inText = `\\\\u00${digits}|&#(?:0{0,5}${byte}|[xX]0{0,5}${digits});`
  return `(?:${sign}\\x${hex}|${escaped}${plus}|${inText})`
}
