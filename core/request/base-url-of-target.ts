import { maskSecrets } from '../masking/mask-secrets.ts'
import { encodeSegment } from './encode-segment.ts'
import type { Target } from './parse-target.ts'

const VERSION_SEGMENT = /^v\d+(?:\.\d+)*(?:(?:alpha|beta)\d*)?$/i

/** `details.base_url` of a 404: the target up to its first version segment, else its origin; a key in its path is masked. */
export function baseUrlOfTarget(target: Pick<Target, 'origin' | 'segments'>): string {
  const version = target.segments.findIndex((segment) => VERSION_SEGMENT.test(segment))
  const path = target.segments.slice(0, version + 1)
  if (path.length === 0) return target.origin
  return maskSecrets(target.origin + path.map((segment) => `/${encodeSegment(segment)}`).join(''))
}
