import type { Header } from '../request/header.ts'

/**
 * Headers that an approval does not cover: clients send other values each time they make the same call, and APIs do not act on them.
 * All others count. docs/guides/approvals.md has the list.
 */
export const VOLATILE_HEADERS: readonly string[] = [
  'accept-encoding',
  'b3',
  'baggage',
  'content-length',
  'date',
  'idempotency-key',
  'priority',
  'sentry-trace',
  'traceparent',
  'tracestate',
  'user-agent',
  'via',
  'x-amzn-trace-id',
  'x-cloud-trace-context',
]
export const VOLATILE_PREFIXES: readonly string[] = ['x-b3-', 'x-datadog-', 'x-stainless-']

/** For the gateway alone; all else that `Prefer` says (RFC 7240), an API may act on. */
const WAIT = /^\s*wait\s*=\s*\d{1,9}\s*$/i

/** What counts of a header; null if nothing does. */
export function countedValue({ name, value }: Header): string | null {
  if (VOLATILE_HEADERS.includes(name)) return null
  if (VOLATILE_PREFIXES.some((prefix) => name.startsWith(prefix))) return null
  // A quoted text may have commas.
  if (name !== 'prefer' || value.includes('"')) return value
  const others = value.split(',').filter((preference) => !WAIT.test(preference))
  return others.length === 0 ? null : others.join(',')
}
