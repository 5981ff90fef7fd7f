import { useState } from 'preact/hooks'
import { ask } from '../api.ts'
import { useAction } from '../use-action.ts'
import { SecretOnce } from './bits.tsx'
import { Dialog, DialogForm } from './dialog.tsx'
import { CheckField, TextField } from './fields.tsx'

interface Reactivated {
  readonly credentials_restored: number
  readonly api_key?: string
}

export function Reactivate({
  path,
  isAsked = false,
  onDone,
}: {
  path: string
  /** Whether the dialog is open at first. */
  isAsked?: boolean
  onDone: () => void
}) {
  const [isOpen, setOpen] = useState(isAsked)
  const [reason, setReason] = useState('')
  const [rotate_keys, setRotate] = useState(false)
  const [api_key, setKey] = useState<string | null>(null)
  const close = (): void => {
    setOpen(false)
    onDone()
  }
  const reactivate = useAction(
    () => ask<Reactivated>('POST', `${path}/reactivate`, { body: { reason, rotate_keys } }),
    (done) => (done.api_key === undefined ? close() : setKey(done.api_key)),
  )
  return (
    <>
      <button type="button" onClick={() => setOpen(true)}>
        Reactivate
      </button>
      {isOpen && api_key !== null && (
        <Dialog title="The agent is active again" onClose={close}>
          <SecretOnce label="New key." secret={api_key} />
          <button type="button" onClick={close}>
            Close
          </button>
        </Dialog>
      )}
      {isOpen && api_key === null && (
        <DialogForm
          title="Reactivate the agent?"
          submit="Reactivate"
          {...reactivate}
          onSubmit={reactivate.run}
          onClose={() => setOpen(false)}
        >
          <TextField
            label="Reason"
            value={reason}
            onValue={setReason}
            required
            autoFocus
            maxLength={2000}
          />
          <CheckField
            label="Issue a new key"
            hint="Otherwise the revoked keys work again. Issue a new key if one may have leaked."
            value={rotate_keys}
            onValue={setRotate}
          />
        </DialogForm>
      )}
    </>
  )
}
