import type { Header } from '../../core/request/header.ts'
import type { HeaderChanges } from '../envoy/write-response.ts'

/** What makes one list of headers of the other; null where they are the same. */
export function headerChanges(
  before: readonly Header[],
  after: readonly Header[],
): HeaderChanges | null {
  if (before === after) return null
  const set: Header[] = []
  const remove: string[] = []
  for (const name of new Set(before.map((header) => header.name))) {
    const was = before.filter((header) => header.name === name)
    const is = after.filter((header) => header.name === name)
    if (was.length === is.length && was.every(({ value }, i) => value === is[i]?.value)) continue
    if (is.length === 0) remove.push(name)
    else set.push(...is)
  }
  return set.length === 0 && remove.length === 0 ? null : { set, remove }
}
