/**
 * Every way the admin API says no: with the error body that the proxy uses too. A sentence tells the caller what to do
 * next and holds no secret and nothing of another organization.
 */
export const ADMIN_ERRORS = {
  validation_failed: {
    status: 400,
    message: 'The request does not fit the schema. details.issues lists every fault.',
  },
  unauthorized: {
    status: 401,
    message: 'An admin token is needed. Send it as "Authorization: Bearer <ADMIN_TOKEN>".',
  },
  forbidden: {
    status: 403,
    message: 'This token may not do that. Use a token with the role in details.role.',
  },
  not_found: { status: 404, message: 'Nothing is found here. Check the path and the id.' },
  method_not_allowed: {
    status: 405,
    message: 'This path does not take this method. The header Allow lists those that it takes.',
  },
  request_timeout: { status: 408, message: 'The request did not arrive in time. Send it again.' },
  conflict: {
    status: 409,
    message: 'This does not fit what is stored. details.reason says why.',
  },
  precondition_failed: {
    status: 412,
    message: 'The resource has changed since. Read it again and use its new ETag.',
  },
  request_too_large: {
    status: 413,
    message: 'The body is too large. Send at most details.limit_bytes.',
  },
  unsupported_media_type: {
    status: 415,
    message: 'Only JSON is understood. Send Content-Type: application/json.',
  },
  misdirected_request: {
    status: 421,
    message:
      'The admin service is not known by this Host. Call it by its IP address or as localhost, or add the name to AGW_API_ALLOWED_HOSTS.',
  },
  too_many_sign_ins: {
    status: 429,
    message: 'Too many failed sign-ins from this address. Try again after Retry-After seconds.',
  },
  too_many_streams: {
    status: 429,
    message: 'Too many streams of the activity log are open. Close one, or try again later.',
  },
  headers_too_large: { status: 431, message: 'The request headers are too large.' },
  internal_error: {
    status: 500,
    message: 'The gateway made a mistake. The log has it under this request_id.',
  },
  gateway_unavailable: {
    status: 503,
    message: 'The store does not answer at the moment. Try again shortly.',
  },
} as const satisfies Record<string, { status: number; message: string }>

export type AdminErrorCode = keyof typeof ADMIN_ERRORS
