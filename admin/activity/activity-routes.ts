import { Type } from 'typebox'
import { commit } from '../../core/change/commit.ts'
import { comparePlaces, isPlace, placeAfter } from '../../core/activity/log-place.ts'
import { activityWrite } from '../../core/change/activity-write.ts'
import { auditEntry } from '../changes/audit-entry.ts'
import {
  Id,
  LIST_DEFAULT,
  ListOf,
  Nullable,
  PageQuery,
  Strict,
  Timestamp,
} from '../http/common-schemas.ts'
import { type AdminCall, defineRoute, type Route } from '../http/define-route.ts'
import { type Outcome, answer, invalid, notFound } from '../http/outcome.ts'
import { FILTER_QUERY, type FilterQuery, readFilter } from './activity-filter.ts'
import { ActivityView, activityView } from './activity-view.ts'
import { countRoutes } from './count-routes.ts'
import { flowRoutes } from './flow-routes.ts'
import { type ExportFormat, exportActivity } from './export-activity.ts'
import { findEntry } from './find-entry.ts'
import { oldestPlace } from './oldest-place.ts'
import { COUNTS_MAX_AGE_MINUTES, readRefusalCounts } from './read-refusal-counts.ts'
import { searchActivity } from './search-activity.ts'
import { newestPlace, streamActivity } from './stream-activity.ts'

const tag = 'activity'
const MINUTE_MS = 60_000
const TOO_MANY_STREAMS: Outcome = {
  kind: 'refusal',
  error: 'too_many_streams',
  headers: { 'retry-after': '5' },
}

const UNKNOWN_ENTRY: Outcome = {
  kind: 'refusal',
  error: 'gateway_unavailable',
  message:
    'The part of the archive that may have this entry could not be searched: its disk is slow or does not respond, an index is not made yet, or an hour is damaged. The skipped_hours of GET /admin/activity name the hours.',
}

export const CountView = Strict({
  minute: Timestamp,
  agent_id: Type.Union([Type.String(), Type.Null()]),
  reason: Type.String(),
  count: Type.Integer(),
})
const CountQuery = Strict({
  from: FILTER_QUERY.from,
  to: FILTER_QUERY.to,
  cursor: PageQuery.cursor,
})

export const SearchView = Strict({
  ...ListOf(ActivityView).properties,
  searched_to: Nullable(
    Type.String({
      format: 'date-time',
      description:
        'Down to when this page and those before it have looked; null if the log is empty',
    }),
  ),
  archive: Type.Boolean({
    description:
      'Whether entries that the store no longer has are looked for in the archive of this service',
  }),
  skipped_hours: Type.Array(Type.String(), {
    description:
      'Hours of the archive that this page could not search, such as 2026-03-01T09 (UTC): their index is not made yet, or they are damaged; `all` if the archive cannot be read',
  }),
})

export const activityRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: '/admin/activity',
    role: 'viewer',
    costly: 'search',
    compressed: true,
    tag,
    summary:
      'Search the activity log, newest first. A slow search returns early, with a cursor to continue',
    query: Strict({ ...FILTER_QUERY, ...PageQuery }),
    answers: { 200: SearchView },
    handle: list,
  }),
  defineRoute({
    method: 'GET',
    path: '/admin/activity/stream',
    role: 'viewer',
    tag,
    summary:
      'Stream new activity entries as server-sent events. Last-Event-ID resumes after an entry',
    query: Strict(FILTER_QUERY),
    answers: {
      200: Type.String({ description: 'One event per entry; its id is the cursor to resume from' }),
    },
    produces: ['text/event-stream'],
    handle: stream,
  }),
  defineRoute({
    method: 'GET',
    path: '/admin/activity/export',
    role: 'viewer',
    tag,
    summary: 'Export all matching entries, newest first, as NDJSON or CSV',
    query: Strict({ format: Type.Optional(Type.Enum(['ndjson', 'csv'])), ...FILTER_QUERY }),
    answers: { 200: Type.String({ description: 'One entry per line' }) },
    produces: ['application/x-ndjson', 'text/csv'],
    handle: download,
  }),
  defineRoute({
    method: 'GET',
    path: '/admin/activity/counts',
    role: 'viewer',
    tag,
    summary:
      'Refusals that were only counted, by minute, agent and reason. Default range: the last day',
    query: CountQuery,
    answers: { 200: ListOf(CountView) },
    handle: (call) => counts(call, call.actor.organization_id),
  }),
  defineRoute({
    method: 'GET',
    path: '/admin/activity/unknown-calls',
    role: 'viewer',
    deployment_wide: true,
    tag,
    summary: 'Refused calls without a known organization, by minute and reason',
    query: CountQuery,
    answers: { 200: ListOf(CountView) },
    handle: (call) => counts(call, null),
  }),
  ...countRoutes,
  ...flowRoutes,
  defineRoute({
    method: 'GET',
    path: '/admin/activity/:id',
    role: 'viewer',
    costly: 'search',
    tag,
    summary: 'Read an entry',
    params: Strict({ id: Id('Of an activity entry') }),
    answers: { 200: ActivityView },
    handle: async ({ context, actor: { organization_id }, params }) => {
      const entry = await findEntry(context, organization_id, params.id)
      if (entry === 'unknown') return UNKNOWN_ENTRY
      return entry === null ? notFound() : answer(200, activityView(entry))
    },
  }),
]

