import { useState } from 'preact/hooks'
import { ask } from '../api.ts'
import type { AccessRequest } from '../api-types.ts'
import { useAction } from '../use-action.ts'
import { DialogForm } from './dialog.tsx'
import { TextField } from './fields.tsx'
import { RequestedCall } from './request-facts.tsx'

export type Decision = 'approve' | 'deny' | 'cancel'

export const DECISIONS: Readonly<Record<Decision, string>> = {
  approve: 'Approve',
  deny: 'Deny',
  cancel: 'Withdraw',
}

/** Shows the call again: the list may have moved before the press. */
export function DecideDialog({
  request,
  decision,
  onClose,
  onDone,
}: {
  request: AccessRequest
  decision: Decision
  onClose: () => void
  onDone: (decided: AccessRequest) => void
}) {
  const [comment, setComment] = useState('')
  const { request_id, agent_name, call } = request
  const text = comment.trim()
  const decide = useAction(
    () =>
      ask<AccessRequest>('POST', `/admin/access-requests/${request_id}/${decision}`, {
        body: text === '' ? {} : { comment: text },
      }),
    onDone,
  )
  const isDenial = decision === 'deny'
  return (
    <DialogForm
      title={`${DECISIONS[decision]} this call of ${agent_name} to ${call.integration_name}?`}
      submit={DECISIONS[decision]}
      {...decide}
      isReady={!isDenial || text !== ''}
      isDanger={decision !== 'approve'}
      onSubmit={decide.run}
      onClose={onClose}
    >
      {decision === 'approve' && (
        <p>Exactly this call may be made once, when the agent makes it again.</p>
      )}
      <RequestedCall request={request} />
      <TextField
        label={isDenial ? 'Reason' : 'Comment'}
        hint={isDenial ? 'The agent is shown it.' : 'Optional. It is kept in the audit log.'}
        member="/comment"
        value={comment}
        onValue={setComment}
        required={isDenial}
        maxLength={500}
      />
    </DialogForm>
  )
}
