import { type BaseUrl, parseBaseUrl } from '../../core/request/parse-base-url.ts'
import type { UrlProblem } from '../../core/request/read-url.ts'
import type { Issue } from '../http/outcome.ts'
import { BASE_URL_SEGMENTS_LIMIT } from './integration-schemas.ts'

/** The canonical base URL, or the problem with the text. */
export function readBaseUrl(
  text: string,
): { readonly ok: true; readonly base: BaseUrl } | { readonly ok: false; readonly issue: Issue } {
  const parsed = parseBaseUrl(text)
  if (!parsed.ok) return refused(PROBLEMS[parsed.reason])
  if (parsed.base.segments.length > BASE_URL_SEGMENTS_LIMIT)
    return refused(`has more than ${BASE_URL_SEGMENTS_LIMIT} path segments`)
  return parsed
}

const refused = (message: string): { readonly ok: false; readonly issue: Issue } => ({
  ok: false,
  issue: { path: '/base_url', message },
})

const PROBLEMS: Readonly<Record<UrlProblem, string>> = {
  backslash: 'must have no backslash',
  bad_host: 'has a host name that is not valid',
  bad_percent_encoding: 'has a "%" that is not followed by two hexadecimal digits',
  bad_port: 'has a port that is not a number from 1 to 65535',
  control_character: 'must have no control characters',
  dot_segment: 'must have no "." or ".." segments',
  empty_segment: 'must have no empty segment (two slashes in a row)',
  encoded_too_deep: 'is percent-encoded more than once',
  fragment: 'must have no fragment ("#")',
  invalid_utf8: 'is not valid UTF-8',
  ip_spelling: 'must have its IP address in canonical form, such as 192.0.2.1',
  missing_host: 'must have a host',
  not_absolute: 'must begin with http:// or https://',
  query: 'must have no query ("?")',
  too_long: 'is too long',
  too_many_marks: 'has more than 30 combining marks in a row',
  too_many_segments: 'has too many segments',
  user_info: 'must have no user name or password; credentials belong in auth',
  whitespace: 'must have no white space',
}
