import type { LockTarget } from './lock-words.ts'

export interface LockDraft {
  readonly message: string
  readonly end: keyof typeof LOCK_ENDS
  /** Local time, for the end `until`. */
  readonly until: string
}

export const LOCK_ENDS = {
  '30': 'After 30 min',
  '60': 'After 1 h',
  until: 'At a time',
  none: 'No end: until an admin lifts it',
} as const

export const NEW_LOCK: LockDraft = { message: '', end: '30', until: '' }

const MINUTE_MS = 60_000

/** The lock for the API. Without a time, a lock has no end. */
export function lockOf(
  target: LockTarget | null,
  mode: string,
  { message, end, until }: LockDraft,
): object {
  const text = message.trim()
  const ends_ms =
    end === 'none'
      ? Number.NaN
      : end === 'until'
        ? Date.parse(until)
        : Date.now() + Number(end) * MINUTE_MS
  return {
    target,
    mode,
    ...(text === '' ? {} : { message: text }),
    ...(Number.isNaN(ends_ms) ? {} : { expires_at: new Date(ends_ms).toISOString() }),
  }
}
