import { useState } from 'preact/hooks'
import { ask } from '../api.ts'
import type { Lock } from '../api-types.ts'
import { countOf } from '../count-of.ts'
import { MODE_WORDS, targetWords } from '../lock-words.ts'
import { linkTo } from '../place.ts'
import { useMay } from '../session.ts'
import { useNames } from '../use-names.ts'
import { ConfirmButton } from './confirm-button.tsx'
import { TextField } from './fields.tsx'
import { Time } from './time.tsx'

/** Locks in force, one line each: about what, until when, with which message, and a button that lifts it. */
export function LockLines({
  locks,
  limit = Number.POSITIVE_INFINITY,
  onLifted,
}: {
  locks: readonly Lock[]
  limit?: number
  onLifted: () => void
}) {
  const agentName = useNames('agents')
  const apiName = useNames('integrations')
  return (
    <ul class="plain locks" aria-label="Locks in force">
      {locks.slice(0, limit).map((lock) => {
        const words = targetWords(lock.target, agentName, apiName)
        const { lock_id, mode, message, expires_at, complete } = lock
        return (
          <li key={lock_id}>
            <span title={lock_id}>
              <strong>{words}</strong> {MODE_WORDS[mode]},{' '}
              {expires_at === null ? (
                'no end'
              ) : (
                <>
                  ends <Time at={expires_at} />
                </>
              )}
              {!complete && ', not confirmed on every edge'}
              {message !== null && <span class="muted"> “{message}”</span>}
            </span>{' '}
            <LiftButton lock={lock} words={words} onLifted={onLifted} />
          </li>
        )
      })}
      {locks.length > limit && (
        <li>
          <a href={linkTo(['kills'])}>Show all {countOf(locks.length, 'lock')}</a>
        </li>
      )}
    </ul>
  )
}

function LiftButton({
  lock: { lock_id },
  words,
  onLifted,
}: {
  lock: Lock
  words: string
  onLifted: () => void
}) {
  const [reason, setReason] = useState('')
  const body = reason.trim() === '' ? {} : { reason: reason.trim() }
  return useMay('admin') ? (
    <ConfirmButton
      label="Lift"
      title={`Lift the lock of ${words}?`}
      isDanger={false}
      work={() => ask('DELETE', `/admin/locks/${encodeURIComponent(lock_id)}`, { body })}
      onDone={onLifted}
    >
      <p>Its calls pass again on every edge. A killed agent stays killed.</p>
      <TextField
        label="Reason"
        hint="Optional. It is kept in the log."
        value={reason}
        onValue={setReason}
        maxLength={2000}
        autoFocus
      />
    </ConfirmButton>
  ) : null
}
