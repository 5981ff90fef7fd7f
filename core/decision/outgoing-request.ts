import { dropOwnCookies } from '../request/drop-own-cookies.ts'
import type { Header } from '../request/header.ts'
import { holdsGatewayKey } from '../request/holds-gateway-key.ts'
import type { OwnedName } from '../request/owned-name.ts'
import { removeParameters, removeQueryParameter } from '../request/query-parameter.ts'
import { headersToRemove } from '../request/request-headers.ts'

/**
 * The caller's headers and query as they are sent upstream; only the credential is added later. Override checks, scans and
 * signatures use these, so that exactly what is sent is checked.
 */
export interface OutgoingRequest {
  readonly headers: readonly Header[]
  readonly raw_query: string | null
  /** Names of the caller's headers that are not sent upstream, as the caller spells them. */
  readonly remove: readonly string[]
  /** Replaces the caller's; null leaves it unchanged. */
  readonly cookie: string | null
}

/** @param owned what the credential may fill; it is removed even if it will not be filled. */
export function outgoingRequest(
  headers: readonly Header[],
  raw_query: string | null,
  owned: readonly OwnedName[],
  keeps_authorization = false,
): OutgoingRequest {
  const remove = headersToRemove(headers, owned, keeps_authorization)
  const cookie = remove.includes('cookie') ? null : dropOwnCookies(headers)
  if (cookie === '') remove.push('cookie')
  const kept: Header[] = []
  for (const header of headers) if (!remove.includes(header.name)) kept.push(header)
  return {
    headers: cookie ? [...kept.filter(({ name }) => name !== 'cookie'), asHeader(cookie)] : kept,
    raw_query: outgoingQuery(raw_query, owned),
    remove,
    cookie: cookie || null,
  }
}

const asHeader = (cookie: string): Header => ({ name: 'cookie', value: cookie })

function outgoingQuery(raw_query: string | null, owned: readonly OwnedName[]): string | null {
  let kept = raw_query
  for (const { kind, name, replaced_parameters } of owned) {
    if (kind === 'query') kept = removeQueryParameter(kept, name)
    if (replaced_parameters !== undefined) kept = removeParameters(kept, replaced_parameters)
  }
  if (kept === null || !holdsGatewayKey(kept)) return kept
  const pairs = kept.split('&').filter((pair) => !holdsGatewayKey(pair))
  const rest = pairs.join('&')
  // A key that is spelled with `&` is in no single pair.
  return pairs.length === 0 || holdsGatewayKey(rest) ? null : rest
}
