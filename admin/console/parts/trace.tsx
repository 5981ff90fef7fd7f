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

/** The steps of a decision in their order, with their times; the last one refused the call, if one did. */
export const Trace = ({ steps }: { steps: ActivityEntry['steps'] }) => (
  <ol class="trace" aria-label="Steps of the decision">
    {steps.map(({ step, outcome, took_us }) => (
      <li key={step} class={outcome === 'deny' ? 'bad' : ''}>
        <span>
          {NAMES[step] ?? step}
          {outcome === 'deny' && <strong>: refused</strong>}
        </span>
        <span class="muted">
          {took_us < 1000 ? `${took_us} µs` : `${(took_us / 1000).toFixed(1)} ms`}
        </span>
      </li>
    ))}
  </ol>
)
