import type { ActivityEntry } from './activity-entry.ts'

/** Members of an entry that have an index for each value, with the letter that names it. */
export const INDEXED_MEMBERS = {
  event: 'e',
  agent_id: 'a',
  integration_id: 'i',
  decision: 'd',
} as const
/** Changes when indexes take another form; those of another are made again from the log. */
export const INDEX_FORM = 2
export type IndexedMember = keyof typeof INDEXED_MEMBERS

/** The index that holds the hashes of request ids (core/activity/request-hash.ts). */
export const REQUEST_INDEX = 'r'
/** Indexes of which the store keeps how many entries they have; the others only have rows. */
export const COUNTED_MEMBERS = ['event', 'decision'] as const satisfies readonly IndexedMember[]

export const indexName = (member: IndexedMember, value: string): string =>
  `${INDEXED_MEMBERS[member]}:${value}`

const MEMBERS = Object.keys(INDEXED_MEMBERS) as readonly IndexedMember[]

/** The indexes that an entry is in, besides that of request ids. */
export const indexesOf = (entry: ActivityEntry): string[] =>
  MEMBERS.flatMap((member) => {
    const value = entry[member]
    return typeof value === 'string' ? [indexName(member, value)] : []
  })
