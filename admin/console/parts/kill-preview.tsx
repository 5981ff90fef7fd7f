import type { KillPreview } from '../api-types.ts'
import { countOf } from '../count-of.ts'
import { useLoad } from '../use-load.ts'

const EVERY_MS = 1000

/** What a kill would end, before it is confirmed. It never delays the kill. */
export function KillPreviewLine({ path }: { path: string }) {
  const { value } = useLoad<KillPreview>(`${path}/kill-preview`, EVERY_MS)
  if (value === null) return null
  const { in_flight, tunnels, edges, requests_last_hour, keys, organization_keys } = value
  return (
    <p class="notice warn" aria-label="What a kill ends">
      <strong>{in_flight ?? 'An unknown number of'}</strong> {in_flight === 1 ? 'call' : 'calls'} in
      flight on {countOf(edges, 'edge')}
      {tunnels !== null && tunnels > 0 && ` and ${countOf(tunnels, 'open tunnel')}`} ·{' '}
      <strong>{countOf(requests_last_hour, 'call')}</strong> in the last hour ·{' '}
      <strong>{countOf(keys, 'key')}</strong> revoked
      {organization_keys.length > 0 &&
        ` · ${countOf(organization_keys.length, 'organization key stays', 'organization keys stay')} usable for other agents`}
    </p>
  )
}
