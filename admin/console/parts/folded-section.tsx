import type { ComponentChildren } from 'preact'
import { useContext, useEffect, useRef } from 'preact/hooks'
import { FormIssues } from '../issues-of.ts'

/** A part of a form, collapsed to a sentence about its settings. It opens when a field in it has an error. */
export function FoldedSection({
  title,
  words,
  members,
  children,
}: {
  title: string
  words: string
  /** The members of the request that its fields set. */
  members: readonly string[]
  children: ComponentChildren
}) {
  const element = useRef<HTMLDetailsElement>(null)
  const issues = useContext(FormIssues)
  const isInvalid = issues.some(({ path }) => members.some((member) => path.startsWith(member)))
  const open = (): void => {
    if (element.current !== null) element.current.open = true
  }
  useEffect(() => {
    if (isInvalid) open()
  }, [issues])
  return (
    // The browser can show its own message about a field, such as a number out of range, only where the field is visible.
    <details class="folded" ref={element} onInvalidCapture={open}>
      <summary>
        <strong>{title}</strong> <span class="muted">{words}</span>
      </summary>
      <div class="body">{children}</div>
    </details>
  )
}
