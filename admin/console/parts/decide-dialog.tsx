import { useState } from 'preact/hooks'
import { ask } from '../api.ts'
import type { AccessRequest } from '../api-types.ts'
import { useAction } from '../use-action.ts'
import { DialogForm } from './dialog.tsx'
import { TextField, localOf, utcOf } from './fields.tsx'
import { RequestedCall } from './request-facts.tsx'

export type Decision = 'approve' | 'deny' | 'cancel'

export const DECISIONS: Readonly<Record<Decision, string>> = {
  approve: 'Approve',
  deny: 'Deny',
  cancel: 'Withdraw',
}

/** For how long an approval allows the calls of the rule; `once`: this call alone. */
export type Lasting = 'once' | '15m' | '1h' | 'until'

export const LASTING: Readonly<Record<Lasting, string>> = {
  once: 'once',
  '15m': 'for 15 min',
  '1h': 'for 1 h',
  until: 'until …',
}
const LASTS_MS = { '15m': 900_000, '1h': 3_600_000 } as const

/** Shows the call again: the list may have moved before the press. */
export function DecideDialog({
  request,
  decision,
  lasting,
  onClose,
  onDone,
}: {
  request: AccessRequest
  decision: Decision
  lasting: Lasting
  onClose: () => void
  onDone: (decided: AccessRequest) => void
}) {
  const [comment, setComment] = useState('')
  const { request_id, agent_name, call, kind, requested_until } = request
  const [until, setUntil] = useState(() =>
    localOf(requested_until ?? new Date(Date.now() + LASTS_MS['1h']).toISOString()),
  )
  const text = comment.trim()
  const endOf = (): string | undefined => {
    if (decision !== 'approve' || lasting === 'once') return undefined
    if (lasting === 'until') return utcOf(until)
    return new Date(Date.now() + LASTS_MS[lasting]).toISOString()
  }
  const decide = useAction(
    () =>
      ask<AccessRequest>('POST', `/admin/access-requests/${request_id}/${decision}`, {
        body: {
          ...(text === '' ? {} : { comment: text }),
          ...(decision === 'approve' && lasting !== 'once' ? { expires_at: endOf() } : {}),
        },
      }),
    onDone,
  )
  const isDenial = decision === 'deny'
  return (
    <DialogForm
      title={`${DECISIONS[decision]} this call of ${agent_name} to ${call.integration_name ?? 'no integration'}?`}
      submit={DECISIONS[decision]}
      {...decide}
      isReady={isDenial ? text !== '' : lasting !== 'until' || until !== ''}
      isDanger={decision !== 'approve'}
      onSubmit={decide.run}
      onClose={onClose}
    >
      {decision === 'approve' && <Meaning kind={kind} lasting={lasting} />}
      <RequestedCall request={request} />
      {decision === 'approve' && lasting === 'until' && (
        <TextField
          label="Until"
          hint="Your local time, within 30 days."
          member="/expires_at"
          type="datetime-local"
          value={until}
          onValue={setUntil}
          required
        />
      )}
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

const Meaning = ({ kind, lasting }: { kind: AccessRequest['kind']; lasting: Lasting }) => (
  <p>
    {lasting === 'once'
      ? 'Exactly this call may be made once, when the agent makes it again.'
      : `The agent may make ${kind === 'access' ? 'calls with this method and path' : 'all calls by the rule that asks for an approval'}, ${lasting === 'until' ? 'until the time below' : LASTING[lasting]}. A change of ${kind === 'access' ? '' : 'the scope or '}the integration ends it, and so does a kill.`}
  </p>
)
