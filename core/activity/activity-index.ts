import type { ActivityEntry } from './activity-entry.ts'
import { viaOf } from './via-of.ts'

/** Members of an entry that have an index for each value, with the letter that names it. */
export const INDEXED_MEMBERS = {
  event: 'e',
  agent_id: 'a',
  integration_id: 'i',
  decision: 'd',
  reason: 'w',
  via: 'v',
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

/** Calls by base URL have no index: nearly all calls would be in it. */
export const hasIndex = (member: IndexedMember, value: string): boolean =>
  member !== 'via' || value === 'forward'

/** What a filter for this member is compared with. */
export const valueOfMember = (entry: ActivityEntry, member: IndexedMember): unknown =>
  member === 'via' ? viaOf(entry) : entry[member]

/** The indexes that contain an entry, in addition to that of request ids. */
export const indexesOf = (entry: ActivityEntry): string[] =>
  MEMBERS.flatMap((member) => {
    const value = valueOfMember(entry, member)
    return typeof value === 'string' && hasIndex(member, value) ? [indexName(member, value)] : []
  })
