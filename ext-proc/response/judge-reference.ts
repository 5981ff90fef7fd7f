import type { Target } from '../../core/policy/parse-target.ts'
import { type CalledNames, type GatewayAddress, isGatewayAddress } from './gateway-address.ts'
import { isTargetPath } from './is-target-path.ts'
import { escapeBytes, readReference } from './read-reference.ts'

/** How a call came to the gateway, and where it went: what a reference in its response is resolved against. */
export interface CallPlace {
  readonly target: Target
  readonly base_url: string
  /** Envoy's `:path`, as the caller wrote it. */
  readonly path: string
  readonly called: CalledNames
  readonly gateway: GatewayAddress
}

export type JudgedReference =
  /** `text` is how it may go out. */
  | { readonly kind: 'pass'; readonly text: string }
  | { readonly kind: 'refused'; readonly reason: RefusedReference }

/** `details.reason` of `redirect_refused`. */
export type RefusedReference = 'gateway_address' | 'other_origin' | 'target_path' | 'unreadable'

const refused = (reason: RefusedReference): JudgedReference => ({ kind: 'refused', reason })

/**
 * A reference that clients follow: one to the same API is written as a path of the gateway below that API's, and one to
 * elsewhere so that every client reads the same host.
 */
export function judgeFollowed(raw: string, place: CallPlace): JudgedReference {
  if (raw.trim() === '') return { kind: 'pass', text: raw }
  const reference = readReference(raw, baseOf(place.target))
  if (reference.kind === 'unreadable') return refused('unreadable')
  if (reference.url !== null) {
    const reason = leadsBack(reference.url, place)
    if (reason !== null) return refused(reason)
  }
  const text =
    reference.kind === 'elsewhere' ? reference.text : `${gatewayPrefix(place)}${reference.path}`
  return { kind: 'pass', text }
}

/**
 * A reference to which a client will send its key and its messages, as it takes the gateway for the API: only one to
 * the same API passes, as a path of the gateway. An absolute one is written so too, since clients compare origins.
 */
export function judgeEndpoint(raw: string, place: CallPlace): JudgedReference {
  const reference = readReference(raw, baseOf(place.target))
  if (reference.kind === 'unreadable') return refused('unreadable')
  const { url } = reference
  const reason = url === null ? 'other_origin' : leadsBack(url, place)
  if (url === null || reason !== null) return refused(reason ?? 'other_origin')
  if (url.origin !== place.target.origin) return refused('other_origin')
  return { kind: 'pass', text: `${gatewayPrefix(place)}${url.pathname}${url.search}${url.hash}` }
}

/**
 * A reference that goes out as it is. A client that resolves it does so against the URL by which it called the gateway,
 * so it may neither lead back in the API's reading nor in the client's.
 */
export function judgeUntouched(raw: string, place: CallPlace): RefusedReference | null {
  if (raw.trim() === '') return null
  const reference = readReference(raw, baseOf(place.target))
  if (reference.kind === 'unreadable') return 'unreadable'
  if (reference.url === null) return null
  const reason = leadsBack(reference.url, place)
  if (reason !== null) return reason
  if (reference.kind === 'elsewhere') return PLAIN_AUTHORITY.test(raw.trim()) ? null : 'unreadable'
  // How far `..` climbs through the two slashes of our own path, clients do not agree on.
  if (CLIMBS.test(raw) && NAMES_SCHEME.test(raw)) return 'target_path'
  const seen = new URL(raw, `http://gateway.invalid${escapeBytes(place.path)}`).pathname
  const own = new URL(`http://gateway.invalid${gatewayPrefix(place)}`).pathname
  return seen !== own && !seen.startsWith(`${own}/`) && isTargetPath(seen) ? 'target_path' : null
}

function leadsBack(url: URL, { called, gateway, target }: CallPlace): RefusedReference | null {
  if (isGatewayAddress(url, called, gateway, target)) return 'gateway_address'
  return isTargetPath(url.pathname) ? 'target_path' : null
}

/** The URL by which the API was called, without what the credential added. */
const baseOf = ({ origin, raw_path, raw_query }: Target): URL =>
  new URL(
    `${origin}${escapeBytes(raw_path)}${raw_query === null ? '' : `?${escapeBytes(raw_query)}`}`,
  )

const PLAIN_PREFIX = /^[!-:<-~]+$/

/** The path of the gateway that stands for the API's root, as the caller spells it, so that its cookies match. */
export function gatewayPrefix({ path, target }: CallPlace): string {
  const query_length = target.raw_query === null ? 0 : target.raw_query.length + 1
  const written = path.slice(0, path.length - query_length)
  const prefix = written.endsWith(target.raw_path)
    ? written.slice(0, -target.raw_path.length)
    : written
  return PLAIN_PREFIX.test(prefix) ? prefix : `/${target.origin}`
}

const PLAIN_AUTHORITY = /^(?:https?:)?\/\/(?:[a-z\d._-]+|\[[\da-f:.]+\])(?::\d{1,5})?(?:[/?#]|$)/i
const CLIMBS = /(?:^|[/\\]|%2f|%5c)(?:\.|%2e){2}(?:$|[/\\?#]|%2f|%5c)/i
const NAMES_SCHEME = /(?:^|[/\\]|%2f|%5c)https?(?::|%3a)/i
