import type { Header } from './header.ts'

/** Longer texts are no preference of a client; the rest is not read. */
const TEXT_LIMIT = 1_024
const WAIT = /^[ \t]*wait[ \t]*=[ \t]*"?(\d{1,9})"?[ \t]*(?:;|$)/i

/** The seconds that the caller prefers to wait (RFC 7240, `Prefer: wait=5`), of which the first counts; null if it says none. */
export function preferredWait(headers: readonly Header[]): number | null {
  for (const { name, value } of headers) {
    if (name !== 'prefer') continue
    for (const preference of value.slice(0, TEXT_LIMIT).split(',')) {
      const [, seconds] = WAIT.exec(preference) ?? []
      if (seconds !== undefined) return Number(seconds)
    }
  }
  return null
}
