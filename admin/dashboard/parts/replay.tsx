import { useState } from 'preact/hooks'
import { ask } from '../api.ts'
import { useAction } from '../use-action.ts'
import { DialogForm } from './dialog.tsx'
import { TextField, utcOf } from './fields.tsx'

interface Replayed {
  readonly deliveries_created: number
  readonly next_from: string | null
}

export function Replay({ path, onDone }: { path: string; onDone: () => void }) {
  const [isOpen, setOpen] = useState(false)
  const [from, setFrom] = useState('')
  const [to, setTo] = useState('')
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
  const close = (): void => {
    setOpen(false)
    setReplayed(null)
  }
  return (
    <>
      <button type="button" onClick={() => setOpen(true)}>
        Replay
      </button>
      {isOpen && (
        <DialogForm
          title="Replay events"
          submit={replayed?.next_from ? 'Continue' : 'Replay'}
          {...replay}
          isReady={replayed === null || replayed.next_from !== null}
          onSubmit={replay.run}
          onClose={close}
        >
          <TextField
            label="From"
            type="datetime-local"
            value={from}
            onValue={setFrom}
            step={1}
            required
            autoFocus
          />
          <TextField
            label="Before"
            type="datetime-local"
            value={to}
            onValue={setTo}
            step={1}
            required
          />
          {replayed !== null && (
            <p class="notice good" role="status">
              {replayed.deliveries_created} deliveries were made.{' '}
              {replayed.next_from !== null && 'More events: continue.'}
            </p>
          )}
        </DialogForm>
      )}
    </>
  )
}
