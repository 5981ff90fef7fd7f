import { useState } from 'preact/hooks'
import { REASONS } from '../../../core/catalogue/reasons.ts'
import type { RefusalCount } from '../api-types.ts'
import { reasonTitle } from '../reason-title.ts'
import { useMay } from '../session.ts'
import type { TimeRange } from '../time-ranges.ts'
import { type CountedCalls, useUnknownCalls } from '../use-unknown-calls.ts'
import { NewKey } from './new-key.tsx'
import { Loaded } from './notices.tsx'
import { Sparkline } from './sparkline.tsx'
import { Table } from './table.tsx'
import { Time } from './time.tsx'

/** Refused calls that belong to no organization: without a key, with an unknown one, or to no API. They have no log entries. */
export function UnknownCalls({ range }: { range: TimeRange }) {
  const calls = useUnknownCalls(range)
  const mayChange = useMay('admin')
  const [isMaking, setMaking] = useState(false)
  // Other organizations may not see the calls that belong to none.
  if (calls.problem?.status === 403)
    return (
      <p class="empty">Only the default organization sees calls that belong to no organization.</p>
    )
  return (
    <Loaded from={calls}>
      {(value) => (
        <>
          <Table
            caption="Calls with unknown keys"
            rows={rowsOf(value, range)}
            keyOf={({ reason }) => reason}
            empty="No such calls in this time."
            columns={[
              {
                head: 'Reason',
                cell: ({ reason }) => (
                  <span class="word" title={reason}>
                    {reasonTitle(reason)}
                  </span>
                ),
              },
              { head: 'Cause', cell: ({ reason }) => causeOf(reason) },
              { head: 'Calls', isNumber: true, cell: ({ total }) => total.toLocaleString() },
              {
                head: 'Over time',
                cell: ({ counts }) => <Sparkline counts={counts} tone="refused" />,
              },
              { head: 'Last minute', cell: ({ last }) => <Time at={last} /> },
              ...(mayChange
                ? [
                    {
                      head: 'Fix',
                      cell: ({ reason }: Row) =>
                        OF_KEYS.includes(reason) && (
                          <button type="button" onClick={() => setMaking(true)}>
                            Create a key …
                          </button>
                        ),
                    },
                  ]
                : []),
            ]}
          />
          {isMaking && (
            <NewKey agent_id={null} agent_name={null} onClose={() => setMaking(false)} />
          )}
        </>
      )}
    </Loaded>
  )
}

/** What a new key is a way out of. */
const OF_KEYS: readonly string[] = ['invalid_api_key', 'authentication_required']

/** Reasons are catalogued with Markdown. */
const causeOf = (reason: string): string =>
  (REASONS as Readonly<Record<string, { readonly cause: string } | undefined>>)[
    reason
  ]?.cause.replaceAll('`', '') ?? ''

interface Row {
  readonly reason: string
  readonly total: number
  readonly counts: readonly number[]
  readonly last: string
}

/** The most frequent reason first. */
function rowsOf({ from_ms, counts }: CountedCalls, { ms, spark_s }: TimeRange): readonly Row[] {
  const bars = Math.ceil(ms / 1000 / spark_s)
  const reasons = new Map<string, RefusalCount[]>()
  for (const one of counts) reasons.set(one.reason, [...(reasons.get(one.reason) ?? []), one])
  return [...reasons]
    .map(([reason, all]) => {
      const perBar = Array.from({ length: bars }, () => 0)
      for (const { minute, count } of all) {
        const bar = Math.floor((Date.parse(minute) - from_ms) / 1000 / spark_s)
        const at = Math.max(0, Math.min(bar, bars - 1))
        perBar[at] = (perBar[at] ?? 0) + count
      }
      return {
        reason,
        total: all.reduce((sum, { count }) => sum + count, 0),
        counts: perBar,
        last:
          all
            .map(({ minute }) => minute)
            .sort()
            .at(-1) ?? '',
      }
    })
    .sort((a, b) => b.total - a.total)
}
