import type { ActivityEntry } from './activity-entry.ts'

/** Members of an entry that have an index each, with the letter that names it. */
export const INDEXED_MEMBERS = {
  event: 'e',
  agent_id: 'a',
  integration_id: 'i',
  decision: 'd',
} as const
export type IndexedMember = keyof typeof INDEXED_MEMBERS

export const indexName = (member: IndexedMember, value: string): string =>
  `${INDEXED_MEMBERS[member]}:${value}`

const MEMBERS = Object.keys(INDEXED_MEMBERS) as readonly IndexedMember[]

/** The indexes that an entry is in. */
export const indexesOf = (entry: ActivityEntry): string[] =>
  MEMBERS.flatMap((member) => {
    const value = entry[member]
    return typeof value === 'string' ? [indexName(member, value)] : []
  })
