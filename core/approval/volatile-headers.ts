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
const WAIT = /^\s*wait\s*=\s*"?\d{1,9}"?\s*$/i

export const isVolatile = ({ name, value }: Header): boolean =>
  name === 'prefer'
    ? WAIT.test(value)
    : VOLATILE_HEADERS.includes(name) || VOLATILE_PREFIXES.some((prefix) => name.startsWith(prefix))
