import { useState } from 'preact/hooks'
import { ask } from '../api.ts'
import type { Agent, Receipt } from '../api-types.ts'
import { linkTo } from '../place.ts'
import { useMay } from '../session.ts'
import { useAction } from '../use-action.ts'
import { DialogForm } from './dialog.tsx'
import { EdgeRows } from './edge-rows.tsx'
import { TextField } from './fields.tsx'
import { KillPreviewLine } from './kill-preview.tsx'
import { Time } from './time.tsx'

/** Short, since it may be typed in a hurry and can be undone by a reactivation. */
const WORD = 'kill'

export function KillDialog({
  agent,
  path,
  onClose,
  onDone,
}: {
  agent: Agent
  path: string
  onClose: () => void
  onDone: (receipt: Receipt) => void
}) {
  const [reason, setReason] = useState('')
  const [word, setWord] = useState('')
  const kill = useAction(
    () => ask<Receipt>('POST', `${path}/kill`, { body: { reason: reason.trim() } }),
    onDone,
  )
  return (
    <DialogForm
      title={`Kill ${agent.agent_name}?`}
      submit="Kill"
      {...kill}
      isReady={reason.trim() !== '' && word.trim().toLowerCase() === WORD}
      isDanger
      onSubmit={kill.run}
      onClose={onClose}
    >
      <p>
        Its calls in flight end now, on every edge, new ones are refused, and its keys are revoked,
        until an admin reactivates it. Its id is <code>{agent.agent_id}</code>.
      </p>
      <KillPreviewLine path={path} />
      <TextField
        label="Reason"
        hint="Shown to operators, in the log and in webhooks. The agent never sees it."
        value={reason}
        onValue={setReason}
        required
        autoFocus
        maxLength={2000}
      />
      <TextField label={`Type “${WORD}” to confirm`} value={word} onValue={setWord} required />
    </DialogForm>
  )
}

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
