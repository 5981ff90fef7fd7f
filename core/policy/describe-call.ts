import { maskWithin } from '../masking/mask-secrets.ts'
import type { BaseUrl } from './parse-base-url.ts'
import type { Target } from './parse-target.ts'

/** What a refusal, an event or the log repeats of a path is at most this long, in characters. */
const SHOWN_PATH_LIMIT = 2_048
/** What follows the shown part and is looked at, since a secret may begin before it. */
const AFTER_LIMIT = 256
/** No key of a provider has a shorter segment, and the parts of a pair are joined by a sign; nearly all paths have neither. */
const MAY_HOLD_SECRET = /[^/]{16}|[%=@:;]/

/** What of a target is shown. */
type Shown = Pick<Target, 'origin' | 'raw_path'>

/** `attempted_action`: `POST /chat/completions`, the method and the path below the base URL as the caller wrote it. */
export const describeAction = (
  method: string,
  target: Shown,
  base: Pick<BaseUrl, 'segments'>,
): string => `${method} ${shown(target, startBelow(target.raw_path, base.segments.length))}`

/**
 * `endpoint`: the path of the target as the caller wrote it, without its query and with what looks like a secret hidden:
 * some APIs have the credential in the path (`/bot<token>/sendMessage`), and every role reads the log.
 */
export const describeEndpoint = (target: Shown): string => shown(target, 0)

/** Segments are split at plain slashes alone, so as many slashes of the raw path belong to the base URL. */
function startBelow(rawPath: string, baseSegments: number): number {
  let at = 0
  for (let i = 0; i < baseSegments; i++) {
    at = rawPath.indexOf('/', at + 1)
    if (at === -1) return rawPath.length
  }
  return at
}

function shown({ origin, raw_path }: Shown, start: number): string {
  const path = textOf(raw_path.slice(start)) || '/'
  const isCut = path.length > SHOWN_PATH_LIMIT
  const part = isCut ? path.slice(0, SHOWN_PATH_LIMIT - 1) : path
  const text = MAY_HOLD_SECRET.test(path)
    ? maskWithin(
        origin + textOf(raw_path.slice(0, start)),
        part,
        path.slice(part.length, part.length + AFTER_LIMIT),
      )
    : part
  // What is hidden may be shorter than what hides it.
  return isCut || text.length > SHOWN_PATH_LIMIT ? `${text.slice(0, SHOWN_PATH_LIMIT - 1)}…` : text
}

/** Raw bytes become the text they are; the parser has made sure that they are UTF-8. */
function textOf(rawPath: string): string {
  for (let i = 0; i < rawPath.length; i++)
    if (rawPath.charCodeAt(i) >= 0x80) return Buffer.from(rawPath, 'latin1').toString('utf8')
  return rawPath
}
