import type { Header } from '../../core/policy/header.ts'
import type { Denial } from '../verdict/denial.ts'
import { challengeTargets, linkTargets, refreshTargets } from './header-references.ts'
import {
  type CallPlace,
  gatewayPrefix,
  judgeFollowed,
  judgeUntouched,
  type RefusedReference,
} from './judge-reference.ts'
import { redirectRefused } from './redirect-refused.ts'
import { scopeCookie } from './scope-cookie.ts'

export type JudgedHeaders =
  | { readonly kind: 'pass'; readonly headers: readonly Header[] }
  | { readonly kind: 'deny'; readonly denial: Denial }

/** What becomes of one header: its value, null where it is dropped, or why the response is refused. */
type Judged = { readonly value: string | null } | { readonly refused: RefusedHeader }
type RefusedHeader = RefusedReference | 'repeated' | 'too_many'

/** More references than any API sends in all headers of a response that hold several; each costs some 50 µs. */
const LINKS_LIMIT = 256

/**
 * All APIs share the gateway's origin, so none may lead a client to another of them, or set a cookie for it. Returns
 * the headers as they may go out, which is the same list where nothing changes.
 */
export function judgeHeaders(headers: readonly Header[], place: CallPlace): JudgedHeaders {
  const first = headers.find(({ name }) => name === 'location')
  const kept: Header[] = []
  let isChanged = false
  let links = 0
  for (const header of headers) {
    const { name, value } = header
    if (name === ':status' && !IS_FINAL.test(value))
      return { kind: 'deny', denial: notFinal(place) }
    // Clients differ in which of several they follow.
    const targets = targetsIn(header, LINKS_LIMIT - links)
    links += targets?.length ?? 0
    const judged =
      name === 'location' && value !== first?.value
        ? { refused: 'repeated' as const }
        : judgeHeader(header, targets, place)
    if ('refused' in judged)
      return { kind: 'deny', denial: redirectRefused(name, value, judged.refused, place.base_url) }
    if (judged.value === value) kept.push(header)
    else {
      isChanged = true
      if (judged.value !== null) kept.push({ name, value: judged.value })
    }
  }
  return { kind: 'pass', headers: isChanged ? kept : headers }
}

const NO_TARGETS: readonly string[] = []
const TOO_MANY: Judged = { refused: 'too_many' }

/** The references of a header that may hold several; null where they are too many. */
function targetsIn({ name, value }: Header, limit: number): readonly string[] | null {
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
): Judged {
  switch (name) {
    case 'location': {
      const judged = judgeFollowed(value, place)
      return judged.kind === 'pass' ? { value: judged.text } : { refused: judged.reason }
    }
    case 'content-location':
    case 'operation-location':
    case 'azure-asyncoperation':
    case 'x-goog-upload-url':
    case 'x-goog-upload-control-url':
    case 'odata-entityid':
    case 'x-storage-url':
      return untouched(value, [value], place)
    case 'refresh':
    case 'link':
      return targets === null ? TOO_MANY : untouched(value, targets, place)
    case 'www-authenticate':
    case 'proxy-authenticate':
      return targets === null ? TOO_MANY : challenge(value, targets, place)
    case 'set-cookie':
      // The client keeps it for the API's own origin.
      if (place.is_proxied) return { value }
      return {
        value: scopeCookie(value, { prefix: gatewayPrefix(place), path: place.target.raw_path }),
      }
    case LOOK_HEADER:
      return { value: null }
    default:
      return { value }
  }
}

function untouched(value: string, references: readonly string[], place: CallPlace): Judged {
  for (const reference of references) {
    const reason = judgeUntouched(reference, place)
    if (reason !== null) return { refused: reason }
  }
  return { value }
}

/** A nonce may look like a reference, and one that cannot be read. */
function challenge(value: string, references: readonly string[], place: CallPlace): Judged {
  const kept = references.filter(
    (reference) => /http/i.test(reference) || judgeUntouched(reference, place) !== 'unreadable',
  )
  return untouched(value, kept, place)
}

/** By which envoy/bootstrap.yaml marks the response of a call whose responses the processor wants to see. */
const LOOK_HEADER = 'x-agw-look'

export const withoutMark = (headers: readonly Header[]): readonly Header[] =>
  headers.filter(({ name }) => name !== LOOK_HEADER)

/** A 101 was not asked for, since upgrades are refused, and clients stumble over a status that HTTP does not have. */
const IS_FINAL = /^[2-9]\d\d$/

const notFinal = ({ base_url }: CallPlace): Denial => ({
  reason: 'upstream_reset',
  details: { base_url },
})
