import type { BaseUrl } from './parse-base-url.ts'
import type { Target } from './parse-target.ts'

/** What a refusal, an event or the log repeats of a path is at most this long, in characters. */
const SHOWN_PATH_LIMIT = 2_048

/** `attempted_action`: `POST /chat/completions`, the method and the path below the base URL as the caller wrote it. */
export const describeAction = (
  method: string,
  target: Pick<Target, 'raw_path'>,
  base: Pick<BaseUrl, 'segments'>,
): string => `${method} ${shown(pathBelow(target.raw_path, base.segments.length))}`

/** `endpoint`: the path of the target as the caller wrote it, without its query. */
export const describeEndpoint = (target: Pick<Target, 'raw_path'>): string => shown(target.raw_path)

/** Segments are split at plain slashes alone, so as many slashes of the raw path belong to the base URL. */
function pathBelow(rawPath: string, baseSegments: number): string {
  let at = 0
  for (let i = 0; i < baseSegments; i++) {
    at = rawPath.indexOf('/', at + 1)
    if (at === -1) return '/'
  }
  return rawPath.slice(at)
}

/** Raw bytes become the text they are; the parser has made sure that they are UTF-8. */
function shown(rawPath: string): string {
  let isAscii = true
  for (let i = 0; i < rawPath.length && isAscii; i++) isAscii = rawPath.charCodeAt(i) < 0x80
  const text = isAscii ? rawPath : Buffer.from(rawPath, 'latin1').toString('utf8')
  return text.length <= SHOWN_PATH_LIMIT ? text : `${text.slice(0, SHOWN_PATH_LIMIT - 1)}…`
}
