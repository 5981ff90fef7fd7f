import type { Header } from '../../core/policy/header.ts'
import type { Secret } from '../../core/secret.ts'
import type { HeaderChanges } from '../envoy/write-response.ts'

const REDACTED = '[redacted]'

/**
 * A credential that travels in the query can come back in `Location`, `Link` or a header of the upstream's own
 * (threats.md 11). Answers the changes that hide it, in each form a server repeats it; null when it is nowhere.
 */
export function redactHeaders(headers: readonly Header[], secret: Secret): HeaderChanges | null {
  const text = secret.reveal()
  const forms = [
    ...new Set([text, encodeURIComponent(text), encodeURIComponent(text).replaceAll('%20', '+')]),
  ]
    .filter((form) => form !== '')
    .map((form) => Buffer.from(form, 'utf8').toString('latin1'))
  const tainted = new Set(
    headers
      .filter(({ value }) => forms.some((form) => value.includes(form)))
      .map(({ name }) => name),
  )
  if (tainted.size === 0) return null
  // All values of a name are set as one, since ext_proc replaces a header as a whole.
  const set = [...tainted].map((name) => ({
    name,
    value: headers
      .filter((header) => header.name === name)
      .map(({ value }) => forms.reduce((text_, form) => text_.replaceAll(form, REDACTED), value))
      .join(', '),
  }))
  return { set, remove: [] }
}
