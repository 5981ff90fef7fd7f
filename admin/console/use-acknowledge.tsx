import type { ComponentChildren } from 'preact'
import { ask, type Problem } from './api.ts'
import type { Alert } from './api-types.ts'
import { countOf } from './count-of.ts'
import { ConfirmButton } from './parts/confirm-button.tsx'
import { useMay } from './session.ts'
import { useAction } from './use-action.ts'

/** Acknowledges alerts: the button of some, null for a role that may not, and the error of the last attempt. */
export function useAcknowledge(onDone: () => void): {
  readonly button: (alert_ids: readonly string[], kind: Alert['kind']) => ComponentChildren
  readonly problem: Problem | null
} {
  const mayAcknowledge = useMay('operator')
  const mayAcceptGap = useMay('admin')
  const { isBusy, problem, run } = useAction(
    (alert_ids: readonly string[]) =>
      alert_ids.length === 1
        ? ask('POST', `/admin/alerts/${alert_ids[0]}/acknowledge`)
        : ask('POST', '/admin/alerts/acknowledge', { body: { alert_ids } }),
    onDone,
  )
  const button = (alert_ids: readonly string[], kind: Alert['kind']): ComponentChildren => {
    // This alert stands until the gap itself is acknowledged.
    if (kind === 'restore_gap') return mayAcceptGap && <AcceptGap onDone={onDone} />
    return (
      mayAcknowledge && (
        <button type="button" disabled={isBusy} onClick={() => run(alert_ids)}>
          Acknowledge{alert_ids.length > 1 && ` ${countOf(alert_ids.length, 'alert')}`}
        </button>
      )
    )
  }
  return { button, problem }
}

const AcceptGap = ({ onDone }: { onDone: () => void }) => (
  <ConfirmButton
    label="Serve the agents"
    title="Serve the agents of the backup?"
    work={() => ask('POST', '/admin/restore-gap/acknowledge', { body: { agent_ids: null } })}
    onDone={onDone}
  >
    Kills and revocations after the backup may be missing. Make those that you know of again first.
    To serve some agents only, use <code>agw restore-gap accept AGENT</code>.
  </ConfirmButton>
)
