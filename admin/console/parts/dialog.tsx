import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useId, useRef } from 'preact/hooks'
import type { Problem } from '../api.ts'
import { FormIssues, issuesOf } from '../issues-of.ts'
import { ProblemNotice } from './notices.tsx'

/**
 * A modal dialog: the browser keeps the focus in it, Escape closes it, and the focus returns. A drawer stands at the right, has
 * a button to close it, and closes by a click next to it.
 */
export function Dialog({
  title,
  kind = 'box',
  onClose,
  children,
}: {
  title: string
  kind?: 'box' | 'drawer' | 'wide drawer'
  onClose: () => void
  children: ComponentChildren
}) {
  const element = useRef<HTMLDialogElement>(null)
  const isShown = useRef(true)
  const id = useId()
  // At once and not after the next frame, so that a key that follows finds the dialog there, and the focus back when it is gone.
  useLayoutEffect(() => {
    const dialog = element.current
    dialog?.showModal()
    return () => {
      // A close by unmounting is not an answer of the user.
      isShown.current = false
      dialog?.close()
    }
  }, [])
  return (
    <dialog
      ref={element}
      class={kind}
      aria-labelledby={id}
      // The browser reports `close` later, when the next key may have been pressed.
      onCancel={(event) => event.target === element.current && onClose()}
      onClose={() => isShown.current && onClose()}
      onClick={(event) => {
        // The dialog itself is clicked only outside its content.
        if (kind !== 'box' && event.target === element.current) onClose()
      }}
    >
      <div class="head">
        <h2 id={id}>{title}</h2>
        {kind !== 'box' && (
          <button type="button" aria-label="Close" onClick={onClose}>
            ×
          </button>
        )}
      </div>
      {children}
    </dialog>
  )
}

/** A form in a dialog with its errors, a submit and a cancel button. */
export function DialogForm({
  title,
  submit,
  isBusy,
  isReady = true,
  isDanger = false,
  problem,
  onSubmit,
  onClose,
  children,
}: {
  title: string
  submit: string
  isBusy: boolean
  isReady?: boolean
  isDanger?: boolean
  problem: Problem | null
  onSubmit: () => void
  onClose: () => void
  children: ComponentChildren
}) {
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (isReady) onSubmit()
        }}
      >
        <FormIssues.Provider value={issuesOf(problem)}>{children}</FormIssues.Provider>
        <ProblemNotice problem={problem} />
        <p class="buttons">
          <button type="submit" class={isDanger ? 'danger' : 'main'} disabled={isBusy || !isReady}>
            {isBusy ? 'Working …' : submit}
          </button>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
        </p>
      </form>
    </Dialog>
  )
}
