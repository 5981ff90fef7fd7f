import type { Issue } from './outcome.ts'
import { readTime, TIME_MESSAGE } from './read-time.ts'

/** The time in UTC, or the problem with it. */
export function readFutureTime(
  text: string,
  now: Date,
  path: string,
): { readonly ok: true; readonly time: string } | { readonly ok: false; readonly issue: Issue } {
  const ms = readTime(text)
  if (ms === null) return { ok: false, issue: { path, message: TIME_MESSAGE } }
  if (ms <= now.getTime()) return { ok: false, issue: { path, message: 'must be in the future' } }
  return { ok: true, time: new Date(ms).toISOString() }
}
