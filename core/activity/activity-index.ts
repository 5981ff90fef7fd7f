import type { ActivityEntry } from './activity-entry.ts'

/** Members of an entry that have an index for each value, with the letter that names it. */
export const INDEXED_MEMBERS = {
  event: 'e',
  agent_id: 'a',
  integration_id: 'i',
  decision: 'd',
  reason: 'w',
} as const
/** Changes with the format of the indexes; indexes of another format are rebuilt from the log. */
export const INDEX_FORM = 3
export type IndexedMember = keyof typeof INDEXED_MEMBERS

/** The index that holds the hashes of request ids (core/activity/request-hash.ts). */
export const REQUEST_INDEX = 'r'
/** Indexes whose number of entries is stored; the others only have rows. */
export const COUNTED_MEMBERS = ['event', 'decision'] as const satisfies readonly IndexedMember[]

export const indexName = (member: IndexedMember, value: string): string =>
  `${INDEXED_MEMBERS[member]}:${value}`

const MEMBERS = Object.keys(INDEXED_MEMBERS) as readonly IndexedMember[]

/** The indexes that contain an entry, in addition to that of request ids. */
export const indexesOf = (entry: ActivityEntry): string[] =>
  MEMBERS.flatMap((member) => {
    const value = entry[member]
    return typeof value === 'string' ? [indexName(member, value)] : []
  })
