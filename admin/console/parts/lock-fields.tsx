import { useEffect, useState } from 'preact/hooks'
import { ask } from '../api.ts'
import type { LockPreview } from '../api-types.ts'
import { countOf } from '../count-of.ts'
import { LOCK_ENDS, type LockDraft } from '../lock-draft.ts'
import type { LockTarget } from '../lock-words.ts'
import { RadioField, TextField } from './fields.tsx'

const EVERY_MS = 2000

/** What a lock says and until when, with a preview of what it concerns. */
export function LockFields({
  target,
  draft,
  onDraft,
}: {
  target: LockTarget | null
  draft: LockDraft
  onDraft: (draft: LockDraft) => void
}) {
  return (
    <>
      {target !== null && <LockPreviewLine target={target} />}
      <TextField
        label="Message"
        hint="Callers are shown it. Optional."
        value={draft.message}
        onValue={(message) => onDraft({ ...draft, message })}
        autoFocus
        maxLength={500}
      />
      <RadioField
        label="Ends"
        value={draft.end}
        onValue={(end) => onDraft({ ...draft, end })}
        choices={LOCK_ENDS}
      />
      {draft.end === 'until' && (
        <TextField
          label="Until"
          hint="Your local time."
          type="datetime-local"
          value={draft.until}
          onValue={(until) => onDraft({ ...draft, until })}
          required
        />
      )}
    </>
  )
}

/** What a lock would concern, before it is made. It never delays the lock. */
function LockPreviewLine({ target }: { target: LockTarget }) {
  const text = JSON.stringify(target)
  const [shown, setShown] = useState<{ of: string; preview: LockPreview } | null>(null)
  useEffect(() => {
    let isWanted = true
    const look = async (): Promise<void> => {
      const answer = await ask<LockPreview>('POST', '/admin/locks?preview=true', {
        body: { target },
        isBackground: true,
      })
      if (isWanted && answer.ok) setShown({ of: text, preview: answer.value })
    }
    void look()
    const timer = setInterval(() => void look(), EVERY_MS)
    return () => {
      isWanted = false
      clearInterval(timer)
    }
  }, [text])
  if (shown?.of !== text) return null
  const { agents, in_flight, tunnels, edges } = shown.preview
  return (
    <p class="notice warn" aria-label="What the lock concerns">
      <strong>{countOf(agents, 'agent')}</strong> ·{' '}
      <strong>{in_flight ?? 'an unknown number of'}</strong> {in_flight === 1 ? 'call' : 'calls'} in
      flight on {countOf(edges, 'edge')}
      {tunnels !== null && tunnels > 0 && ` and ${countOf(tunnels, 'open tunnel')}`}
    </p>
  )
}
