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
  'prefer',
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

export const isVolatile = (name: string): boolean =>
  VOLATILE_HEADERS.includes(name) || VOLATILE_PREFIXES.some((prefix) => name.startsWith(prefix))
