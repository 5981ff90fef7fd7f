import { PatternList } from '../parts/pattern-list.tsx'
import { ScanPlayground } from '../parts/scan-playground.tsx'
import { TimePresets } from '../parts/time-presets.tsx'
import { UnknownCalls } from '../parts/unknown-calls.tsx'
import { timeRange } from '../time-ranges.ts'

export function SecurityPage({ query }: { query: Readonly<Record<string, string>> }) {
  const range = timeRange(query['range'])
  return (
    <>
      <h1>Security</h1>
      <section>
        <div class="head">
          <h2>Unknown keys and calls</h2>
          <TimePresets parts={['security']} query={query} current={range.key} />
        </div>
        <p class="muted">
          Calls that no agent can be blamed for. They are counted by the minute and have no entries
          in the activity log. A rise may be a leaked address, a revoked key in use, or a scan.
        </p>
        <UnknownCalls range={range} />
      </section>
      <section>
        <h2>Scan playground</h2>
        <ScanPlayground of={query['scope_id'] ?? ''} />
      </section>
      <section>
        <h2>Patterns</h2>
        <p class="muted">
          What injection detection looks for. A scope can disable patterns and add its own.
        </p>
        <PatternList />
      </section>
    </>
  )
}
