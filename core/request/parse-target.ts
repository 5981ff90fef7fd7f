import { decodePath, type SplitReading } from './decode-path.ts'
import { holdsGatewayKey } from './holds-gateway-key.ts'
import { type ReadUrl, readUrl, type UrlProblem } from './read-url.ts'

/** The target of a call. `raw_path` and `raw_query` are exactly as the caller wrote them, one character per byte (latin1). */
export interface Target extends ReadUrl {
  /** Decoded until stable; base URLs and rules match on these. */
  readonly segments: readonly string[]
  /** Refused unless the integration has `allow_empty_segments`. The last segment may always be empty. */
  readonly has_empty_segment: boolean
  readonly trailing_slash: boolean
  /** The other readings of the path: split at encoded slashes, or ended at an encoded `?` or `#` or at `&`. Most targets have none. */
  readonly split_readings: readonly SplitReading[]
}

/** `details.reason` of `invalid_target_url`; `discovery` is answered 404. */
export type TargetProblem = UrlProblem | 'discovery' | 'gateway_key' | 'percent_encoded'

export type ParsedTarget =
  | { readonly ok: true; readonly target: Target }
  | { readonly ok: false; readonly reason: TargetProblem }

/** @param raw the `:path` from Envoy, `/https://host/path?query`, as latin1: one character per byte. */
export function parseTarget(raw: string): ParsedTarget {
  if (raw.charCodeAt(0) !== 0x2f) return { ok: false, reason: 'not_absolute' }
  const url = readUrl(withColons(raw), 1, 1)
  if (typeof url === 'string')
    return {
      ok: false,
      reason: DISCOVERY.test(raw)
        ? 'discovery'
        : isEncodedTarget(raw, url)
          ? 'percent_encoded'
          : url,
    }
  const path = decodePath(url.raw_path)
  if (typeof path === 'string') return { ok: false, reason: path }
  // Nothing can be removed from a path.
  if (holdsGatewayKey(url.raw_path)) return { ok: false, reason: 'gateway_key' }
  return {
    ok: true,
    target: {
      scheme: url.scheme,
      host: url.host,
      port: url.port,
      origin: url.origin,
      raw_path: url.raw_path,
      raw_query: url.raw_query,
      segments: path.segments,
      has_empty_segment: path.has_empty_segment,
      trailing_slash: path.trailing_slash,
      split_readings: path.split_readings,
    },
  }
}

/** Where a client looks for OAuth after a 401, or registers itself. What is below names a target that was refused. */
const DISCOVERY = /^\/(?:\.well-known(?:[/?]|$)|register\/?(?:\?|$))/

const isEncodedTarget = (raw: string, problem: UrlProblem): boolean =>
  problem === 'not_absolute' && isEncoded(raw)

/** Scheme, colon and slashes, each escaped twice. */
const ENCODED_PREFIX_MAX = 64
const ENCODED_ROUNDS_MAX = 3

/** Detects a client that escapes the whole target, as for a query parameter, so that the error can say so. */
function isEncoded(raw: string): boolean {
  let text = raw.slice(0, ENCODED_PREFIX_MAX)
  for (let round = 0; round < ENCODED_ROUNDS_MAX && text.includes('%'); round++) {
    text = text.replace(/%([0-9a-f]{2})/gi, (_, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    )
    if (/^\/https?:\/{1,2}[^/]/i.test(text)) return true
  }
  return false
}

const ESCAPED_COLON = /^\/(https?)%3A(\/{1,2}[^/?]*)/i

/** A client that escapes the path of its base URL, as an AWS client does for S3, writes the colons of the target as `%3A`. */
function withColons(raw: string): string {
  if (raw.charCodeAt(5) !== 0x25 && raw.charCodeAt(6) !== 0x25) return raw
  return raw.replace(
    ESCAPED_COLON,
    (_, scheme: string, authority: string) => `/${scheme}:${authority.replace(/%3A/gi, ':')}`,
  )
}
