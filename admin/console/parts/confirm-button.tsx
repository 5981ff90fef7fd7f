import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { ApiAnswer } from '../api.ts'
import { useAction } from '../use-action.ts'
import { DialogForm } from './dialog.tsx'

/** A button whose action needs confirmation. */
export function ConfirmButton<T>({
  label,
  title,
  work,
  onDone,
  isDanger = true,
  children,
}: {
  label: string
  title: string
  work: () => Promise<ApiAnswer<T>>
  onDone: (value: T) => void
  isDanger?: boolean
  children: ComponentChildren
}) {
  const [isOpen, setOpen] = useState(false)
  const { isBusy, problem, run } = useAction(work, (value) => {
    setOpen(false)
    onDone(value)
  })
  return (
    <>
      <button type="button" class={isDanger ? 'danger quiet' : ''} onClick={() => setOpen(true)}>
        {label}
      </button>
      {isOpen && (
        <DialogForm
          title={title}
          submit={label}
          isBusy={isBusy}
          isDanger={isDanger}
          problem={problem}
          onSubmit={run}
          onClose={() => setOpen(false)}
        >
          <div>{children}</div>
        </DialogForm>
      )}
    </>
  )
}
