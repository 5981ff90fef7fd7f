import { foldCompatible } from '../../core/request/fold-compatible.ts'
import { pathDecodings } from './path-decodings.ts'

const HIDES = /[%;]/
const CLIMBS = /(?:^|[/\\;]) *\.\. *(?:[/\\;]|$)/

/**
 * Whether a reader that decodes a path, or cuts parameters off its segments, finds `..` in it (`..%2f`, `..;`). This
 * gateway refuses such a path; a proxy in front of it may climb out of the API's origin.
 * @param path of a URL, so that plain dot segments are resolved
 */
export function hidesDotSegment(path: string): boolean {
  if (!HIDES.test(path)) return false
  return pathDecodings(path)?.some((text) => CLIMBS.test(foldCompatible(text))) ?? true
}
