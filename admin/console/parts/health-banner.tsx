import { useRef } from 'preact/hooks'
import type { Readiness } from '../api-types.ts'
import { useLoad } from '../use-load.ts'

const EVERY_MS = 5000

/** What each missing part means for the calls of agents meanwhile. */
const MEANWHILE: Readonly<Record<keyof Readiness['parts'], string>> = {
  redis:
    'The store is unavailable: edges refuse every call once their lease has expired, within seconds, and no change can be made. What this page shows is old.',
  store: 'The store is not the one that this deployment has used:',
  edges: 'No edge holds its lease: every call is refused.',
  proxy: 'A probe through the proxy did not come back: agents may not reach the gateway.',
  encryption_key: 'The encryption key does not fit the store:',
}

/** On every page while the gateway is not ready, since what a page shows may then be old. */
export function HealthBanner() {
  const { value, problem } = useLoad<Readiness>('/readyz', EVERY_MS)
  // A service that is not ready says so with a 503 and the same body.
  const told = problem === null ? value : (problem.body as Readiness | null | undefined)
  // A check that is not answered does not end what the one before has said.
  const last = useRef<Readiness | null>(null)
  if (told?.parts) last.current = told
  const readiness = last.current
  if (readiness === null || readiness.ready) return null
  const parts = Object.entries(readiness.parts) as [keyof Readiness['parts'], string][]
  // Without the store nothing is known about the edges.
  const missing = parts.filter(
    ([part, state]) => state !== 'ok' && (part === 'redis' || readiness.parts.redis === 'ok'),
  )
  return (
    <div class={`banner ${readiness.parts.redis === 'ok' ? '' : 'stale'}`} role="alert">
      {missing.map(([part, state]) => (
        <p key={part}>
          <strong>{MEANWHILE[part]}</strong> {state}
        </p>
      ))}
    </div>
  )
}
