import { findFormOverrides } from './find-form-overrides.ts'
import { foldCompatible } from './fold-compatible.ts'
import {
  type FoundOverrides,
  isEmpty,
  NO_OVERRIDES,
  noneFound,
  type Overrides,
} from './overrides.ts'

/** Begins a query for an upstream that decodes a path before it parses it. */
const SEPARATOR = /[?&]/
/** Parameters from which front controllers read the path, each with its value up to the next separator. */
const ROUTE = /[?&](?:_?url|q|r|route|path|path_?info|rest_?route)=([^?&#]*)/gi

/**
 * Overrides in a path. A web server that rewrites `/(.*)` to `/index.php?url=$1` puts the decoded path there, so that
 * `/items/1%26_method=DELETE` gives the program a parameter `_method`, and `%26url=` another path.
 * @param segments decoded
 */
export function findPathOverrides(segments: readonly string[]): Overrides {
  if (!segments.some((segment) => SEPARATOR.test(foldCompatible(segment)))) return NO_OVERRIDES
  const path = foldCompatible(segments.join('/'))
  const found: FoundOverrides = noneFound()
  const pairs = path.slice(path.search(SEPARATOR) + 1).replaceAll('?', '&')
  findFormOverrides(Buffer.from(pairs, 'utf8').toString('latin1'), found)
  for (const [, value = ''] of path.matchAll(ROUTE))
    found.addresses.push({ kind: 'url', value: value.startsWith('/') ? value : `/${value}` })
  return isEmpty(found) ? NO_OVERRIDES : found
}
