import type { Header } from '../../core/request/header.ts'

const REDACTED = '[redacted]'

/**
 * An API may repeat the credential in `Location`, `Link`, `WWW-Authenticate` or a header of its own (threat model, rule 11).
 * Returns the headers without it, which is the same list where it is nowhere.
 * @param forms as `echoForms` makes them
 */
export function redactHeaders(headers: readonly Header[], forms: RegExp): readonly Header[] {
  if (taintedNames(headers, forms).length === 0) return headers
  return headers.map(({ name, value }) => ({ name, value: value.replaceAll(forms, REDACTED) }))
}

/** The names of headers or trailers in which the credential stands. */
export const taintedNames = (headers: readonly Header[], forms: RegExp): string[] => [
  ...new Set(headers.filter(({ value }) => value.search(forms) >= 0).map(({ name }) => name)),
]
