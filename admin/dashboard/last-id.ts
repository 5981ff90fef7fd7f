import type { Alert } from './api-types.ts'

/** A member of the last occurrence of an alert that is an id; null if there is none. */
export function lastId(last: Alert['last'], name: string): string | null {
  const value = last[name]
  return typeof value === 'string' ? value : null
}
