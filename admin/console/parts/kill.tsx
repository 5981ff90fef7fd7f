import type { Agent, Receipt } from '../api-types.ts'
import { linkTo } from '../place.ts'
import { useMay } from '../session.ts'
import { EdgeRows } from './edge-rows.tsx'
import { type Lever, StopDialog } from './stop-dialog.tsx'
import { Time } from './time.tsx'

/** Kills an agent, or locks it for less than that. */
export const KillDialog = ({
  agent,
  first = 'kill',
  onClose,
  onDone,
}: {
  agent: Agent
  first?: Lever
  onClose: () => void
  onDone: (receipt: Receipt) => void
}) => (
  <StopDialog
    about={agent.agent_name}
    target={{ agent_id: agent.agent_id }}
    kill={{ agent, onDone }}
    first={first}
    onClose={onClose}
  />
)

/** Leads to the agent with the dialog of a kill open, for roles that may kill. */
export const KillLink = ({ agent_id }: { agent_id: string }) =>
  useMay('operator') ? (
    <a class="button danger quiet" href={linkTo(['agents', agent_id], { do: 'kill' })}>
      Kill …
    </a>
  ) : null

/** The receipt of a kill, per edge. */
export function KillReceipt({ receipt }: { receipt: Receipt }) {
  const { complete, edges, still_usable_keys: keys, notify_unavailable: unavailable } = receipt
  return (
    <section class={`notice ${complete ? 'good' : 'warn'}`} role="status" aria-label="Kill receipt">
      <p>
        <strong>
          {complete ? 'Killed on every edge.' : 'Killed, but not every edge has confirmed it.'}
        </strong>{' '}
        {!complete &&
          'A silent edge stops serving when its lease expires, within seconds. Kill again to retry.'}
      </p>
      <p>
        Calls in flight ended: {receipt.in_flight_requests_terminated} ·{' '}
        {receipt.tunnels_terminated > 0 && `tunnels closed: ${receipt.tunnels_terminated} · `}keys
        revoked: {receipt.credentials_revoked} · last acknowledged after {receipt.propagation_ms} ms
        · killed <Time at={receipt.killed_at} isFull />
        {receipt.kill_id !== null && (
          <>
            {' '}
            · <a href={linkTo(['kills', receipt.kill_id])}>Permanent link to this receipt</a>
          </>
        )}
      </p>
      <EdgeRows edges={edges} />
      {keys.length > 0 && (
        <p>
          <strong>Organization keys it used in the last day still work</strong> for others:{' '}
          {keys.join(', ')}. <a href={linkTo(['settings'])}>View keys.</a>
        </p>
      )}
      {unavailable.length > 0 && <p>Not configured: {unavailable.join(', ')}.</p>}
    </section>
  )
}
