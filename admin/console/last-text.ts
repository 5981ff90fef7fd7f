import type { Alert } from './api-types.ts'

/** A member of the last occurrence of an alert that is a text; null if there is none. */
export function lastText(last: Alert['last'], name: string): string | null {
  const value = last[name]
  return typeof value === 'string' ? value : null
}
