import type { ComponentChildren } from 'preact'
import { countOf } from '../count-of.ts'
import { SecretOnce } from './bits.tsx'
import { Dialog } from './dialog.tsx'

/** What a fix ends with: it is in force on every live edge, or the service would not have answered. */
export const InForce = ({
  title = 'Saved',
  new_key,
  edges,
  onClose,
  children,
}: {
  title?: string
  /** A key that was made with it, which is not stored. */
  new_key?: string | undefined
  edges: number
  onClose: () => void
  children?: ComponentChildren
}) => (
  <Dialog title={title} onClose={onClose}>
    {new_key !== undefined && <SecretOnce label="New key." secret={new_key} />}
    <p role="status">
      In force on {edges} of {countOf(edges, 'edge')}. {children}
    </p>
    <button type="button" onClick={onClose}>
      Close
    </button>
  </Dialog>
)
