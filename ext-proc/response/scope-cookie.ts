import { SESSION_COOKIES } from '../../core/request/drop-own-cookies.ts'

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
/**
 * An attribute that every reader ends at the next semicolon: no quotes, and nothing that some take for a further cookie.
 * Dates have a comma after the weekday.
 */
const PLAIN_ATTRIBUTE = /^[a-z-]+(?:\s*=\s*(?:[a-z]+,\s?)?[^=",]*)?$/i
/** The standards have eight. */
const ATTRIBUTES_MAX = 64
/** A path in other characters is read in different ways; the cookie is then for the whole API. */
const PLAIN_PATH = /^\/[!#-+\--:<-~]*$/
const CLIMBS = /(?:^|[/\\]|%2f|%5c)(?:\.|%2e){2}(?:$|[/\\]|%2f|%5c)/i

/** What Java ends a cookie at, and what Python and others end an attribute at: behind it another cookie may begin. */
const SEVERAL = /[\s,\x85][^\s,;="\x85]+\s*=/
/** A quoted value. */
const QUOTED = /^"(?:[^"\\]|\\.)*"$/

/** These demand `Path=/`, by which a client would send them to every API. */
const HOST_PREFIX = /^__host-/
const OWN_NAMES: ReadonlySet<string> = new Set(
  SESSION_COOKIES.map((name) => name.toLowerCase().replace(/^__(?:host|secure)-/, '')),
)

/**
 * The value of `Set-Cookie` by which a client sends the cookie to the API that set it, and to no other through this
 * gateway: with a `Path` below the API's and no `Domain`. Null for a cookie that is dropped: one that clients would send
 * elsewhere, or read as several.
 */
export function scopeCookie(value: string, { prefix, path }: CookiePlace): string | null {
  if (CONTROL.test(value)) return null
  const [pair = '', ...attributes] = value.split(';', ATTRIBUTES_MAX + 2)
  if (attributes.length > ATTRIBUTES_MAX) return null
  if (!isOneCookie(pair.trim())) return null
  // A cookie without a name is sent as its value, which may look like one with a name.
  const name = (pair.replace(/^[\s="]+/, '').split('=', 1)[0] ?? '')
    .replace(/(?<![\s"])[\s"]+$/, '')
    .toLowerCase()
  if (HOST_PREFIX.test(name) || OWN_NAMES.has(name.replace(/^__secure-/, ''))) return null
  let ownPath: string | null = null
  const kept: string[] = []
  for (const attribute of attributes) {
    const [key = '', ...rest] = attribute.split('=')
    const plain = key.trim().toLowerCase()
    // Of several the last counts.
    if (plain === 'path') ownPath = rest.join('=').trim()
    else if (plain !== 'domain' && PLAIN_ATTRIBUTE.test(attribute.trim())) kept.push(attribute)
  }
  const isUsable = ownPath !== null && PLAIN_PATH.test(ownPath) && !CLIMBS.test(ownPath)
  const below = isUsable ? ownPath : defaultPath(path, ownPath)
  // With its last slash, for readers that take it for the beginning of a text: `/https://api.example.com.evil.test`.
  return [pair, ...kept, ` Path=${prefix}${below}`].join(';')
}

/**
 * Whether every reader takes name and value for one cookie that ends with them. Behind a quote that is not closed some
 * look for its end beyond the semicolon, and take `Path` for a part of the value.
 */
function isOneCookie(pair: string): boolean {
  if (SEVERAL.test(pair)) return false
  if (!pair.includes('"')) return true
  const value = pair.slice(pair.indexOf('=') + 1).trim()
  const isClosed = !value.startsWith('"') || QUOTED.test(value)
  return isClosed && areEven(pair) && areEven(pair.replaceAll(/\\./g, ''))
}

const areEven = (text: string): boolean => text.split('"').length % 2 === 1

/** As a client has it (RFC 6265, 5.1.4): the folder of the path called. */
function defaultPath(path: string, given: string | null): string {
  if (given?.startsWith('/')) return '/'
  const folder = path.slice(0, path.lastIndexOf('/'))
  return PLAIN_PATH.test(folder) ? folder : '/'
}
