import { maskWithin } from '../masking/mask-secrets.ts'
import { shortText } from '../system/short-text.ts'

/** A value, and the member, header or parameter that has it. */
export interface NamedValue {
  readonly value: string
  readonly name: string
}

/** One call within a batch. */
export interface BatchPart {
  /** Where it stands: `requests[3]`. */
  readonly place: string
  /** Every method that an API may use for it; empty if it names none. */
  readonly methods: readonly NamedValue[]
  /** Every address that an API may use, as written: absolute, or relative to the API's root or base URL. Empty if it names none. */
  readonly addresses: readonly NamedValue[]
  /** Of its `Host` headers. */
  readonly hosts: readonly NamedValue[]
  /** Why it cannot be read; null if it can. */
  readonly unread: string | null
}

/** The parts of one list that an API may execute as calls of their own. */
export interface BatchList {
  /**
   * Whether only a batch has such a list. Other lists of a method and a URL of another host may describe something else, such as
   * a monitor.
   */
  readonly is_certain: boolean
  readonly parts: readonly BatchPart[]
}

export interface Batch {
  readonly lists: readonly BatchList[]
  /** Methods of parts that name none, in addition to GET and the method of the call. */
  readonly defaults: readonly NamedValue[]
  /** Where something cannot be read as a list of calls; null if everything can. */
  readonly unread: string | null
}

/** A batch as it is collected. */
export interface FoundBatch {
  readonly lists: BatchList[]
  readonly defaults: NamedValue[]
  unread: string | null
}

/** Of all lists of a call. Batch APIs accept 20 to 100, few up to 1,000. */
export const BATCH_PARTS_MAX = 200
/** A longer URL of a part cannot be read. */
export const PART_URL_MAX = 2_048

export const nothingFound = (): FoundBatch => ({ lists: [], defaults: [], unread: null })

export const isBatchEmpty = ({ lists, unread }: Batch): boolean =>
  lists.length === 0 && unread === null

export const partCount = ({ lists }: Batch): number =>
  lists.reduce((sum, { parts }) => sum + parts.length, 0)

export const joinBatches = (a: Batch, b: Batch): Batch => ({
  lists: [...a.lists, ...b.lists],
  defaults: [...a.defaults, ...b.defaults],
  unread: a.unread ?? b.unread,
})

/** Names of an endpoint that executes batches, in any segment: `$batch`, `batches`, `composite`, `Bulk`. */
const BATCH_SEGMENT = /batch|bulk|composite|^multi(?:plex)?$|^operations$/i

/** Whether the path is likely that of a batch endpoint, where lists with any name are read as batches. */
export const isBatchPath = (segments: readonly string[]): boolean =>
  segments.some((segment) => BATCH_SEGMENT.test(segment))

/** Letters and digits alone: `atomic:operations` and `AtomicOperations` are the same. */
export const foldName = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]/g, '')

/** Lists that only a batch has. */
const CERTAIN: ReadonlySet<string> = new Set([
  'batch',
  'batches',
  'batchrequest',
  'batchrequests',
  'compositerequest',
  'compositerequests',
  'subrequest',
  'subrequests',
  'atomicoperations',
])
/** Lists of a batch or of something else. */
const POSSIBLE: ReadonlySet<string> = new Set([
  'requests',
  'request',
  'requestlist',
  'httprequests',
  'operations',
  'actions',
  'calls',
  'apicalls',
  'commands',
  'entry',
])

/** @param folded a name as `foldName` writes it */
export const listKind = (folded: string): 'certain' | 'possible' | null =>
  CERTAIN.has(folded) ? 'certain' : POSSIBLE.has(folded) ? 'possible' : null

/** Of the text of all parts together in an activity entry. */
const SHOWN_MAX = 8_192
const SHOWN_PART_MAX = 256

/** The parts for the activity entry: `DELETE /items/1`, with secrets masked. */
export function describeParts({ lists }: Batch): readonly string[] {
  const shown: string[] = []
  let length = 0
  const parts = lists.flatMap((list) => list.parts)
  for (const { methods, addresses } of parts) {
    const address = addresses[0]?.value ?? ''
    const path = address.split('?', 1)[0] ?? ''
    const text = shortText(
      `${methods.map(({ value }) => value).join('|')} ${maskWithin('', path.slice(0, PART_URL_MAX), '')}`.trim(),
      SHOWN_PART_MAX,
    )
    length += text.length
    if (length > SHOWN_MAX || shown.length === BATCH_PARTS_MAX) {
      shown.push(`… ${parts.length - shown.length} more`)
      break
    }
    shown.push(text)
  }
  return shown
}
