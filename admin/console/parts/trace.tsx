import type { ActivityEntry } from '../api-types.ts'

const NAMES: Readonly<Record<string, string>> = {
  lease: 'Edge may serve',
  target: 'Target URL',
  integration: 'Integration',
  agent: 'Agent',
  scope: 'Scope and rule',
  rate: 'Rate limit',
  body: 'Body',
  tools: 'Tools',
  scan: 'Injection scan',
  credential: 'Credential',
  kill: 'Not killed meanwhile',
}

export const tookText = (us: number): string =>
  us < 1000 ? `${us} µs` : `${(us / 1000).toFixed(1)} ms`

interface Bar {
  readonly name: string
  readonly isRefused: boolean
  readonly begin_us: number
  readonly took_us: number
}

/**
 * A call as a waterfall: the steps of the decision in their order, the last of which refused the call if one did, and then the rest of
 * its time, which is that of the API and of the way to it.
 */
export function Trace({
  entry: { steps, duration_ms, decision },
}: {
  entry: Pick<ActivityEntry, 'steps' | 'duration_ms' | 'decision'>
}) {
  const bars: Bar[] = []
  let end_us = 0
  for (const { step, outcome, took_us } of steps) {
    const name = NAMES[step] ?? step
    bars.push({ name, isRefused: outcome === 'deny', begin_us: end_us, took_us })
    end_us += took_us
  }
  const rest_us = (duration_ms ?? 0) * 1000 - end_us
  if (decision === 'allowed' && rest_us > 0)
    bars.push({ name: 'API and network', isRefused: false, begin_us: end_us, took_us: rest_us })
  const whole_us = Math.max(1, end_us, (duration_ms ?? 0) * 1000)
  const share = (us: number): string => `${((us / whole_us) * 100).toFixed(2)}%`
  return (
    <ol class="trace" aria-label="Steps of the decision">
      {bars.map(({ name, isRefused, begin_us, took_us }, at) => (
        <li key={name} class={isRefused ? 'bad' : at === steps.length ? 'api' : ''}>
          <span>
            {name}
            {isRefused && <strong>: refused</strong>}
          </span>
          <span class="muted">{tookText(took_us)}</span>
          <span
            class="span"
            style={{ marginLeft: share(begin_us), width: `max(2px, ${share(took_us)})` }}
          />
        </li>
      ))}
    </ol>
  )
}
