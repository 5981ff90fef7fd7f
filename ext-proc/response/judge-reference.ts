import { matchIntegration } from '../../core/policy/match-integration.ts'
import type { IntegrationTable } from '../../core/policy/compile-integrations.ts'
import { parseTarget, type Target } from '../../core/policy/parse-target.ts'
import {
  type CalledNames,
  type GatewayAddress,
  isGatewayAddress,
  sharesGatewayHost,
} from './gateway-address.ts'
import { hidesDotSegment } from './hides-dot-segment.ts'
import { isTargetPath } from './is-target-path.ts'
import { escapeBytes, readReference } from './read-reference.ts'

/** How a call came to the gateway, and where it went: what a reference in its response is resolved against. */
export interface CallPlace {
  readonly target: Target
  readonly base_url: string
  /** The integrations of the API's origin; null if there is no other than that of `base_url`. */
  readonly siblings: IntegrationTable | null
  /**
   * The caller addresses the API itself, through the forward proxy: what leads to any integration comes back to the gateway, and
   * nothing is rewritten. `siblings` are then all integrations of the organization.
   */
  readonly is_proxied: boolean
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
export type RefusedReference =
  | 'gateway_address'
  | 'other_integration'
  | 'other_origin'
  | 'target_path'
  | 'unreadable'

const refused = (reason: RefusedReference): JudgedReference => ({ kind: 'refused', reason })

/**
 * A reference that clients follow: one to the same API is written as a path of the gateway below that API's, and one to
 * elsewhere so that every client reads the same host.
 */
export function judgeFollowed(raw: string, place: CallPlace): JudgedReference {
  if (raw.trim() === '') return { kind: 'pass', text: raw }
  if (place.is_proxied) {
    const reason = judgeProxied(raw, place)
    return reason === null ? { kind: 'pass', text: raw } : refused(reason)
  }
  const reference = readReference(raw, baseOf(place.target))
  switch (reference.kind) {
    case 'unreadable':
      return refused('unreadable')
    case 'other_scheme': {
      const reason = judgeAfterScheme(reference.after_scheme, place)
      return reason === null ? { kind: 'pass', text: reference.text } : refused(reason)
    }
    case 'same_api':
      return belowApi(reference.url, place)
    case 'elsewhere': {
      const { url, text } = reference
      const reason = leadsBack(url, place)
      if (reason !== null) return refused(reason)
      if (!sharesGatewayHost(url, place.called, place.target)) return { kind: 'pass', text }
      // Clients would send the key there. The API itself may be at another port of the gateway's host.
      return url.origin === place.target.origin ? belowApi(url, place) : refused('gateway_address')
    }
  }
}

/**
 * A reference to which a client will send its key and its messages, as it takes the gateway for the API: only one to
 * the same API passes, as a path of the gateway. An absolute one is written so too, since clients compare origins.
 */
export function judgeEndpoint(raw: string, place: CallPlace): JudgedReference {
  const reference = readReference(raw, baseOf(place.target))
  if (reference.kind === 'unreadable') return refused('unreadable')
  if (reference.kind === 'other_scheme') return refused('other_origin')
  const { url } = reference
  const reason = leadsBack(url, place)
  if (reason !== null) return refused(reason)
  return url.origin === place.target.origin ? belowApi(url, place) : refused('other_origin')
}

/**
 * A reference that goes out as it is. A client that resolves it does so against the URL by which it called the gateway,
 * so it may neither lead back in the API's reading nor in the client's.
 */
export function judgeUntouched(raw: string, place: CallPlace, depth = 0): RefusedReference | null {
  if (raw.trim() === '') return null
  if (place.is_proxied) return judgeProxied(raw, place)
  const reference = readReference(raw, baseOf(place.target))
  switch (reference.kind) {
    case 'unreadable':
      return 'unreadable'
    case 'other_scheme':
      return judgeAfterScheme(reference.after_scheme, place, depth)
    case 'elsewhere':
      return (
        leadsBack(reference.url, place) ?? (PLAIN_AUTHORITY.test(raw.trim()) ? null : 'unreadable')
      )
    case 'same_api':
      return (
        leadsBack(reference.url, place) ??
        leadsAside(reference.url.pathname, place) ??
        leadsBackFromGateway(raw, place)
      )
  }
}

/**
 * A reference in a response to a caller of the forward proxy. One to another integration would be called with its credential,
 * which the API must not bring about (threat model, rule 29); any other is decided when it is called.
 */
function judgeProxied(raw: string, place: CallPlace): RefusedReference | null {
  const reference = readReference(raw, baseOf(place.target))
  if (reference.kind === 'unreadable') return 'unreadable'
  if (reference.kind === 'other_scheme') return null
  const { url } = reference
  if (isGatewayAddress(url, place.called, place.gateway, place.target)) return 'gateway_address'
  return leadsAside(url.pathname, place, url.origin)
}

/** Schemes before a scheme that are looked behind; a URN has more, and clients do not follow those. */
const SCHEMES_MAX = 4

/** Some clients drop `url:` (Java), or a scheme that they do not know, and follow what stands behind it. */
function judgeAfterScheme(text: string, place: CallPlace, depth = 0): RefusedReference | null {
  if (depth === SCHEMES_MAX) return null
  const reason = judgeUntouched(text, place, depth + 1)
  return reason === 'unreadable' && !/^https?:/i.test(text.trim()) ? null : reason
}

/** What a client makes of a relative reference, for which the gateway is the API. */
function leadsBackFromGateway(raw: string, place: CallPlace): RefusedReference | null {
  // How far `..` climbs through the two slashes of our own path, clients do not agree on.
  if (CLIMBS.test(raw) && NAMES_SCHEME.test(raw)) return 'target_path'
  const seen = new URL(raw, `http://gateway.invalid${escapeBytes(place.path)}`).pathname
  const own = new URL(`http://gateway.invalid${gatewayPrefix(place)}`).pathname
  if (seen === own) return null
  if (seen.startsWith(`${own}/`)) return leadsAside(seen.slice(own.length), place)
  return isTargetPath(seen) ? 'target_path' : null
}

function leadsBack(url: URL, { called, gateway, target }: CallPlace): RefusedReference | null {
  if (isGatewayAddress(url, called, gateway, target)) return 'gateway_address'
  return isTargetPath(url.pathname) ? 'target_path' : null
}

/** Whether a path of the API's origin leads out of it, or to another integration and so to its credential. */
function leadsAside(
  path: string,
  { siblings, target, base_url }: CallPlace,
  origin: string = target.origin,
): RefusedReference | null {
  if (hidesDotSegment(path)) return 'target_path'
  if (siblings === null) return null
  const parsed = parseTarget(`/${origin}${path}`)
  // The gateway refuses the call.
  if (!parsed.ok) return null
  const { integration, is_ambiguous } = matchIntegration(siblings, parsed.target)
  const isOther = integration !== null && integration.base.base_url !== base_url
  return isOther || is_ambiguous ? 'other_integration' : null
}

/** A URL of the API's origin, written as a path of the gateway. */
function belowApi(url: URL, place: CallPlace): JudgedReference {
  const reason = isTargetPath(url.pathname) ? 'target_path' : leadsAside(url.pathname, place)
  if (reason !== null) return refused(reason)
  return { kind: 'pass', text: `${gatewayPrefix(place)}${url.pathname}${url.search}${url.hash}` }
}

/** The URL by which the API was called, without what the credential added. */
const baseOf = ({ origin, raw_path, raw_query }: Target): URL =>
  new URL(
    `${origin}${escapeBytes(raw_path)}${raw_query === null ? '' : `?${escapeBytes(raw_query)}`}`,
  )

const PLAIN_PREFIX = /^[!-:<-~]+$/

/** The path of the gateway that stands for the API's root, as the caller spells it, so that its cookies match. */
export function gatewayPrefix({ path, target, is_proxied }: CallPlace): string {
  if (is_proxied) return ''
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
