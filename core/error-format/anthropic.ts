import { kindOfStatus } from './kind-of-status.ts'
import type { ErrorWriter } from './write-format.ts'

/** The SDKs read `error.type` and `error.message`, and the id of the request from its own header. */
export const writeAnthropic: ErrorWriter = (
  { error: code, message, details, request_id },
  { status },
) => ({
  body: JSON.stringify({
    type: 'error',
    error: { type: kindOfStatus(status), message, code, details },
    request_id,
  }),
  headers: [{ name: 'request-id', value: request_id }],
})
