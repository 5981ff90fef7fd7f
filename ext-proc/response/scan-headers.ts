import type { DeferredSettings } from '../../core/inspection/deferred-settings.ts'
import type { ScanPool } from '../../core/inspection/scan-pool.ts'
import type { Header } from '../../core/request/header.ts'
import { isKnownClean, noteClean } from '../../core/scanner/clean-headers.ts'
import type { Finding } from '../../core/scanner/finding.ts'
import type { Source } from '../../core/scanner/format/source.ts'
import { isUnreadHeader } from '../../core/scanner/usual-headers.ts'

/** Longer names are cut in a finding. */
const NAME_SHOWN_MAX = 64

/**
 * Scans the headers or trailers of a response; those that HTTP and Envoy fix are left out. Values that are known to be clean
 * cost nothing. @returns null if the scan processes are busy
 */
export function scanHeaders(
  headers: readonly Header[],
  place: 'headers' | 'trailers',
  pool: Pick<ScanPool, 'scanTexts'>,
  settings: DeferredSettings,
): readonly Finding[] | null | Promise<readonly Finding[] | null> {
  const compiled = settings.isForProcess ? null : settings.compiled
  const asked = headers.filter(
    ({ name, value }) =>
      value !== '' &&
      !isUnreadHeader(name) &&
      !FIXED.has(name) &&
      (compiled === null || !isKnownClean(compiled, name, value)),
  )
  if (asked.length === 0) return []
  const found = pool.scanTexts(
    asked.map((header) => sourceOf(header, place)),
    settings,
  )
  const join = (texts: readonly (readonly Finding[])[] | null): readonly Finding[] | null => {
    if (texts === null) return null
    for (const [i, { name, value }] of asked.entries())
      if (compiled !== null && texts[i]?.length === 0) noteClean(compiled, name, value)
    return texts.flat()
  }
  return found instanceof Promise ? found.then(join) : join(found)
}

/** Their values are dates, numbers and tokens of HTTP. */
const FIXED: ReadonlySet<string> = new Set(['date', 'age', 'expires', 'last-modified', 'vary'])

const sourceOf = ({ name, value }: Header, place: 'headers' | 'trailers'): Source => ({
  // One character per byte.
  bytes: Buffer.from(value, 'latin1'),
  format: name === 'set-cookie' ? 'pairs' : 'text',
  location: `response.${place}.${name.slice(0, NAME_SHOWN_MAX)}`,
  is_noise: name === 'set-cookie',
  holds_tokens: true,
})
