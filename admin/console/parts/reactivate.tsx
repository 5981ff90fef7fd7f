import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { type ApiAnswer, ask } from '../api.ts'
import { liveEdges } from '../live-edges.ts'
import { useAction } from '../use-action.ts'
import { DialogForm } from './dialog.tsx'
import { CheckField, TextField } from './fields.tsx'
import { InForce } from './in-force.tsx'

interface Reactivated {
  readonly credentials_restored: number
  readonly api_key?: string
}

/** A button that opens the dialog. */
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
  return (
    <>
      <button type="button" class="main" onClick={() => setOpen(true)}>
        Reactivate
      </button>
      {isOpen && (
        <ReactivateDialog
          path={path}
          onClose={() => setOpen(false)}
          onDone={() => {
            setOpen(false)
            onDone()
          }}
        />
      )}
    </>
  )
}

interface Done {
  readonly api_key: string | undefined
  readonly edges: number
}

export function ReactivateDialog({
  path,
  onClose,
  onDone,
  children,
}: {
  path: string
  onClose: () => void
  onDone: () => void
  children?: ComponentChildren
}) {
  const [reason, setReason] = useState('')
  const [rotate_keys, setRotate] = useState(false)
  const [done, setDone] = useState<Done | null>(null)
  const reactivate = useAction(async (): Promise<ApiAnswer<Done>> => {
    const body = { reason, rotate_keys }
    const answer = await ask<Reactivated>('POST', `${path}/reactivate`, { body })
    if (!answer.ok) return answer
    const edges = await liveEdges()
    // A new key is shown in any case: it is not stored.
    const value = { api_key: answer.value.api_key, edges: edges.ok ? edges.value : 0 }
    return { ok: true, value, etag: null }
  }, setDone)
  if (done !== null)
    return (
      <InForce
        title="The agent is active again"
        new_key={done.api_key}
        edges={done.edges}
        onClose={onDone}
      />
    )
  return (
    <DialogForm
      title="Reactivate the agent?"
      submit="Reactivate"
      {...reactivate}
      onSubmit={reactivate.run}
      onClose={onClose}
    >
      {children}
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
  )
}
