import type { ComponentChildren } from 'preact'
import { ask, type Problem } from './api.ts'
import { useMay } from './session.ts'
import { useAction } from './use-action.ts'

/** Acknowledges alerts: the button of one, null for a role that may not, and the error of the last attempt. */
export function useAcknowledge(onDone: () => void): {
  readonly button: (alert_id: string) => ComponentChildren
  readonly problem: Problem | null
} {
  const mayAcknowledge = useMay('operator')
  const { isBusy, problem, run } = useAction(
    (alert_id: string) => ask('POST', `/admin/alerts/${alert_id}/acknowledge`),
    onDone,
  )
  const button = (alert_id: string): ComponentChildren =>
    mayAcknowledge && (
      <button type="button" disabled={isBusy} onClick={() => run(alert_id)}>
        Acknowledge
      </button>
    )
  return { button, problem }
}
