import type { ErrorWriter } from './write-format.ts'

/** The codes of gRPC that Google's APIs give with a status. */
const CODES: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
}
const TYPE = 'type.googleapis.com/google.rpc'

/** `google.rpc.Status` as JSON. The values of `metadata` are texts. */
export const writeGoogle: ErrorWriter = (
  { error: reason, message, details, request_id },
  { status },
) => ({
  body: JSON.stringify({
    error: {
      code: status,
      message,
      status: CODES[status] ?? (status >= 500 ? 'UNKNOWN' : 'FAILED_PRECONDITION'),
      details: [
        {
          '@type': `${TYPE}.ErrorInfo`,
          reason,
          domain: 'agent-access-gateway',
          metadata: Object.fromEntries(
            Object.entries(details).map(([name, value]) => [
              name,
              typeof value === 'string' ? value : JSON.stringify(value),
            ]),
          ),
        },
        { '@type': `${TYPE}.RequestInfo`, requestId: request_id },
      ],
    },
  }),
})
