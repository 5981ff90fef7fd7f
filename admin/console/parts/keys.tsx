import { useState } from 'preact/hooks'
import { ask } from '../api.ts'
import type { Key } from '../api-types.ts'
import { useMay } from '../session.ts'
import { useAction } from '../use-action.ts'
import { usePages } from '../use-load.ts'
import { useNames } from '../use-names.ts'
import { AgentsField } from './agents-field.tsx'
import { AgentLink, SecretOnce, Tag } from './bits.tsx'
import { ConfirmButton } from './confirm-button.tsx'
import { DialogForm } from './dialog.tsx'
import { CheckField, ExpiryField, TextField, utcOf } from './fields.tsx'
import { LockButton } from './stop-dialog.tsx'
import { type Column, PagedTable } from './table.tsx'
import { Time } from './time.tsx'

type Made = Key & { readonly key: string }

/** The keys of an agent, or, with `ofOrganization`, of the organization. */
export function Keys({
  path,
  mayHaveMore,
  ofOrganization = false,
}: {
  path: string
  mayHaveMore: boolean
  ofOrganization?: boolean
}) {
  const keys = usePages<Key>(path)
  const mayChange = useMay('admin')
  const mayLock = useMay('operator')
  const nameOf = useNames(ofOrganization ? 'agents' : null)
  const [isMaking, setMaking] = useState(false)
  const [made, setMade] = useState<Made | null>(null)
  return (
    <>
      {mayChange && mayHaveMore && (
        <p>
          <button type="button" onClick={() => setMaking(true)}>
            Create key
          </button>
        </p>
      )}
      {made !== null && <SecretOnce label={`Key “${made.name}”.`} secret={made.key} />}
      <PagedTable
        pages={keys}
        caption="Keys"
        keyOf={({ key_id }) => key_id}
        empty="No keys."
        columns={columnsOf({
          path,
          mayChange,
          mayLock,
          ofOrganization,
          nameOf,
          onChanged: keys.reload,
        })}
      />
      {isMaking && (
        <MakeKey
          path={path}
          ofOrganization={ofOrganization}
          nameOf={nameOf}
          onClose={() => setMaking(false)}
          onDone={(key) => {
            setMaking(false)
            setMade(key)
            keys.reload()
          }}
        />
      )}
    </>
  )
}

function columnsOf({
  path,
  mayChange,
  mayLock,
  ofOrganization,
  nameOf,
  onChanged,
}: {
  path: string
  mayChange: boolean
  mayLock: boolean
  ofOrganization: boolean
  nameOf: (agent_id: string) => string
  onChanged: () => void
}): Column<Key>[] {
  const opens: Column<Key> = {
    head: 'Use',
    cell: ({ uses, agent_ids }) => (
      <>
        {uses.join(', ')}
        {agent_ids !== null && ' by '}
        {agent_ids?.map((id, at) => (
          <span key={id}>
            {at > 0 && ', '}
            <AgentLink id={id} name={nameOf(id)} />
          </span>
        ))}
      </>
    ),
  }
  const actions: Column<Key> = {
    head: 'Actions',
    cell: ({ key_id, name, last4, revoked_at }) =>
      revoked_at === null && (
        <div class="buttons">
          <LockButton about={`the key “${name || last4}”`} target={{ key_id }} />
          {mayChange && (
            <ConfirmButton
              label="Revoke"
              title={`Revoke the key “${name}”?`}
              work={() => ask('DELETE', `${path}/${key_id}`)}
              onDone={onChanged}
            >
              <p>It stops working immediately. This cannot be undone.</p>
            </ConfirmButton>
          )}
        </div>
      ),
  }
  return [
    { head: 'Name', cell: ({ name }) => name },
    { head: 'Key', cell: ({ last4 }) => <code>…{last4}</code> },
    { head: 'State', cell: (key) => <KeyState of={key} /> },
    ...(ofOrganization ? [opens] : []),
    { head: 'Last used', cell: ({ last_used_at }) => <Time at={last_used_at} /> },
    { head: 'Expires', cell: ({ expires_at }) => <Time at={expires_at} /> },
    ...(mayLock ? [actions] : []),
  ]
}

function KeyState({ of: { revoked_at, revoked_by, expires_at } }: { of: Key }) {
  if (revoked_at !== null)
    return (
      <>
        <Tag text="revoked" /> {revoked_by === 'kill' && 'by the kill '}
        <Time at={revoked_at} />
      </>
    )
  return (
    <Tag text={expires_at !== null && Date.parse(expires_at) < Date.now() ? 'expired' : 'active'} />
  )
}

function MakeKey({
  path,
  ofOrganization,
  nameOf,
  onClose,
  onDone,
}: {
  path: string
  ofOrganization: boolean
  nameOf: (agent_id: string) => string
  onClose: () => void
  onDone: (made: Made) => void
}) {
  const [name, setName] = useState('')
  const [expiry, setExpiry] = useState('')
  const [forProxy, setForProxy] = useState(true)
  const [forWebhooks, setForWebhooks] = useState(false)
  const [agent_ids, setAgents] = useState<readonly string[]>([])
  const uses = [...(forProxy ? ['proxy'] : []), ...(forWebhooks ? ['webhooks'] : [])]
  const make = useAction(
    () =>
      ask<Made>('POST', path, {
        body: {
          ...(name === '' ? {} : { name }),
          ...(expiry === '' ? {} : { expires_at: utcOf(expiry) }),
          ...(ofOrganization ? { uses } : {}),
          ...(agent_ids.length > 0 ? { agent_ids } : {}),
        },
      }),
    onDone,
  )
  return (
    <DialogForm title="Create key" submit="Create" {...make} onSubmit={make.run} onClose={onClose}>
      <TextField label="Name" value={name} onValue={setName} autoFocus maxLength={200} />
      <ExpiryField value={expiry} onValue={setExpiry} />
      {ofOrganization && (
        <fieldset>
          <legend>Valid for</legend>
          <CheckField
            label="Proxy"
            hint="It remains valid when an agent that uses it is killed."
            value={forProxy}
            onValue={setForProxy}
          />
          <CheckField label="Webhooks API" value={forWebhooks} onValue={setForWebhooks} />
          <AgentsField legend="Limit to agents" ids={agent_ids} onIds={setAgents} nameOf={nameOf} />
        </fieldset>
      )}
    </DialogForm>
  )
}
