import { SESSION_COOKIES } from '../../core/policy/drop-own-cookies.ts'

/** Below what part of the gateway's paths an API's cookies belong. */
export interface CookiePlace {
  /** The path of the gateway that stands for the API, as the caller spells it: `/https://api.example.com`. */
  readonly prefix: string
  /** The path of the API that was called. */
  readonly path: string
}

/** Path, tab excepted: what browsers drop a cookie for. */
// oxlint-disable-next-line no-control-regex
const CONTROL = /[\0-\x08\x0a-\x1f\x7f]/
const ATTRIBUTE_NAME = /^[a-z-]+$/
/** A path in other characters is read in different ways; the cookie is then for the whole API. */
const PLAIN_PATH = /^\/[!-:<-~]*$/

/** These demand `Path=/`, by which a client would send them to every API. */
const HOST_PREFIX = /^__host-/
const OWN_NAMES: ReadonlySet<string> = new Set(
  SESSION_COOKIES.map((name) => name.toLowerCase().replace(/^__(?:host|secure)-/, '')),
)

/**
 * The value of `Set-Cookie` by which a client sends the cookie to the API that set it, and to no other through this
 * gateway: with a `Path` below the API's and no `Domain`. Null for a cookie that is dropped.
 */
export function scopeCookie(value: string, { prefix, path }: CookiePlace): string | null {
  if (CONTROL.test(value)) return null
  const [pair = '', ...attributes] = value.split(';')
  // A cookie without a name is sent as its value, which may look like one with a name.
  const name = (pair.replace(/^[\s=]+/, '').split('=', 1)[0] ?? '').trim().toLowerCase()
  if (HOST_PREFIX.test(name) || OWN_NAMES.has(name.replace(/^__secure-/, ''))) return null
  let ownPath: string | null = null
  const kept: string[] = []
  for (const attribute of attributes) {
    const [key = '', ...rest] = attribute.split('=')
    const plain = key.trim().toLowerCase()
    // Of several the last counts.
    if (plain === 'path') ownPath = rest.join('=').trim()
    else if (plain !== 'domain' && ATTRIBUTE_NAME.test(plain)) kept.push(attribute)
  }
  const below = ownPath !== null && PLAIN_PATH.test(ownPath) ? ownPath : defaultPath(path, ownPath)
  return [pair, ...kept, ` Path=${prefix}${below === '/' ? '' : below}`].join(';')
}

/** As a client has it (RFC 6265, 5.1.4): the folder of the path called. */
function defaultPath(path: string, given: string | null): string {
  if (given?.startsWith('/')) return '/'
  const folder = path.slice(0, path.lastIndexOf('/'))
  return PLAIN_PATH.test(folder) ? folder : '/'
}
