import type { ComponentChildren } from 'preact'
import { countOf } from '../count-of.ts'
import { Dialog } from './dialog.tsx'

/** What a fix ends with: it is in force on every live edge, or the service would not have answered. */
export const InForce = ({
  edges,
  onClose,
  children,
}: {
  edges: number
  onClose: () => void
  children?: ComponentChildren
}) => (
  <Dialog title="Saved" onClose={onClose}>
    <p role="status">
      In force on {edges} of {countOf(edges, 'edge')}. {children}
    </p>
    <button type="button" onClick={onClose}>
      Close
    </button>
  </Dialog>
)
