import type { KillPreview } from '../api-types.ts'
import { useLoad } from '../use-load.ts'

const EVERY_MS = 1000

/** What a kill would end, before it is confirmed. It never delays the kill. */
export function KillPreviewLine({ path }: { path: string }) {
  const { value } = useLoad<KillPreview>(`${path}/kill-preview`, EVERY_MS)
  if (value === null) return null
  const { in_flight, tunnels, edges, requests_last_hour, keys, organization_keys } = value
  return (
    <p class="notice warn" aria-label="What a kill ends">
      <strong>{in_flight ?? 'An unknown number of'}</strong> calls in flight on {edges}{' '}
      {edges === 1 ? 'edge' : 'edges'}
      {tunnels !== null && tunnels > 0 && ` and ${tunnels} open tunnels`} ·{' '}
      <strong>{requests_last_hour}</strong> calls in the last hour · <strong>{keys}</strong>{' '}
      {keys === 1 ? 'key' : 'keys'} revoked
      {organization_keys.length > 0 &&
        ` · ${organization_keys.length} organization keys stay usable for other agents`}
    </p>
  )
}
