import { canonicalHost } from '../../core/request/canonical-host.ts'

/** A host name in its canonical form; null if it is none. */
export function canonicalName(text: string): string | null {
  const host = canonicalHost(text)
  return typeof host === 'string' ? host : null
}
