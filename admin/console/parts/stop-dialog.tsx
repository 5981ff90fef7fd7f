import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { ask } from '../api.ts'
import type { Agent, CreatedLock, Receipt } from '../api-types.ts'
import { type LockDraft, lockOf, NEW_LOCK } from '../lock-draft.ts'
import type { LockTarget } from '../lock-words.ts'
import { useAction } from '../use-action.ts'
import { Dialog, DialogForm } from './dialog.tsx'
import { RadioField, TextField } from './fields.tsx'
import { KillPreviewLine } from './kill-preview.tsx'
import { LockFields } from './lock-fields.tsx'
import { LockReceipt } from './lock-receipt.tsx'

/** How much is stopped, from the least to the most. */
export type Lever = 'read_only' | 'deny' | 'kill'

const LEVERS = {
  deny: 'Pause: refuse its calls, revoke nothing',
  read_only: 'Read-only: only calls that read pass',
  kill: 'Kill: refuse its calls, and revoke its keys until an admin reactivates it',
} as const
const LOCKS = { deny: LEVERS.deny, read_only: LEVERS.read_only } as const

const WORDS: Readonly<Record<Lever, { title: string; submit: string }>> = {
  deny: { title: 'Pause', submit: 'Pause' },
  read_only: { title: 'Read-only:', submit: 'Make read-only' },
  kill: { title: 'Kill', submit: 'Kill' },
}

/** Short, since it may be typed in a hurry and can be undone. */
const KILL_WORD = 'kill'
const WIDE_WORD = 'lock'

interface Stopped {
  /** Its name. */
  readonly about: string
  /** Null while it is not chosen. */
  readonly target: LockTarget | null
  readonly kill?: { readonly agent: Agent; readonly onDone: (receipt: Receipt) => void } | null
  /** What is chosen at first. */
  readonly first: Lever
  readonly onClose: () => void
  readonly children?: ComponentChildren
}

/** Pauses what a lock can name, makes it read-only, or, if it is an agent, kills it. The receipt of a lock is shown in it. */
export function StopDialog(stopped: Stopped) {
  const [locked, setLocked] = useState<CreatedLock | null>(null)
  if (locked === null) return <StopForm {...stopped} onLocked={setLocked} />
  return (
    <Dialog title={`Locked: ${stopped.about}`} onClose={stopped.onClose}>
      <LockReceipt lock={locked} />
      <button type="button" onClick={stopped.onClose}>
        Close
      </button>
    </Dialog>
  )
}

function StopForm({
  about,
  target,
  kill = null,
  first,
  onClose,
  onLocked,
  children,
}: Stopped & { onLocked: (lock: CreatedLock) => void }) {
  const [lever, setLever] = useState<Lever>(first)
  const [draft, setDraft] = useState<LockDraft>(NEW_LOCK)
  const [reason, setReason] = useState('')
  const [word, setWord] = useState('')
  const path = kill === null ? '' : agentPath(kill.agent)
  const killing = useAction(
    () => ask<Receipt>('POST', `${path}/kill`, { body: { reason: reason.trim() } }),
    (receipt) => kill?.onDone(receipt),
  )
  const locking = useAction(
    () => ask<CreatedLock>('POST', '/admin/locks', { body: lockOf(target, lever, draft) }),
    onLocked,
  )
  const isKill = lever === 'kill'
  const { title, submit } = WORDS[lever]
  const wanted = isKill ? KILL_WORD : isWide(target) ? WIDE_WORD : null
  const isTyped = wanted === null || word.trim().toLowerCase() === wanted
  const { isBusy, problem, run } = isKill ? killing : locking
  return (
    <DialogForm
      title={`${title} ${about}?`}
      submit={submit}
      isBusy={isBusy}
      problem={problem}
      isReady={isTyped && (isKill ? reason.trim() !== '' : target !== null)}
      isDanger
      onSubmit={run}
      onClose={onClose}
    >
      {children}
      {kill?.agent.status !== 'killed' && (
        <RadioField<Lever>
          label="How"
          value={lever}
          onValue={setLever}
          choices={kill === null ? LOCKS : LEVERS}
        />
      )}
      {isKill && kill !== null ? (
        <KillFields agent={kill.agent} path={path} reason={reason} onReason={setReason} />
      ) : (
        <LockFields target={target} draft={draft} onDraft={setDraft} />
      )}
      {wanted !== null && <WordField word={wanted} value={word} onValue={setWord} />}
    </DialogForm>
  )
}

/** Of everything, or of an organization. */
const isWide = (target: LockTarget | null): boolean =>
  target?.everything === true || target?.organization_id !== undefined

const WordField = ({
  word,
  ...field
}: {
  word: string
  value: string
  onValue: (text: string) => void
}) => <TextField label={`Type “${word}” to confirm`} required {...field} />

const agentPath = ({ agent_id }: Agent): string => `/admin/agents/${encodeURIComponent(agent_id)}`

const KillFields = ({
  agent: { agent_id },
  path,
  reason,
  onReason,
}: {
  agent: Agent
  path: string
  reason: string
  onReason: (reason: string) => void
}) => (
  <>
    <p>
      Its calls in flight end now, on every edge, new ones are refused, and its keys are revoked,
      until an admin reactivates it. Its id is <code>{agent_id}</code>.
    </p>
    <KillPreviewLine path={path} />
    <TextField
      label="Reason"
      hint="Shown to operators, in the log and in webhooks. The agent never sees it."
      value={reason}
      onValue={onReason}
      required
      autoFocus
      maxLength={2000}
    />
  </>
)

/** A button that opens the dialog for what has no other. */
export function LockButton({ about, target }: { about: string; target: LockTarget }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <button type="button" class="danger quiet" onClick={() => setOpen(true)}>
        Lock …
      </button>
      {isOpen && (
        <StopDialog about={about} target={target} first="deny" onClose={() => setOpen(false)} />
      )}
    </>
  )
}
