import type { ErrorWriter } from './write-format.ts'

/** The SDKs choose the class of the exception by status and `type`, and need an object. */
export const writeStripe: ErrorWriter = (
  { error: code, message, details, request_id },
  { status },
) => ({
  body: JSON.stringify({
    error: {
      type: status >= 500 ? 'api_error' : 'invalid_request_error',
      code,
      message,
      details,
      request_id,
    },
  }),
  headers: [{ name: 'request-id', value: request_id }],
})
