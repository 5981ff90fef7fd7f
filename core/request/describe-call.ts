import { PLACEHOLDER } from '../credential/fill-placeholder.ts'
import { maskWithin } from '../masking/mask-secrets.ts'
import type { SegmentRange } from './fold-segments.ts'
import type { BaseUrl } from './parse-base-url.ts'
import type { Target } from './parse-target.ts'

/** Maximum number of characters of a path in a refusal, an event or the log. */
const SHOWN_PATH_LIMIT = 2_048
/** How much text after the shown part is considered for masking, because a secret may begin in the shown part. */
const AFTER_LIMIT = 256
/** No provider has shorter keys, and a pair of name and value has a separator; nearly all paths have neither. */
const MAY_HOLD_SECRET = /[^/]{16}|[%=@:;]/

/** The part of a target that is shown. */
type Shown = Pick<Target, 'origin' | 'raw_path'>

/** `attempted_action`: `POST /chat/completions`, the method and the path below the base URL as the caller wrote it. */
export const describeAction = (
  method: string,
  target: Shown,
  base: Pick<BaseUrl, 'segments'>,
): string => `${method} ${shown(target, startBelow(target.raw_path, base.segments.length))}`

/** Characters that change how a line is shown. */
const UNSEEN = /[\p{C}\p{Zl}\p{Zp}]/gu

/**
 * `refused_reading`: `POST /chat/completions`, the method and the decoded path below the base URL as an API may read it. Null if the
 * path holds a secret: a reading may divide it, so that its parts are no longer recognized.
 */
export function describeReading(
  method: string,
  { raw_path, segments: decoded }: Pick<Target, 'raw_path' | 'segments'>,
  base: Pick<BaseUrl, 'segments'>,
  { segments, from }: SegmentRange,
): string | null {
  const start = startBelow(raw_path, base.segments.length)
  const [written, whole] = [textOf(raw_path), decoded.join('/')]
  const path = `/${segments.slice(from).join('/')}`
  const isMasked = (text: string): boolean => maskWithin('', text, '') !== text
  if ([written, whole, textOf(raw_path.slice(start)), path].some(isMasked)) return null
  const text = path.length > SHOWN_PATH_LIMIT ? `${path.slice(0, SHOWN_PATH_LIMIT - 1)}…` : path
  return `${method} ${text.replaceAll(UNSEEN, (one) => encodeURIComponent(one))}`
}

/**
 * `endpoint`: the path of the target as the caller wrote it, without its query and with secrets masked: some APIs have the
 * credential in the path (`/bot<token>/sendMessage`), and every role reads the log.
 */
export const describeEndpoint = (target: Shown): string => shown(target, 0)

/** Segments are split only at unencoded slashes, so the same number of slashes of the raw path belongs to the base URL. */
function startBelow(rawPath: string, baseSegments: number): number {
  let at = 0
  for (let i = 0; i < baseSegments; i++) {
    at = rawPath.indexOf('/', at + 1)
    if (at === -1) return rawPath.length
  }
  return at
}

const shown = ({ origin, raw_path }: Shown, start: number): string =>
  shownText(origin + textOf(raw_path.slice(0, start)), textOf(raw_path.slice(start)) || '/')

/** @param before the text in front of the path: a secret may be recognized by it */
function shownText(before: string, path: string): string {
  const isCut = path.length > SHOWN_PATH_LIMIT
  const part = isCut ? path.slice(0, SHOWN_PATH_LIMIT - 1) : path
  // The placeholder stands for a secret, and is none.
  const text = MAY_HOLD_SECRET.test(path.replaceAll(PLACEHOLDER, ''))
    ? maskWithin(before, part, path.slice(part.length, part.length + AFTER_LIMIT))
    : part
  // The masked text may be shorter than the mask.
  return isCut || text.length > SHOWN_PATH_LIMIT ? `${text.slice(0, SHOWN_PATH_LIMIT - 1)}…` : text
}

/** Converts raw bytes to text; the parser has checked that they are UTF-8. */
function textOf(rawPath: string): string {
  for (let i = 0; i < rawPath.length; i++)
    if (rawPath.charCodeAt(i) >= 0x80) return Buffer.from(rawPath, 'latin1').toString('utf8')
  return rawPath
}
