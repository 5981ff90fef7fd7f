import { type Static, type TObject, Type } from 'typebox'
import { type ActivityEntry, DECISIONS } from '../../core/activity/activity-entry.ts'
import { EVENT_NAMES } from '../../core/catalogue/events.ts'
import {
  hasIndex,
  INDEXED_MEMBERS,
  type IndexedMember,
  valueOfMember,
} from '../../core/activity/activity-index.ts'
import { VIAS } from '../../core/activity/vias.ts'
import { type Reason, REASONS } from '../../core/catalogue/reasons.ts'
import { TimeText } from '../http/common-schemas.ts'
import { PATTERN_MESSAGE } from '../http/describe-problem.ts'
import type { Issue } from '../http/outcome.ts'
import { readTime, TIME_MESSAGE } from '../http/read-time.ts'

const ID_LENGTH_LIMIT = 128
const QUERY_LENGTH_LIMIT = 200

/** The filters of the list, the stream and the export. */
export const FILTER_QUERY = {
  event: Type.Optional(Type.Enum([...EVENT_NAMES])),
  agent_id: Type.Optional(Type.String({ maxLength: ID_LENGTH_LIMIT })),
  integration_id: Type.Optional(Type.String({ maxLength: ID_LENGTH_LIMIT })),
  decision: Type.Optional(Type.Enum([...DECISIONS])),
  reason: Type.Optional(Type.Enum(Object.keys(REASONS) as Reason[])),
  via: Type.Optional(
    Type.Enum([...VIAS], {
      description: 'Calls through the forward proxy, or by the base URL of an API',
    }),
  ),
  status: Type.Optional(
    Type.String({
      pattern: '^[1-5](?:xx|[0-9]{2})$',
      [PATTERN_MESSAGE]: 'must be a status such as 503, or a class such as 5xx',
      description: 'Of the response: `503`, or all of a class: `5xx`',
    }),
  ),
  request_id: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: ID_LENGTH_LIMIT,
      description: 'The X-Agw-Request-Id of a response',
    }),
  ),
  q: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: QUERY_LENGTH_LIMIT,
      description: 'Substring of any value of the entry; case-insensitive',
    }),
  ),
  from: Type.Optional(TimeText('Not before')),
  to: Type.Optional(TimeText('Before')),
}

export type FilterQuery = Static<TObject<typeof FILTER_QUERY>>

/** Times are in ms, `to_ms` is exclusive; `q` is in lower case. */
export interface ActivityFilter {
  readonly equal: readonly (readonly [member: IndexedMember, value: string])[]
  readonly request_id: string | null
  /** Three digits, or a class such as `5xx`. */
  readonly status?: string | null
  readonly q: string | null
  readonly from_ms: number | null
  readonly to_ms: number | null
}

const MEMBERS = Object.keys(INDEXED_MEMBERS) as readonly IndexedMember[]

export function readFilter(
  query: FilterQuery,
):
  | { readonly ok: true; readonly filter: ActivityFilter }
  | { readonly ok: false; readonly issues: readonly Issue[] } {
  const issues: Issue[] = []
  const timeOf = (name: 'from' | 'to'): number | null => {
    const text = query[name]
    if (text === undefined) return null
    const ms = readTime(text)
    if (ms === null) issues.push({ path: `query/${name}`, message: TIME_MESSAGE })
    // No entry is older than the clock of the log.
    return ms === null ? null : Math.max(0, ms)
  }
  const filter: ActivityFilter = {
    equal: MEMBERS.flatMap((member) => {
      const value = query[member]
      return value === undefined ? [] : [[member, value] as const]
    }),
    request_id: query.request_id ?? null,
    status: query.status ?? null,
    q: query.q?.toLowerCase() ?? null,
    from_ms: timeOf('from'),
    to_ms: timeOf('to'),
  }
  return issues.length > 0 ? { ok: false, issues } : { ok: true, filter }
}

/**
 * A call is written when it ends, with the time at which it began. What lies further apart than this is filed under
 * the nearest time that does not, so that a range of times is a range of the log.
 */
export const WRITTEN_AFTER_MAX_MS = 300_000
/** Clocks of edges may be ahead of the store's. */
export const WRITTEN_BEFORE_MAX_MS = 60_000

/** `written_ms` is when the store took the entry: the first part of its place. */
export function matchesFilter(
  { equal, request_id, status = null, q, from_ms, to_ms }: ActivityFilter,
  entry: ActivityEntry,
  written_ms: number,
): boolean {
  for (const [member, value] of equal) if (valueOfMember(entry, member) !== value) return false
  if (request_id !== null && entry.request_id !== request_id) return false
  if (status !== null && !hasStatus(entry, status)) return false
  if (from_ms !== null || to_ms !== null) {
    const filed_ms = Math.min(
      Math.max(Date.parse(entry.timestamp), written_ms - WRITTEN_AFTER_MAX_MS),
      written_ms + WRITTEN_BEFORE_MAX_MS,
    )
    if (from_ms !== null && filed_ms < from_ms) return false
    if (to_ms !== null && filed_ms >= to_ms) return false
  }
  return q === null || holds(entry, q)
}

const hasStatus = ({ status }: ActivityEntry, wanted: string): boolean =>
  String(status ?? '').slice(0, wanted.endsWith('xx') ? 1 : 3) === wanted.replace('xx', '')

/** Whether any value in the entry contains the text. Member names are not searched. */
function holds(value: unknown, text: string): boolean {
  if (typeof value === 'string') return value.toLowerCase().includes(text)
  if (typeof value === 'object' && value !== null)
    return Object.values(value).some((member) => holds(member, text))
  return (typeof value === 'number' || typeof value === 'boolean') && String(value).includes(text)
}

/** The same text as the script may look for in the stored JSON: one that JSON writes as it is. */
export const rawText = (q: string | null): string =>
  q !== null && /^[ !#-[\]-~]*$/.test(q) ? q : ''

/**
 * Whether the JSON of entries may hold one that matches, without parsing it: all of these texts are in it, those of `exact` as
 * they are, `inside` in any case. Only texts that JSON writes as they are can be looked for.
 */
export function roughFilter({ equal, request_id, q }: ActivityFilter): {
  readonly exact: readonly string[]
  readonly inside: string
} {
  const named = equal.filter(([member, value]) => hasIndex(member, value))
  const wanted = [...named, ...(request_id === null ? [] : [['request_id', request_id] as const])]
  return {
    exact: wanted
      .filter(([, value]) => rawText(value) !== '')
      .map(([member, value]) => `"${member}":"${value}"`),
    inside: rawText(q),
  }
}

/** The same for one text. */
export function mayHold({ exact, inside }: ReturnType<typeof roughFilter>, text: string): boolean {
  return (
    exact.every((one) => text.includes(one)) &&
    (inside === '' || text.toLowerCase().includes(inside))
  )
}
