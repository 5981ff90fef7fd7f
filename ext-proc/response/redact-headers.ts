import type { Header } from '../../core/policy/header.ts'
import type { Secret } from '../../core/secret.ts'

const REDACTED = '[redacted]'

/**
 * A credential that travels in the query can come back in `Location`, `Link` or a header of the upstream's own (threat
 * model, rule 11). Returns the headers without it, which is the same list where it is nowhere.
 */
export function redactHeaders(headers: readonly Header[], secret: Secret): readonly Header[] {
  const forms = formsOf(secret)
  if (forms === null || taintedNames(headers, secret).length === 0) return headers
  return headers.map(({ name, value }) => ({ name, value: value.replaceAll(forms, REDACTED) }))
}

/** The names of headers or trailers in which the secret stands. */
export function taintedNames(headers: readonly Header[], secret: Secret): string[] {
  const forms = formsOf(secret)
  if (forms === null) return []
  return [
    ...new Set(headers.filter(({ value }) => value.search(forms) >= 0).map(({ name }) => name)),
  ]
}

const known = new WeakMap<Secret, RegExp>()

/**
 * Every spelling of the secret in which each byte stands for itself or is percent-encoded, in either case and however
 * often again, as in a `Location` that carries the address called as a parameter. Null for an empty secret.
 */
function formsOf(secret: Secret): RegExp | null {
  const made = known.get(secret)
  if (made !== undefined) return made
  const bytes = Buffer.from(secret.reveal(), 'utf8')
  if (bytes.length === 0) return null
  const forms = new RegExp([...bytes].map(formsOfByte).join(''), 'g')
  known.set(secret, forms)
  return forms
}

function formsOfByte(byte: number): string {
  const hex = byte.toString(16).padStart(2, '0')
  const digits = hex.replace(/./g, (digit) => `[${digit}${digit.toUpperCase()}]`)
  const escaped = `%(?:25)*${digits}`
  const plus = byte === 0x20 ? '|\\+|%(?:25)*2[bB]' : ''
  return `(?:\\x${hex}|${escaped}${plus})`
}
