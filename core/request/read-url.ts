import { canonicalHost, type HostProblem } from './canonical-host.ts'
import type { PathProblem } from './decode-path.ts'

export type UrlProblem =
  | HostProblem
  | PathProblem
  | 'bad_port'
  | 'empty_segment'
  | 'fragment'
  | 'not_absolute'
  | 'query'
  | 'too_long'
  | 'user_info'
  | 'whitespace'

/** The parts of an absolute URL; the path is not checked yet. */
export interface ReadUrl {
  readonly scheme: 'http' | 'https'
  readonly host: string
  readonly port: number
  /** `scheme://host`, with the port unless it is the default of the scheme. */
  readonly origin: string
  /** Begins with `/`. */
  readonly raw_path: string
  /** Without the `?`; null where there is none. */
  readonly raw_query: string | null
}

/** More than Envoy accepts for all headers together by default (60 KiB). */
const URL_LENGTH_LIMIT = 65_536
const PATH_LENGTH_LIMIT = 16_384
const PORT_LIMIT = 65_535

/**
 * @param raw one character per byte (latin1), so that invalid UTF-8 is detected instead of being replaced.
 * @param start where the URL begins in `raw`.
 * @param minSlashes how many slashes must follow the colon: proxies merge two into one.
 */
export function readUrl(raw: string, start: number, minSlashes: 1 | 2): ReadUrl | UrlProblem {
  if (raw.length - start > URL_LENGTH_LIMIT) return 'too_long'
  const question = raw.indexOf('?', start)
  const pathEnd = question === -1 ? raw.length : question
  const problem = characterProblem(raw, start)
  if (problem !== null) return problem

  const head = raw.slice(start, start + 6).toLowerCase()
  const scheme = head === 'https:' ? 'https' : head.startsWith('http:') ? 'http' : null
  if (scheme === null) return 'not_absolute'
  const colonEnd = start + scheme.length + 1
  let hostStart = colonEnd
  while (hostStart < colonEnd + 2 && raw[hostStart] === '/') hostStart++
  if (hostStart - colonEnd < minSlashes)
    return raw[hostStart] === '\\' ? 'backslash' : 'not_absolute'
  const slash = raw.indexOf('/', hostStart)
  const hostEnd = slash === -1 || slash > pathEnd ? pathEnd : slash

  const authority = readAuthority(raw.slice(hostStart, hostEnd), scheme)
  if (typeof authority === 'string') return authority
  if (pathEnd - hostEnd > PATH_LENGTH_LIMIT) return 'too_long'
  const { host, port } = authority
  const isDefaultPort = port === defaultPort(scheme)
  return {
    scheme,
    host,
    port,
    origin: isDefaultPort ? `${scheme}://${host}` : `${scheme}://${host}:${port}`,
    raw_path: hostEnd === pathEnd ? '/' : raw.slice(hostEnd, pathEnd),
    raw_query: question === -1 ? null : raw.slice(question + 1),
  }
}

const defaultPort = (scheme: 'http' | 'https'): number => (scheme === 'https' ? 443 : 80)

/** Characters that would split the request line of an HTTP/1 upstream, or that some remove, are refused in the query too. */
function characterProblem(raw: string, start: number): UrlProblem | null {
  for (let i = start; i < raw.length; i++) {
    const c = raw.charCodeAt(i)
    if (c === 0x23) return 'fragment'
    if (c === 0x20 || (c >= 0x09 && c <= 0x0d)) return 'whitespace'
    if (c < 0x20 || c === 0x7f) return 'control_character'
    if (c > 0xff) return 'invalid_utf8'
  }
  return null
}

function readAuthority(
  authority: string,
  scheme: 'http' | 'https',
): { readonly host: string; readonly port: number } | UrlProblem {
  if (authority === '') return 'missing_host'
  if (authority.includes('\\')) return 'backslash'
  if (authority.includes('@')) return 'user_info'
  const colon = authority.indexOf(':', authority.startsWith('[') ? authority.indexOf(']') : 0)
  const host = canonicalHost(colon === -1 ? authority : authority.slice(0, colon))
  if (typeof host !== 'string') return host.problem
  if (colon === -1) return { host, port: defaultPort(scheme) }
  const digits = authority.slice(colon + 1)
  const port = Number(digits)
  return /^[1-9]\d{0,4}$/.test(digits) && port <= PORT_LIMIT ? { host, port } : 'bad_port'
}
