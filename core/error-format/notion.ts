import type { ErrorWriter } from './write-format.ts'

/** The SDKs show a message only with a code that they know; ours is in `additional_data`. */
const CODES: Readonly<Record<number, string>> = {
  400: 'validation_error',
  401: 'unauthorized',
  403: 'restricted_resource',
  404: 'object_not_found',
  429: 'rate_limited',
  503: 'service_unavailable',
}

export const writeNotion: ErrorWriter = ({ error, message, details, request_id }, { status }) => ({
  body: JSON.stringify({
    object: 'error',
    status,
    code: CODES[status] ?? (status >= 500 ? 'internal_server_error' : 'validation_error'),
    message: `${error}: ${message}`,
    additional_data: { error, details },
    request_id,
  }),
})
