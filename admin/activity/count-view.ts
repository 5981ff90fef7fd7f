import { type Static, Type } from 'typebox'
import { Count, Nullable, Strict, Timestamp } from '../http/common-schemas.ts'
import { COMBINED_MEMBERS } from './activity-tally.ts'

const Range = { from: Timestamp, to: Timestamp }
const Archive = Type.Boolean({
  description:
    'Whether entries that only the archive has are counted. Always false: `from` is where the counts begin, and the store may not have what is older',
})
const Exact = Type.Boolean({
  description:
    'Whether all is counted. False if agents or APIs were left out because a time had too many of them, or if a search was cut short',
})

export const SeriesView = Strict({
  ...Range,
  step: Type.Integer({ description: 'Seconds between two points; may be more than asked for' }),
  by: Nullable(Type.Enum([...COMBINED_MEMBERS])),
  count: Type.Enum(['entries', 'calls']),
  exact: Exact,
  archive: Archive,
  groups: Type.Array(
    Strict({
      value: Nullable(Type.String({ description: 'Null for entries without a value' })),
      total: Count,
      counts: Type.Array(Count),
    }),
    { description: 'The largest first' },
  ),
  others: Type.Array(Count, { description: 'The sum of the groups that are not listed' }),
})
export type SeriesView = Static<typeof SeriesView>

const FacetValues = Type.Array(Strict({ value: Nullable(Type.String()), count: Count }))
export const FacetsView = Strict({
  ...Range,
  total: Count,
  exact: Exact,
  archive: Archive,
  facets: Strict(
    Object.fromEntries(COMBINED_MEMBERS.map((member) => [member, FacetValues])) as Record<
      (typeof COMBINED_MEMBERS)[number],
      typeof FacetValues
    >,
  ),
})
export type FacetsView = Static<typeof FacetsView>
