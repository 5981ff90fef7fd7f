import type { Header } from './header.ts'
import { isDropped, isFraming } from '../catalogue/header-table.ts'
import { holdsGatewayKey } from './holds-gateway-key.ts'
import type { OwnedName } from './owned-name.ts'
import { perHeaderName } from './per-header-name.ts'
import { plainHeaderName } from './plain-header-name.ts'

/**
 * The names, as spelled in the request, of headers that must not be sent upstream. Names are compared in their plain form,
 * because an upstream may read `X_Forwarded_For` as `X-Forwarded-For`. A header that contains a gateway key is removed; of
 * cookies, only those that contain one are, see `dropOwnCookies`. @param owned what the integration's credential fills, even if
 * it will not be filled. @param keeps_authorization the client's own `Authorization` stays, unless it contains a gateway key
 */
export function headersToRemove(
  headers: readonly Header[],
  owned: readonly OwnedName[],
  keeps_authorization = false,
): string[] {
  const nominated = nominatedBy(headers)
  const names: string[] = []
  for (const { name, value } of headers) {
    const { plain, fate } = nameFacts(name)
    if (fate === 'stays') continue
    const isKept = keeps_authorization && name === 'authorization'
    const goes =
      (fate === 'goes' && !isKept) ||
      (!isKept && owned.some((one) => isOwned(one, plain))) ||
      nominated.includes(plain) ||
      (name !== 'cookie' && holdsGatewayKey(value))
    if (goes && !names.includes(name)) names.push(name)
  }
  return names
}

const isOwned = (
  { kind, name, further }: OwnedName & { further?: readonly string[] },
  plain: string,
): boolean => kind === 'header' && (plain === name || further?.includes(plain) === true)

/** How a header is treated according to its name; `asked` if it depends on the call. */
const nameFacts = perHeaderName(
  (name): { readonly plain: string; readonly fate: 'stays' | 'goes' | 'asked' } => {
    const plain = plainHeaderName(name)
    // A pseudo-header.
    if (name.charCodeAt(0) === 0x3a) return { plain, fate: 'stays' }
    const goes = isDropped(plain) || (plain !== name && isFraming(plain))
    return { plain, fate: goes ? 'goes' : 'asked' }
  },
)

const NOTHING: readonly string[] = []

function nominatedBy(headers: readonly Header[]): readonly string[] {
  let names: Set<string> | null = null
  for (const { name, value } of headers) {
    if (name !== 'connection') continue
    names ??= new Set()
    for (const token of value.split(',')) if (token !== '') names.add(token.trim().toLowerCase())
  }
  if (names === null) return NOTHING
  return [...names].map(plainHeaderName).filter((token) => token !== '' && !isFraming(token))
}

/** The value of `Via` for the upstream: the caller's value and this gateway. */
export function appendVia(headers: readonly Header[], installation: string): string {
  let hops = ''
  for (const { name, value } of headers)
    if (name === 'via' && value.trim() !== '') hops += `${value}, `
  return `${hops}1.1 ${viaName(installation)}`
}

/** Whether the call has passed this deployment before (508 `loop_detected`). */
export function hasOwnVia(headers: readonly Header[], installation: string): boolean {
  for (const { name, value } of headers)
    if (name === 'via' && namesOwnHop(value, viaName(installation))) return true
  return false
}

const namesOwnHop = (via: string, own: string): boolean =>
  via.includes(own) && via.split(',').some((hop) => hop.trim().split(/\s+/, 2)[1] === own)

const viaName = (installation: string): string => `agw-${installation}`
