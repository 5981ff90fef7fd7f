import { dropOwnCookies } from './drop-own-cookies.ts'
import type { Header } from './header.ts'
import { holdsGatewayKey } from './holds-gateway-key.ts'
import type { OwnedName } from './owned-name.ts'
import { removeParameters, removeQueryParameter } from './query-parameter.ts'
import { headersToRemove } from './request-headers.ts'

/**
 * The caller's headers and query as they go upstream; only the credential is still to be added. Overrides, scans and
 * signatures are asked of these, so that nothing is checked that does not go out, and nothing goes out unchecked.
 */
export interface OutgoingRequest {
  readonly headers: readonly Header[]
  readonly raw_query: string | null
  /** Names of the caller's headers that do not go upstream, as the caller spells them. */
  readonly remove: readonly string[]
  /** In place of the caller's; null leaves that as it is. */
  readonly cookie: string | null
}

/** @param owned what the credential fills, which is removed whether or not it will be filled. */
export function outgoingRequest(
  headers: readonly Header[],
  raw_query: string | null,
  owned: OwnedName,
): OutgoingRequest {
  const remove = headersToRemove(headers, owned)
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

function outgoingQuery(raw_query: string | null, owned: OwnedName): string | null {
  const { kind, name, replaced_parameters } = owned
  const without = kind === 'query' ? removeQueryParameter(raw_query, name) : raw_query
  const kept =
    replaced_parameters === undefined ? without : removeParameters(without, replaced_parameters)
  if (kept === null || !holdsGatewayKey(kept)) return kept
  const pairs = kept.split('&').filter((pair) => !holdsGatewayKey(pair))
  return pairs.length === 0 ? null : pairs.join('&')
}
