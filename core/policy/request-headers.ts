import type { Header } from './header.ts'
import { holdsGatewayKey } from './holds-gateway-key.ts'
import type { OwnedName } from './owned-name.ts'
import { perHeaderName } from './per-header-name.ts'
import { plainHeaderName } from './plain-header-name.ts'

/** Never sent upstream: hop-by-hop, and what only a proxy may say or is ours to say. */
const REMOVED: ReadonlySet<string> = new Set([
  'authorization',
  'connection',
  'forwarded',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'trailers',
  'transfer-encoding',
  'upgrade',
  'x-real-ip',
  'x-request-id',
])
const REMOVED_PREFIXES = ['x-agw-', 'x-forwarded-', 'x-envoy-'] as const

/**
 * How the request is to be read: what a caller's `Connection` cannot take from it, and what is not said a second time
 * in another spelling (`Content_Type`), which some upstreams read instead.
 */
const FRAMING: ReadonlySet<string> = new Set([
  'content-encoding',
  'content-length',
  'content-type',
  'host',
])

/**
 * The names, as they are spelled in the request, that must not go upstream. Names are compared in their plain
 * form, since an upstream may read `X_Forwarded_For` as `X-Forwarded-For`. One that holds a gateway key goes whole;
 * of cookies only those that hold one do, see `dropOwnCookies`.
 * @param owned what the integration's credential fills, whether or not it will be filled.
 */
export function headersToRemove(headers: readonly Header[], owned: OwnedName): string[] {
  const nominated = nominatedBy(headers)
  const names: string[] = []
  for (const { name, value } of headers) {
    const { plain, fate } = nameFacts(name)
    if (fate === 'stays') continue
    const goes =
      fate === 'goes' ||
      (owned.kind === 'header' && (plain === owned.name || owned.further?.includes(plain))) ||
      nominated.includes(plain) ||
      (name !== 'cookie' && holdsGatewayKey(value))
    if (goes && !names.includes(name)) names.push(name)
  }
  return names
}

/** What becomes of a header by its name alone; `asked` where it depends on the call. */
const nameFacts = perHeaderName(
  (name): { readonly plain: string; readonly fate: 'stays' | 'goes' | 'asked' } => {
    const plain = plainHeaderName(name)
    // A pseudo-header.
    if (name.charCodeAt(0) === 0x3a) return { plain, fate: 'stays' }
    const goes =
      REMOVED.has(plain) ||
      (plain !== name && FRAMING.has(plain)) ||
      REMOVED_PREFIXES.some((prefix) => plain.startsWith(prefix))
    return { plain, fate: goes ? 'goes' : 'asked' }
  },
)

const NOTHING: readonly string[] = []

function nominatedBy(headers: readonly Header[]): readonly string[] {
  const connection = headers.filter(isConnection)
  if (connection.length === 0) return NOTHING
  return connection
    .flatMap(({ value }) => value.split(','))
    .map((token) => plainHeaderName(token.trim().toLowerCase()))
    .filter((token) => token !== '' && !FRAMING.has(token))
}

const isConnection = ({ name }: Header): boolean => name === 'connection'

/** The value of `Via` for the upstream: what the caller sent, and this gateway. */
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
