import type { ActivityEntry } from './activity-entry.ts'

/** Members of an entry that have an index each, with the letter that names it. */
export const INDEXED_MEMBERS = {
  event: 'e',
  agent_id: 'a',
  integration_id: 'i',
  decision: 'd',
  request_id: 'r',
} as const
export type IndexedMember = keyof typeof INDEXED_MEMBERS

/**
 * Almost every entry has a request id of its own, and an index for each would take more memory than the log. They share
 * so many; in a log of a million entries a search then looks at some 4,000 of them.
 */
const REQUEST_INDEXES = 256

export const indexName = (member: IndexedMember, value: string): string =>
  `${INDEXED_MEMBERS[member]}:${member === 'request_id' ? bucketOf(value) : value}`

/** Whether all entries of an index have the value that is searched for. */
export const isExactIndex = (member: IndexedMember): boolean => member !== 'request_id'

/** FNV-1a over the code units. */
function bucketOf(text: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return (hash >>> 0) % REQUEST_INDEXES
}

const MEMBERS = Object.keys(INDEXED_MEMBERS) as readonly IndexedMember[]

/** The indexes that an entry is in. */
export const indexesOf = (entry: ActivityEntry): string[] =>
  MEMBERS.flatMap((member) => {
    const value = entry[member]
    return typeof value === 'string' ? [indexName(member, value)] : []
  })
