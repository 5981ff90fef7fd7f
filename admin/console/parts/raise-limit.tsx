import type { Scope, Series } from '../api-types.ts'
import { withQuery } from '../api.ts'
import type { FixableEntry } from '../fixes-of.ts'
import { limitFixes } from '../scope-options.ts'
import { useLoad } from '../use-load.ts'
import { Loaded } from './notices.tsx'
import { type FixedCall, ScopeFix, type ScopeOption } from './scope-fix.tsx'

const DAY_MS = 86_400_000
/** Calls are counted by the minute for so long. */
const MINUTE_S = '60'

/** Raises a rate limit to what was seen: each option says how many minutes of the last day it would have limited. */
export function RaiseLimit({
  entry,
  call,
  scopes,
  onClose,
}: {
  entry: FixableEntry
  call: FixedCall
  scopes: readonly Scope[]
  onClose: () => void
}) {
  const minutes = useLoad<Series>(
    withQuery('/admin/activity/series', {
      agent_id: call.agent_id,
      integration_id: call.integration_id,
      count: 'calls',
      step: MINUTE_S,
      from: new Date(Math.floor(Date.now() / 60_000) * 60_000 - DAY_MS).toISOString(),
    }),
  )
  const limit = Number(entry.data['limit'])
  return (
    <Loaded from={minutes}>
      {({ groups }) => {
        const counts = groups[0]?.counts ?? []
        const peak = Math.max(Number(entry.data['current_rpm'] ?? 0), ...counts)
        const options = limitFixes(limit, peak)
        return (
          <ScopeFix
            title={`Raise the limit to ${options[0]?.words}`}
            call={call}
            scopes={scopes}
            options={options}
            onClose={onClose}
            chosenAbout={(option) => <Trial option={option} limit={limit} counts={counts} />}
          >
            <p>
              The limit is {limit.toLocaleString()} calls a minute. The highest number of calls in a
              minute of the last day, refused ones too, was <strong>{peak.toLocaleString()}</strong>
              .
            </p>
          </ScopeFix>
        )
      }}
    </Loaded>
  )
}

function Trial({
  option,
  limit,
  counts,
}: {
  option: ScopeOption & { readonly limit?: number }
  limit: number
  counts: readonly number[]
}) {
  const over = (bound: number): number => counts.filter((count) => count > bound).length
  return (
    <p role="status">
      Minutes of the last day above it: {over(option.limit ?? limit).toLocaleString()} (now{' '}
      {over(limit).toLocaleString()}).
    </p>
  )
}
