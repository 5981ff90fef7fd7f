import type { Issue } from './outcome.ts'

const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)$/

/** The time in UTC, or what is wrong with it. */
export function readFutureTime(
  text: string,
  now: Date,
  path: string,
): { readonly ok: true; readonly time: string } | { readonly ok: false; readonly issue: Issue } {
  const ms = ISO_TIME.test(text) ? Date.parse(text) : Number.NaN
  if (Number.isNaN(ms))
    return { ok: false, issue: { path, message: 'must be a time like 2030-01-31T12:00:00Z' } }
  if (ms <= now.getTime()) return { ok: false, issue: { path, message: 'must be in the future' } }
  return { ok: true, time: new Date(ms).toISOString() }
}
