import { type Static, Type } from 'typebox'
import { Strict } from '../http/common-schemas.ts'
import { type AdminCall, defineRoute, type Route } from '../http/define-route.ts'
import { type Outcome, answer, invalid } from '../http/outcome.ts'
import {
  type ActivityFilter,
  FILTER_QUERY,
  type FilterQuery,
  readFilter,
} from './activity-filter.ts'
import { COMBINED_MEMBERS } from './activity-tally.ts'
import { MINUTE_S, QUARTER_S } from './count-buckets.ts'
import { countFacets } from './count-facets.ts'
import { countSeries } from './count-series.ts'
import { FacetsView, SeriesView } from './count-view.ts'

/** What a chart can show; more points than this are not told apart on a screen. */
const POINTS_MAX = 1_500
const POINTS_DEFAULT = 100
const GROUPS_MAX = 100
const GROUPS_DEFAULT = 12
const DAY_MS = 24 * 3_600_000
const STEPS_S = [60, 300, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400]

const { q: _q, request_id: _id, status: _status, ...COUNTED } = FILTER_QUERY
const SeriesQuery = Strict({
  ...COUNTED,
  step: Type.Optional(
    Type.Integer({
      minimum: MINUTE_S,
      maximum: 7 * 86_400,
      multipleOf: MINUTE_S,
      description: `Seconds between two points. Times more than a day ago have steps of at least ${QUARTER_S} seconds`,
    }),
  ),
  by: Type.Optional(Type.Enum([...COMBINED_MEMBERS])),
  count: Type.Optional(
    Type.Enum(['entries', 'calls'], {
      description:
        'With calls, only entries that report a call count, and a refusal that was only counted counts too',
      default: 'entries',
    }),
  ),
  groups: Type.Optional(Type.Integer({ minimum: 1, maximum: GROUPS_MAX, default: GROUPS_DEFAULT })),
})

export const countRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: '/admin/activity/series',
    role: 'viewer',
    compressed: true,
    tag: 'activity',
    summary: 'Count activity entries over time. Default range: the last day',
    query: SeriesQuery,
    answers: { 200: SeriesView },
    handle: series,
  }),
  defineRoute({
    method: 'GET',
    path: '/admin/activity/facets',
    role: 'viewer',
    compressed: true,
    tag: 'activity',
    summary:
      'Count activity entries by the values of each filter. The counts of a filter ignore its own selection. Default range: the last 7 days',
    query: Strict(FILTER_QUERY),
    answers: { 200: FacetsView },
    handle: facets,
  }),
]

async function series({
  context,
  actor,
  query,
}: AdminCall<unknown, Static<typeof SeriesQuery>>): Promise<Outcome> {
  const read = readFilter(query)
  if (!read.ok) return invalid(read.issues)
  const now_ms = context.now().getTime()
  const range = rangeOf(read.filter, now_ms, DAY_MS)
  const wanted_s = (range.to_ms - range.from_ms) / 1000 / POINTS_DEFAULT
  const step_s = query.step ?? STEPS_S.find((step) => step >= wanted_s) ?? 7 * 86_400
  if (range.from_ms >= range.to_ms)
    return invalid([{ path: 'query/from', message: 'must be before to' }])
  if ((range.to_ms - range.from_ms) / 1000 / step_s > POINTS_MAX)
    return invalid([{ path: 'query/step', message: `gives more than ${POINTS_MAX} points` }])
  const counted = await countSeries(context.redis, actor.organization_id, read.filter, {
    ...range,
    now_ms,
    step_s,
    by: query.by ?? null,
    count: query.count ?? 'entries',
    groups: query.groups ?? GROUPS_DEFAULT,
  })
  return answer(200, counted)
}

async function facets({
  context,
  actor,
  query,
}: AdminCall<unknown, FilterQuery>): Promise<Outcome> {
  const read = readFilter(query)
  if (!read.ok) return invalid(read.issues)
  const now_ms = context.now().getTime()
  const range = rangeOf(read.filter, now_ms, 7 * DAY_MS)
  if (range.from_ms >= range.to_ms)
    return invalid([{ path: 'query/from', message: 'must be before to' }])
  return answer(
    200,
    await countFacets(context, actor.organization_id, read.filter, { ...range, now_ms }),
  )
}

/** No range is longer than a year: the log of a deployment is bounded in number, not in time. */
const RANGE_MAX_MS = 366 * DAY_MS
function rangeOf({ from_ms, to_ms }: ActivityFilter, now_ms: number, default_ms: number) {
  // The clock of a caller who gives only `from` may be ahead of ours.
  const to =
    to_ms === null ? Math.max(now_ms, (from_ms ?? 0) + 1) : Math.min(to_ms, now_ms + 60_000)
  return { from_ms: Math.max(from_ms ?? to - default_ms, to - RANGE_MAX_MS), to_ms: to }
}
