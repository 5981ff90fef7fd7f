/** Segments beyond this one are ignored. */
const SEGMENTS_MAX = 12
const SEGMENT_MAX_CHARS = 32
/** A segment that holds a digit is an identifier, unless it is this short (`s3`, `v1`) or names a version. */
const SHORT_CHARS = 3
const VERSION = /^v\d+(\.\d+)*((alpha|beta)\d*)?$/i
const IDENTIFIER_MARK = /[\d@%]/

/** Method and path with identifiers folded to `*`, so that `/users/17` and `/users/18` are one endpoint. */
export function endpointTemplate(method: string, path: string): string {
  const segments = path.split('/', SEGMENTS_MAX + 2).filter((segment) => segment !== '')
  const folded = segments.slice(0, SEGMENTS_MAX).map(foldSegment)
  if (segments.length > SEGMENTS_MAX) folded.push('**')
  return `${method} /${folded.join('/')}`
}

function foldSegment(segment: string): string {
  if (segment.length > SEGMENT_MAX_CHARS) return '*'
  if (segment.length <= SHORT_CHARS) return /^\d+$/.test(segment) ? '*' : segment
  return IDENTIFIER_MARK.test(segment) && !VERSION.test(segment) ? '*' : segment
}
