import { isListedBy } from '../../core/decision/also-hosts.ts'
import type {
  CompiledIntegration,
  IntegrationTable,
} from '../../core/decision/compile-integrations.ts'
import { matchIntegration } from '../../core/decision/match-integration.ts'
import { parseTarget, type Target } from '../../core/request/parse-target.ts'
import {
  type CalledNames,
  type GatewayAddress,
  isGatewayAddress,
  namesApi,
  sharesGatewayHost,
} from './gateway-address.ts'
import { hidesDotSegment } from './hides-dot-segment.ts'
import { isTargetPath } from './is-target-path.ts'
import { escapeBytes, readReference } from './read-reference.ts'
import { knownUrl } from '../../core/bounded/parse-url.ts'

/** How a call came to the gateway, and where it went: what a reference in its response is resolved against. */
export interface CallPlace {
  readonly target: Target
  readonly base_url: string
  readonly integration: CompiledIntegration
  /** All integrations of the organization. */
  readonly integrations: IntegrationTable
  /** Whether the agent may call a target of another integration. */
  readonly mayCall: (method: string, target: Target, integration: CompiledIntegration) => boolean
  /** The caller addresses the API itself, through the forward proxy, and nothing is rewritten. */
  readonly is_proxied: boolean
  /** Envoy's `:path`, as the caller wrote it. */
  readonly path: string
  readonly method: string
  readonly called: CalledNames
  readonly gateway: GatewayAddress
  /** The call asked for a WebSocket, so the API may answer 101. */
  readonly may_switch?: boolean
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
 * elsewhere as a URL of the gateway, so that a client neither leaves it nor takes its key along.
 * @param isSafe the client follows it by GET or HEAD
 */
export function judgeFollowed(raw: string, place: CallPlace, isSafe: boolean): JudgedReference {
  if (raw.trim() === '') return { kind: 'pass', text: raw }
  if (place.is_proxied) {
    const reason = judgeProxied(raw, place, isSafe)
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
      return belowApi(reference.url, place, isSafe)
    case 'elsewhere': {
      const { url } = reference
      const reason = leadsBack(url, place)
      if (reason !== null) return refused(reason)
      // The API itself may be at another port of the gateway's host.
      if (url.origin === place.target.origin) return belowApi(url, place, isSafe)
      if (sharesGatewayHost(url, place.called, place.target)) return refused('gateway_address')
      const aside = leadsAside(url, place, isSafe)
      return aside === null ? belowGateway(url, place) : refused(aside)
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
 * @param isSafe clients of the forward proxy follow it by GET or HEAD, if at all
 */
export function judgeUntouched(
  raw: string,
  place: CallPlace,
  isSafe = false,
  depth = 0,
): RefusedReference | null {
  if (raw.trim() === '') return null
  if (place.is_proxied) return judgeProxied(raw, place, isSafe)
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
        leadsAside(reference.url, place) ??
        leadsBackFromGateway(raw, place)
      )
  }
}

/**
 * The URL of a next call, such as the next page: an absolute one is written as a URL of the gateway. One to another integration
 * is left out, since the API must not bring about calls with that one's credential.
 * @param isSafe clients of the forward proxy follow it by GET or HEAD
 * @returns the text to send, null to leave it out, or why the response is refused
 */
export function judgeNext(
  raw: string,
  place: CallPlace,
  isSafe = false,
): { readonly text: string | null } | { readonly refused: RefusedReference } {
  const reason = judgeUntouched(raw, place, isSafe)
  if (reason === 'other_integration') return { text: null }
  if (reason !== null) return { refused: reason }
  if (place.is_proxied || raw.trim() === '') return { text: raw }
  const reference = readReference(raw, baseOf(place.target))
  if (reference.kind !== 'elsewhere') return { text: raw }
  const { url } = reference
  if (leadsAside(url, place) !== null) return { text: null }
  const below = belowGateway(url, place)
  return below.kind === 'pass' ? { text: below.text } : { refused: below.reason }
}

/**
 * A reference in a response to a caller of the forward proxy. One to another integration would be called with its credential,
 * which the API must not bring about (threat model, rule 29), except by a GET that a scope of the agent allows; any other is
 * decided when it is called.
 */
function judgeProxied(raw: string, place: CallPlace, isSafe: boolean): RefusedReference | null {
  const reference = readReference(raw, baseOf(place.target))
  if (reference.kind === 'unreadable') return 'unreadable'
  if (reference.kind === 'other_scheme') return null
  const { url } = reference
  if (isGatewayAddress(url, place.called, place.gateway, place.target)) return 'gateway_address'
  return leadsAside(url, place, isSafe)
}

/** Schemes before a scheme that are looked behind; a URN has more, and clients do not follow those. */
const SCHEMES_MAX = 4

/** Some clients drop `url:` (Java), or a scheme that they do not know, and follow what stands behind it. */
function judgeAfterScheme(text: string, place: CallPlace, depth = 0): RefusedReference | null {
  if (depth === SCHEMES_MAX) return null
  const reason = judgeUntouched(text, place, false, depth + 1)
  return reason === 'unreadable' && !/^https?:/i.test(text.trim()) ? null : reason
}

/** What a client makes of a relative reference, for which the gateway is the API. */
function leadsBackFromGateway(raw: string, place: CallPlace): RefusedReference | null {
  // How far `..` climbs through the two slashes of our own path, clients do not agree on.
  if (CLIMBS.test(raw) && NAMES_SCHEME.test(raw)) return 'target_path'
  const seen = knownUrl(raw, `http://gateway.invalid${escapeBytes(place.path)}`).pathname
  const own = knownUrl(`http://gateway.invalid${gatewayPrefix(place)}`).pathname
  if (seen === own) return null
  if (seen.startsWith(`${own}/`))
    return leadsAside(knownUrl(place.target.origin + seen.slice(own.length)), place)
  return isTargetPath(seen) ? 'target_path' : null
}

function leadsBack(url: URL, { called, gateway, target }: CallPlace): RefusedReference | null {
  if (isGatewayAddress(url, called, gateway, target)) return 'gateway_address'
  return isTargetPath(url.pathname) ? 'target_path' : null
}

/**
 * Whether a URL leads to another integration and so to its credential. Allowed are the hosts that the answering integration lists,
 * and a GET that a scope of the agent allows.
 * @param isSafe the client follows it by GET or HEAD
 */
function leadsAside(url: URL, place: CallPlace, isSafe = false): RefusedReference | null {
  const { integrations, base_url, target, mayCall } = place
  const isHere = url.origin === target.origin
  if ((isHere || place.is_proxied) && hidesDotSegment(url.pathname)) return 'target_path'
  const parsed = parseTarget(`/${url.origin}${url.pathname}${url.search}`)
  // The gateway refuses the call.
  if (!parsed.ok) return null
  const { integration, is_ambiguous } = matchIntegration(integrations, parsed.target)
  if (is_ambiguous) return 'other_integration'
  if (integration === null || integration.base.base_url === base_url) return null
  if (isListedBy(integration, place.integration)) return null
  return isSafe && mayCall('GET', parsed.target, integration) ? null : 'other_integration'
}

/** A URL of another origin, written as one of the gateway. */
const belowGateway = (url: URL, place: CallPlace): JudgedReference =>
  url.username === '' && url.password === ''
    ? { kind: 'pass', text: `${proxyUrlOf(place)}/${url.href}` }
    : refused('unreadable')

const PLAIN_NAME = /^(?:[a-z\d._-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i

/** How the caller reaches the gateway; empty if that is not known, as where a client sends the API's own name as `Host`. */
function proxyUrlOf({ gateway, called, target }: CallPlace): string {
  if (gateway.proxy_url !== null) return gateway.proxy_url
  const { scheme, authority } = called
  if (!PLAIN_NAME.test(authority)) return ''
  return namesApi(authority, target) ? '' : `${scheme}://${authority}`
}

/** A URL of the API's origin, written as a path of the gateway. */
function belowApi(url: URL, place: CallPlace, isSafe = false): JudgedReference {
  const reason = isTargetPath(url.pathname) ? 'target_path' : leadsAside(url, place, isSafe)
  if (reason !== null) return refused(reason)
  return { kind: 'pass', text: `${gatewayPrefix(place)}${url.pathname}${url.search}${url.hash}` }
}

/** The URL by which the API was called, without what the credential added. */
const baseOf = ({ origin, raw_path, raw_query }: Target): URL =>
  knownUrl(
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