async function list({
  context,
  actor,
  query,
}: AdminCall<unknown, FilterQuery & { cursor?: string; limit?: number }>): Promise<Outcome> {
  const read = readFilter(query)
  const before = query.cursor === undefined ? null : readCursor(query.cursor)
  const issues = [
    ...(read.ok ? [] : read.issues),
    ...(query.cursor !== undefined && before === null
      ? [{ path: 'query/cursor', message: 'is not a cursor of this API' }]
      : []),
  ]
  if (!read.ok || issues.length > 0) return invalid(issues)
  const { found, next, searched_to_ms, skipped_hours } = await searchActivity(
    context,
    actor.organization_id,
    read.filter,
    { before, limit: query.limit ?? LIST_DEFAULT },
  )
  return answer(200, {
    data: found.map(({ entry }) => activityView(entry)),
    next_cursor: next === null ? null : Buffer.from(next).toString('base64url'),
    searched_to: searched_to_ms === null ? null : new Date(searched_to_ms).toISOString(),
    archive: context.archive !== null,
    skipped_hours,
  })
}

/** The place before all is that of no entry, and the store takes nothing to be before it. */
function readCursor(text: string): string | null {
  const place = Buffer.from(text, 'base64url').toString()
  return isPlace(place) && comparePlaces(place, '0-0') > 0 ? place : null
}

async function stream({
  context: { redis, feed },
  actor: { organization_id },
  query,
  headers,
}: AdminCall<unknown, FilterQuery>): Promise<Outcome> {
  const read = readFilter(query)
  const last = headers['last-event-id']
  const isWrong = last !== undefined && last !== '' && !isPlace(String(last))
  if (!read.ok) return invalid(read.issues)
  if (isWrong)
    return invalid([
      { path: 'headers/last-event-id', message: 'is not an event id of this stream' },
    ])
  const after = last ? String(last) : await newestPlace(redis, organization_id)
  const following = feed.follow(organization_id)
  if (following === null) return TOO_MANY_STREAMS
  return {
    kind: 'streamed',
    headers: {
      'content-type': 'text/event-stream; charset=utf-8',
      'x-accel-buffering': 'no',
      'last-event-id': after,
    },
    write: (out, gone) =>
      streamActivity({ redis, feed: following }, organization_id, read.filter, {
        after,
        out,
        ended: AbortSignal.any([gone, feed.stopped]),
      }),
  }
}

/** The export is recorded in the log before its first byte is sent; it contains the log as it was before that. */
async function download(
  call: AdminCall<unknown, FilterQuery & { format?: ExportFormat }>,
): Promise<Outcome> {
  const { context, actor, query, request_id } = call
  const { redis, settings, now, feed } = context
  const read = readFilter(query)
  if (!read.ok) return invalid(read.issues)
  const leave = context.exports.take(actor.organization_id)
  if (leave === null) return TOO_MANY_STREAMS
  const { format = 'ndjson', ...given } = query
  // A search for a leaked key must not put it into the log that everyone reads.
  const filters = given.q === undefined ? given : { ...given, q: '***' }
  const { organization_id } = actor
  const entry = auditEntry(
    {
      action: 'activity.export',
      target: organization_id,
      before: null,
      after: { format, filters },
    },
    { actor, request_id, now: now() },
  )
  let before: string | null
  let unsearched: readonly string[]
  try {
    const newest = await newestPlace(redis, organization_id)
    unsearched = (await context.archive?.unsearched(organization_id)) ?? []
    await commit(
      redis,
      { guards: [], writes: [activityWrite(entry)], targets: [] },
      settings.killLease_ms,
    )
    // A log that was empty, because all of it is in the archive, begins with this export or what came with it.
    before = newest === '0-0' ? await oldestPlace(redis, organization_id) : placeAfter(newest)
  } catch (error) {
    leave()
    throw error
  }
  const type = format === 'csv' ? 'text/csv; charset=utf-8; header=present' : 'application/x-ndjson'
  return {
    kind: 'streamed',
    headers: {
      'content-type': type,
      'content-disposition': `attachment; filename="activity.${format}"`,
      ...(unsearched.length === 0 ? {} : { 'x-agw-skipped-hours': unsearched.join(',') }),
    },
    write: (out, gone) =>
      exportActivity(context, organization_id, read.filter, {
        before,
        announced: unsearched,
        turns: context.exportPages,
        format,
        out,
        ended: AbortSignal.any([gone, feed.stopped]),
      }).finally(leave),
  }
}

async function counts(
  { context, query }: AdminCall<unknown, FilterQuery & { cursor?: string }>,
  organization_id: string | null,
): Promise<Outcome> {
  const read = readFilter(query)
  if (!read.ok) return invalid(read.issues)
  const now_ms = context.now().getTime()
  const { from_ms, to_ms } = read.filter
  const top = Math.floor((to_ms === null ? now_ms : Math.min(now_ms, to_ms - 1)) / MINUTE_MS)
  const oldest = Math.max(
    Math.floor((from_ms ?? now_ms - 24 * 60 * MINUTE_MS) / MINUTE_MS),
    Math.floor(now_ms / MINUTE_MS) - COUNTS_MAX_AGE_MINUTES,
  )
  const cursor =
    query.cursor === undefined ? top : Number(/^\d{1,12}$/.exec(query.cursor)?.[0] ?? Number.NaN)
  if (Number.isNaN(cursor))
    return invalid([{ path: 'query/cursor', message: 'is not a cursor of this API' }])
  const { data, next } = await readRefusalCounts(context.redis, organization_id, {
    newest: Math.min(top, cursor),
    oldest,
  })
  return answer(200, { data, next_cursor: next === null ? null : String(next) })
}
