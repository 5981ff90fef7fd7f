import type { IntegrationTable } from './compile-integrations.ts'

/**
 * The integrations of an origin that has several; null for nearly every origin. Kept as long as a call lasts, so it is
 * no more than what a reference within the origin can lead to.
 */
export function siblingsOf(table: IntegrationTable, origin: string): IntegrationTable | null {
  const there = table.get(origin)
  return there === undefined || there.count < 2 ? null : new Map([[origin, there]])
}
