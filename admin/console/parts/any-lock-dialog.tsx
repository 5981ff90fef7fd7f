import { useContext, useState } from 'preact/hooks'
import type { LockTarget } from '../lock-words.ts'
import { NAMED_KINDS, type NamedKind } from '../named-kinds.ts'
import { SessionContext } from '../session.ts'
import { ChoiceField, TextField } from './fields.tsx'
import { SelectorField } from './label-fields.tsx'
import { ResolvedPicker } from './resolved-picker.tsx'
import { StopDialog } from './stop-dialog.tsx'

const KINDS = {
  agents: 'An agent',
  agent_selector: 'Agents with labels',
  integrations: 'An integration',
  scopes: 'A scope',
  key_id: 'A key',
  organization_id: 'This organization',
  everything: 'Everything, in all organizations',
} as const
type Kind = keyof typeof KINDS

/** A lock of anything that a lock can name. */
export function AnyLockDialog({ onClose }: { onClose: () => void }) {
  const own = useContext(SessionContext)?.organization_id
  const [kind, setKind] = useState<Kind>('agents')
  const [target, setTarget] = useState<LockTarget | null>(null)
  const choose = (chosen: Kind): void => {
    setKind(chosen)
    setTarget(
      chosen === 'everything'
        ? { everything: true }
        : chosen === 'organization_id' && own !== undefined
          ? { organization_id: own }
          : null,
    )
  }
  return (
    <StopDialog
      about={target === null ? 'what?' : KINDS[kind].toLowerCase()}
      target={target}
      first="deny"
      onClose={onClose}
    >
      <ChoiceField label="What" value={kind} onValue={choose} choices={KINDS} />
      {kind in NAMED_KINDS && (
        <ResolvedPicker
          key={kind}
          kind={kind as NamedKind}
          onId={(id) => setTarget(id === null ? null : { [NAMED_KINDS[kind as NamedKind].id]: id })}
        />
      )}
      {kind === 'agent_selector' && (
        <SelectorField
          label="Labels"
          member="/target/agent_selector"
          selector={null}
          onSelector={(selector) => setTarget(selector && { agent_selector: selector })}
        />
      )}
      {kind === 'key_id' && (
        <TextField
          label="Key id"
          hint="It begins with key_. Keys can also be locked where they are listed."
          member="/target/key_id"
          value={target?.key_id ?? ''}
          onValue={(key_id) => setTarget(key_id === '' ? null : { key_id: key_id.trim() })}
          required
        />
      )}
    </StopDialog>
  )
}
