import type { Header } from '../../core/request/header.ts'
import type { Denial } from '../verdict/denial.ts'
import { headerOf } from '../verdict/response-inspector.ts'
import { challengeTargets, linkTargets, readLinks, refreshTargets } from './header-references.ts'
import {
  type CallPlace,
  gatewayPrefix,
  judgeFollowed,
  judgeNext,
  judgeUntouched,
  type RefusedReference,
} from './judge-reference.ts'
import { redirectRefused } from './redirect-refused.ts'
import { scopeCookie } from './scope-cookie.ts'

export type JudgedHeaders =
  | {
      readonly kind: 'pass'
      readonly headers: readonly Header[]
      /** The names of headers that led to another integration, and are not among `headers`. */
      readonly left_out: readonly string[]
    }
  | { readonly kind: 'deny'; readonly denial: Denial }

/** What becomes of one header: its value, null where it is dropped, or why the response is refused. */
type Judged =
  | { readonly value: string | null; readonly is_left_out?: true }
  | { readonly refused: RefusedHeader }
type RefusedHeader = RefusedReference | 'repeated' | 'too_many'

/** More references than any API sends in all headers of a response that hold several; each costs some 50 µs. */
const LINKS_LIMIT = 64
/** Of one header with references. */
const REFERENCES_LENGTH_LIMIT = 8_192

/**
 * All APIs share the gateway's origin, so none may lead a client to another of them, or set a cookie for it. Returns
 * the headers as they may go out, which is the same list where nothing changes.
 */
export function judgeHeaders(headers: readonly Header[], place: CallPlace): JudgedHeaders {
  const first = headers.find(({ name }) => name === 'location')
  const kept: Header[] = []
  const left_out: string[] = []
  const isSafe = followsByGet(headerOf(headers, ':status') ?? '', place.method)
  let isChanged = false
  let links = 0
  for (const header of headers) {
    const { name, value } = header
    if (name === ':status' && !IS_FINAL.test(value) && !(place.may_switch && value === '101'))
      return { kind: 'deny', denial: notFinal(place) }
    // Clients differ in which of several they follow.
    const targets = targetsIn(header, LINKS_LIMIT - links)
    links += targets?.length ?? 0
    const judged =
      name === 'location' && value !== first?.value
        ? { refused: 'repeated' as const }
        : judgeHeader(header, targets, place, isSafe)
    if ('refused' in judged)
      return { kind: 'deny', denial: redirectRefused(name, value, judged.refused, place.base_url) }
    if (judged.value === value) kept.push(header)
    else {
      isChanged = true
      if (judged.value !== null) kept.push({ name, value: judged.value })
      else if (judged.is_left_out) left_out.push(name)
    }
  }
  return { kind: 'pass', headers: isChanged ? kept : headers, left_out }
}

const NO_TARGETS: readonly string[] = []
const HOLDS_SEVERAL: ReadonlySet<string> = new Set([
  'link',
  'www-authenticate',
  'proxy-authenticate',
  'refresh',
])
const TOO_MANY: Judged = { refused: 'too_many' }

/** The references of a header that may hold several; null where they are too many. */
function targetsIn({ name, value }: Header, limit: number): readonly string[] | null {
  if (value.length > REFERENCES_LENGTH_LIMIT && HOLDS_SEVERAL.has(name)) return null
  switch (name) {
    case 'link':
      return linkTargets(value, limit)
    case 'www-authenticate':
    case 'proxy-authenticate':
      return challengeTargets(value, limit)
    case 'refresh':
      return refreshTargets(value)
    default:
      return NO_TARGETS
  }
}

/** @param targets the references of a header that may hold several; null where they are too many */
function judgeHeader(
  { name, value }: Header,
  targets: readonly string[] | null,
  place: CallPlace,
  isSafe: boolean,
): Judged {
  switch (name) {
    case 'location': {
      const judged = judgeFollowed(value, isSafe ? followedFrom(place) : place, isSafe)
      return judged.kind === 'pass' ? { value: judged.text } : { refused: judged.reason }
    }
    case 'content-location':
    case 'operation-location':
    case 'azure-asyncoperation':
    case 'x-goog-upload-url':
    case 'x-goog-upload-control-url':
      return next(value, place)
    case 'odata-entityid':
    case 'x-storage-url':
      return untouched(value, [value], place)
    case 'link':
      return targets === null ? TOO_MANY : link(value, targets, place)
    case 'refresh':
      return targets === null ? TOO_MANY : untouched(value, targets, place, IS_SAFE)
    case 'www-authenticate':
    case 'proxy-authenticate':
      return targets === null
        ? TOO_MANY
        : challenge(value, targets, place, name === 'www-authenticate')
    case 'set-cookie':
      // The client keeps it for the API's own origin.
      if (place.is_proxied) return { value }
      return {
        value: scopeCookie(value, { prefix: gatewayPrefix(place), path: place.target.raw_path }),
      }
    case LOOK_HEADER:
      return { value: null }
    default:
      return place.integration.integration.rewrite_headers?.includes(name) === true
        ? next(value, place)
        : { value }
  }
}

