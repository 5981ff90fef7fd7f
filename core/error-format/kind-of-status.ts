const KINDS: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
}

/** The class of an error, as the APIs of language models name it. */
export const kindOfStatus = (status: number): string =>
  KINDS[status] ?? (status >= 500 ? 'api_error' : 'invalid_request_error')
