/**
 * Every error code of the admin API. The error body is the same as on the proxy listener. A message tells the caller what to do
 * next and contains no secret and nothing about another organization.
 */
export const ADMIN_ERRORS = {
  validation_failed: {
    status: 400,
    message: 'The request does not match the schema. details.issues lists all errors.',
  },
  unauthorized: {
    status: 401,
    message: 'An admin token is required. Send it as "Authorization: Bearer <ADMIN_TOKEN>".',
  },
  forbidden: {
    status: 403,
    message: 'This token is not allowed to do that. Use a token with the role in details.role.',
  },
  not_found: { status: 404, message: 'Resource not found. Check the path and the id.' },
  method_not_allowed: {
    status: 405,
    message: 'Method not allowed for this path. The Allow header lists the supported methods.',
  },
  request_timeout: { status: 408, message: 'The request did not arrive in time. Send it again.' },
  conflict: {
    status: 409,
    message: 'The request conflicts with the stored state. details.reason says why.',
  },
  precondition_failed: {
    status: 412,
    message: 'The resource has been modified in the meantime. Read it again and use its new ETag.',
  },
  request_too_large: {
    status: 413,
    message: 'The body is too large. Send at most details.limit_bytes.',
  },
  unsupported_media_type: {
    status: 415,
    message: 'Only JSON is supported. Send Content-Type: application/json.',
  },
  misdirected_request: {
    status: 421,
    message:
      'This Host is not allowed. Use an IP address or localhost, or add the host name to AGW_API_ALLOWED_HOSTS.',
  },
  too_many_sign_ins: {
    status: 429,
    message: 'Too many failed sign-ins from this address. Try again after Retry-After seconds.',
  },
  too_many_streams: {
    status: 429,
    message: 'Too many streams of the activity log are open. Close one, or try again later.',
  },
  too_many_requests: {
    status: 429,
    message:
      'Too many requests of this kind are waiting (explanations, dry runs, searches). Send fewer at a time.',
  },
  headers_too_large: { status: 431, message: 'The request headers are too large.' },
  internal_error: {
    status: 500,
    message: 'Internal error. See the server log for this request_id.',
  },
  gateway_unavailable: {
    status: 503,
    message: 'The store is temporarily unavailable. Try again shortly.',
  },
} as const satisfies Record<string, { status: number; message: string }>

export type AdminErrorCode = keyof typeof ADMIN_ERRORS
