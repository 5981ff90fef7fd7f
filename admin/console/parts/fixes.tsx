import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import {
  FIX_LINKS,
  type FixKind,
  type FixLinkKind,
  fixesOf,
  isLink,
  isScopeFix,
  OTHER_FIXES,
  type OtherFixKind,
  SCOPE_FIXES,
  type ScopeFixKind,
} from '../fixes-of.ts'
import { originOfEntry } from '../origin-of-entry.ts'
import { linkTo } from '../place.ts'
import { isToolName, ruleFixes } from '../scope-options.ts'
import { useMay } from '../session.ts'
import { type Judged, judgedCall } from '../use-judged.ts'
import { AddApi, AllowHost } from './add-api.tsx'
import { CallFix } from './call-fix.tsx'
import { Connect } from './connect.tsx'
import { NewKey } from './new-key.tsx'
import { ReactivateDialog } from './reactivate.tsx'
import { RefusedBefore } from './refused-before.tsx'
import { RoleNote } from './role-note.tsx'
import { Unlock } from './unlock.tsx'

/** What can be done about an entry: a button for each fix, and its dialog. */
export function Fixes({ of, children }: { of: Judged; children?: ComponentChildren }) {
  const [open, setOpen] = useState<ScopeFixKind | OtherFixKind | null>(null)
  const close = (): void => setOpen(null)
  const kinds = fixesOf(of.entry).filter((kind) => isPossible(kind, of))
  const classAt = (at: number): string => (at === 0 ? 'main' : '')
  return (
    <>
      <p class="buttons fixes">
        {kinds.map((kind, at) =>
          isLink(kind) ? (
            <a key={kind} class={`button ${classAt(at)}`} href={linkOf(kind, of)}>
              {FIX_LINKS[kind]}
            </a>
          ) : (
            <FixButton key={kind} kind={kind} tone={classAt(at)} onOpen={() => setOpen(kind)} />
          ),
        )}
        {children}
      </p>
      {open !== null &&
        (isScopeFix(open) ? (
          <CallFix kind={open} of={of} onClose={close} />
        ) : (
          <OtherFix kind={open} of={of} onClose={close} />
        ))}
    </>
  )
}

function FixButton({
  kind,
  tone,
  onOpen,
}: {
  kind: ScopeFixKind | OtherFixKind
  tone: string
  onOpen: () => void
}) {
  const { label, role, to } = { ...SCOPE_FIXES, ...OTHER_FIXES }[kind]
  return useMay(role) ? (
    <button type="button" class={tone} onClick={onOpen}>
      {label}
    </button>
  ) : (
    <RoleNote role={role} to={to} />
  )
}

/** Whether what the fix needs is there, and is loaded. */
function isPossible(kind: FixKind, of: Judged): boolean {
  const { entry, integration, scopes } = of
  if (isLink(kind)) return kind === 'request' || integration !== null
  if (isScopeFix(kind)) {
    const call = judgedCall(of)
    if (entry.agent_id === null || integration === null || scopes === null) return false
    if (call === null) return false
    if (kind === 'tool') return isToolName(entry.data['tool_name'])
    return kind !== 'rule' || ruleFixes(call.method, call.path).length > 0
  }
  switch (kind) {
    case 'api':
      return originOfEntry(entry) !== null
    case 'host':
      return originOfEntry(entry)?.protocol === 'https:' && entry.agent_id !== null
    case 'reactivate':
      return entry.agent_id !== null
    case 'unlock':
      return typeof entry.data['lock_id'] === 'string'
    case 'connect':
      return integration !== null
    case 'key':
      return true
  }
}

function linkOf(kind: FixLinkKind, { entry: { data, agent_id }, integration }: Judged): string {
  if (kind === 'integration') return linkTo(['integrations'], { q: integration?.integration_id })
  const request_id = data['request_id']
  return typeof request_id === 'string'
    ? linkTo(['requests', request_id])
    : linkTo(['requests'], { agent_id: agent_id ?? undefined })
}

function OtherFix({ kind, of, onClose }: { kind: OtherFixKind; of: Judged; onClose: () => void }) {
  const { entry } = of
  const { agent_id, agent_name } = entry
  const path = `/admin/agents/${encodeURIComponent(agent_id ?? '')}`
  switch (kind) {
    case 'api':
      return <AddApi entry={entry} onClose={onClose} />
    case 'host':
      return <AllowHost entry={entry} onClose={onClose} />
    case 'reactivate':
      return (
        <ReactivateDialog path={path} onClose={onClose} onDone={onClose}>
          <RefusedBefore entry={{ ...entry, reason: 'agent_killed', integration_id: null }} />
        </ReactivateDialog>
      )
    case 'unlock':
      return (
        <Unlock lock_id={String(entry.data['lock_id'])} onClose={onClose}>
          <RefusedBefore
            entry={{ ...entry, reason: 'locked', integration_id: null }}
            what="this lock"
            isLike={({ data }) => data['lock_id'] === entry.data['lock_id']}
          />
        </Unlock>
      )
    case 'connect':
      return <Connect of={of} onClose={onClose} />
    case 'key':
      return <NewKey agent_id={agent_id} agent_name={agent_name} onClose={onClose} />
  }
}
