import { useState } from 'preact/hooks'
import { ask } from '../api.ts'
import { useAction } from '../use-action.ts'
import { DialogForm } from './dialog.tsx'
import { localOf, TextField, utcOf } from './fields.tsx'

interface Replayed {
  readonly deliveries_created: number
  readonly next_from: string | null
}

const SECOND_MS = 1000

/** Delivers stored events again: of a range, or those that the webhook missed while it was failing. */
export function Replay({
  path,
  missed_since,
  onDone,
}: {
  path: string
  missed_since: string | null
  onDone: () => void
}) {
  const [start, setStart] = useState<{ readonly from: string } | null>(null)
  return (
    <>
      {missed_since !== null && (
        <button
          type="button"
          class="main"
          onClick={() => setStart({ from: localOf(missed_since) })}
        >
          Replay what it missed
        </button>
      )}
      <button type="button" onClick={() => setStart({ from: '' })}>
        Replay
      </button>
      {start !== null && (
        <ReplayDialog
          path={path}
          start={start.from}
          onDone={onDone}
          onClose={() => setStart(null)}
        />
      )}
    </>
  )
}

function ReplayDialog({
  path,
  start,
  onDone,
  onClose,
}: {
  path: string
  start: string
  onDone: () => void
  onClose: () => void
}) {
  const [from, setFrom] = useState(start)
  const [to, setTo] = useState(() =>
    start === '' ? '' : localOf(new Date(Date.now() + SECOND_MS).toISOString()),
  )
  const [replayed, setReplayed] = useState<Replayed | null>(null)
  const replay = useAction(
    () =>
      ask<Replayed>('POST', `${path}/replay`, {
        body: { from: replayed?.next_from ?? utcOf(from), to: utcOf(to) },
      }),
    (done) => {
      setReplayed(done)
      onDone()
    },
  )
  return (
    <DialogForm
      title="Replay events"
      submit={replayed?.next_from ? 'Continue' : 'Replay'}
      {...replay}
      isReady={replayed === null || replayed.next_from !== null}
      onSubmit={replay.run}
      onClose={onClose}
    >
      {start !== '' && (
        <p>
          From the first event that was given up until now. Receivers recognize an event that they
          already have by its <code>webhook-id</code>.
        </p>
      )}
      <TextField
        label="From"
        member="/from"
        type="datetime-local"
        value={from}
        onValue={setFrom}
        step={1}
        required
        autoFocus
      />
      <TextField
        label="Before"
        member="/to"
        type="datetime-local"
        value={to}
        onValue={setTo}
        step={1}
        required
      />
      {replayed !== null && (
        <p class="notice good" role="status">
          Deliveries made: {replayed.deliveries_created}.{' '}
          {replayed.next_from !== null && 'More events: continue.'}
        </p>
      )}
    </DialogForm>
  )
}
