import type { CreatedLock } from '../api-types.ts'
import { countOf } from '../count-of.ts'
import { MODE_WORDS } from '../lock-words.ts'
import { EdgeRows } from './edge-rows.tsx'
import { Time } from './time.tsx'

/** The receipt of a lock, per edge. */
export function LockReceipt({ lock }: { lock: CreatedLock }) {
  const { complete, edges, ignored, mode, expires_at } = lock
  const silent = edges.filter(({ acknowledged_ms }) => acknowledged_ms === null).length
  const old = edges.filter(({ is_too_old }) => is_too_old === true).length
  return (
    <section class={`notice ${complete ? 'good' : 'warn'}`} role="status" aria-label="Lock receipt">
      <p>
        <strong>
          In force on {edges.length - silent} of {countOf(edges.length, 'edge')}
        </strong>{' '}
        after {lock.propagation_ms} ms: {MODE_WORDS[mode]},{' '}
        {expires_at === null ? (
          'until an admin lifts it.'
        ) : (
          <>
            until <Time at={expires_at} isFull />.
          </>
        )}
      </p>
      {old > 0 && (
        <p>
          <strong>{countOf(old, 'edge does', 'edges do')} not know locks</strong> and let calls
          pass. Upgrade or stop {old === 1 ? 'it' : 'them'}.
        </p>
      )}
      {!complete && silent > old && (
        <p>A silent edge stops serving when its lease expires, within seconds.</p>
      )}
      <p>
        Calls in flight ended: {lock.in_flight_requests_terminated}
        {lock.tunnels_terminated > 0 && ` · tunnels closed: ${lock.tunnels_terminated}`} ·{' '}
        <code>{lock.lock_id}</code>
      </p>
      <EdgeRows edges={edges} />
      {ignored.length > 0 && <p>Not understood and left out: {ignored.join(', ')}.</p>}
    </section>
  )
}
