import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { type ApiAnswer, ask } from '../api.ts'
import type { Lock } from '../api-types.ts'
import { liveEdges } from '../live-edges.ts'
import { MODE_WORDS, targetWords } from '../lock-words.ts'
import { useAction } from '../use-action.ts'
import { useLoad } from '../use-load.ts'
import { useNames } from '../use-names.ts'
import { DialogForm } from './dialog.tsx'
import { Facts } from './bits.tsx'
import { TextField } from './fields.tsx'
import { InForce } from './in-force.tsx'
import { ProblemNotice } from './notices.tsx'
import { Time } from './time.tsx'

/** Lifts a lock, after what it stops has been shown. */
export function Unlock({
  lock_id,
  onClose,
  children,
}: {
  lock_id: string
  onClose: () => void
  children?: ComponentChildren
}) {
  const path = `/admin/locks/${encodeURIComponent(lock_id)}`
  const lock = useLoad<Lock>(path)
  const agentName = useNames('agents')
  const apiName = useNames('integrations')
  const [reason, setReason] = useState('')
  const [edges, setEdges] = useState<number | null>(null)
  const lift = useAction(async (): Promise<ApiAnswer<number>> => {
    const done = await ask('DELETE', path, { body: reason.trim() === '' ? {} : { reason } })
    return done.ok ? await liveEdges() : done
  }, setEdges)
  if (edges !== null) return <InForce edges={edges} onClose={onClose} />
  const isGone = lock.problem?.status === 404
  return (
    <DialogForm
      title="Lift the lock"
      submit="Lift the lock"
      {...lift}
      isReady={lock.value !== null}
      onSubmit={lift.run}
      onClose={onClose}
    >
      {isGone ? (
        <p role="status">The lock has been lifted or is over.</p>
      ) : (
        <ProblemNotice problem={lock.problem} />
      )}
      {lock.value !== null && (
        <Facts
          facts={[
            ['Concerns', targetWords(lock.value.target, agentName, apiName)],
            ['Mode', MODE_WORDS[lock.value.mode]],
            ['Message', lock.value.message ?? 'none'],
            ['By', lock.value.created_by],
            ['Since', <Time at={lock.value.created_at} />],
            ['Ends', <Time at={lock.value.expires_at} none="never" />],
          ]}
        />
      )}
      {children}
      <TextField label="Reason" value={reason} onValue={setReason} maxLength={2000} />
    </DialogForm>
  )
}
