import { kindOfStatus } from './kind-of-status.ts'
import type { ErrorWriter } from './write-format.ts'

/** `error` is an object, whose `message` the SDKs show. */
export const writeOpenai: ErrorWriter = (
  { error: code, message, details, request_id },
  { status },
) => ({
  body: JSON.stringify({
    error: { message, type: kindOfStatus(status), param: null, code, details, request_id },
  }),
  headers: [{ name: 'x-request-id', value: request_id }],
})