/** Of a reference that clients follow by GET, if at all. */
const IS_SAFE = true

const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

/**
 * After a call that may change something, some clients repeat its method where others use GET, such as `curl -X POST`. So a redirect
 * to another integration, where the agent may do that, passes for no client.
 */
const followedFrom = (place: CallPlace): CallPlace =>
  SAFE_METHODS.has(place.method)
    ? place
    : {
        ...place,
        mayCall: (method, to, at) =>
          place.mayCall(method, to, at) && !place.mayCall(place.method, to, at),
      }

/** Whether clients usually follow such a redirect by GET or HEAD. Of 301 and 302 many repeat all methods but POST. */
const followsByGet = (status: string, method: string): boolean =>
  SAFE_METHODS.has(method) ||
  status === '303' ||
  (method === 'POST' && (status === '301' || status === '302'))

const LEFT_OUT: Judged = { value: null, is_left_out: true }

/** The URL of a next call. */
function next(value: string, place: CallPlace): Judged {
  const judged = judgeNext(value, place)
  if ('refused' in judged) return judged
  return judged.text === null ? LEFT_OUT : { value: judged.text }
}

/**
 * Clients follow links to other pages. They are written to the target of some other relations, such as an inbox, so through
 * the forward proxy these do not lead to another integration.
 */
function link(value: string, references: readonly string[], place: CallPlace): Judged {
  const all = untouched(value, references, place)
  if ('refused' in all && all.refused !== 'other_integration') return all
  if (!PAGE.test(value) || (place.is_proxied && !('refused' in all))) return all
  const members = readLinks(value)
  // Clients would differ in what they follow.
  if (members === null) return LEFT_OUT
  const kept: string[] = []
  for (const { target, parameters, isPage } of members) {
    const judged = isPage ? judgeNext(target, place, IS_SAFE) : untouched(target, [target], place)
    if ('refused' in judged) return judged
    const text = 'text' in judged ? judged.text : target
    if (text === null) return LEFT_OUT
    kept.push(`<${text}>${parameters}`)
  }
  return { value: kept.join(', ') }
}

const PAGE = /\b(?:next|prev|previous|first|last)\b/i

/** @param isSafe see `judgeUntouched` */
function untouched(
  value: string,
  references: readonly string[],
  place: CallPlace,
  isSafe = false,
): Judged {
  for (const reference of references) {
    const reason = judgeUntouched(reference, place, isSafe)
    if (reason !== null) return { refused: reason }
  }
  return { value }
}

/**
 * A nonce may look like a reference, and one that cannot be read. Clients ask a token host, or for metadata, by GET; one that also
 * posts there needs a scope for that.
 */
function challenge(
  value: string,
  references: readonly string[],
  place: CallPlace,
  isSafe: boolean,
): Judged {
  for (const reference of references) {
    const reason = judgeUntouched(reference, place, isSafe)
    const isNonce = reason === 'unreadable' && !/http/i.test(reference)
    if (reason !== null && !isNonce) return { refused: reason }
  }
  return { value }
}

/** By which envoy/bootstrap.yaml marks the response of a call whose responses the processor wants to see. */
const LOOK_HEADER = 'x-agw-look'

export const withoutMark = (headers: readonly Header[]): readonly Header[] =>
  headers.filter(({ name }) => name !== LOOK_HEADER)

/** A 101 that answers no handshake was not asked for, and clients stumble over a status that HTTP does not have. */
const IS_FINAL = /^[2-9]\d\d$/

const notFinal = ({ base_url }: CallPlace): Denial => ({
  reason: 'upstream_reset',
  details: { base_url },
})
