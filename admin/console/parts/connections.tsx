import { useState } from 'preact/hooks'
import { type ApiAnswer, ask } from '../api.ts'
import type { Agent, Connection, Integration } from '../api-types.ts'
import { isOauth, subjectWords } from '../connection-words.ts'
import { useMay } from '../session.ts'
import { useAction } from '../use-action.ts'
import { usePages } from '../use-load.ts'
import { useNames } from '../use-names.ts'
import { type Auth, givenAuth, useCredentialTypes } from './auth-fields.tsx'
import { Tag } from './bits.tsx'
import { ConfirmButton } from './confirm-button.tsx'
import { ConnectDialog } from './connect-dialog.tsx'
import { DialogForm } from './dialog.tsx'
import { ChoiceField, NameField, TextField } from './fields.tsx'
import { DiscoveredAuth } from './discovered-auth.tsx'
import { ResolvedPicker } from './resolved-picker.tsx'
import { type Column, PagedTable } from './table.tsx'
import { Time } from './time.tsx'

type Api = Pick<Integration, 'name' | 'base_url'>

/** In words what a state means for calls. */
const STATES: Readonly<Record<Connection['status'], string>> = {
  active: '',
  expired: 'Its tokens have ended and cannot be renewed.',
  revoked: 'Its calls are refused until it is connected again.',
  needs_consent: 'Its calls are refused until somebody consents at the provider.',
}

/** The connections of an integration: how they are, and what can be done about it. */
export function Connections({ path, integration }: { path: string; integration: Api }) {
  const connections = usePages<Connection>(path)
  const agentName = useNames('agents')
  const mayChange = useMay('admin')
  const mayConnect = useMay('operator')
  const [isCreating, setCreating] = useState(false)
  const [connected, setConnected] = useState<Connection | null>(null)
  const actions: Column<Connection> = {
    head: 'Actions',
    cell: (one) => (
      <div class="buttons">
        {isOauth(one) && (
          <button type="button" onClick={() => setConnected(one)}>
            {one.status === 'active' ? 'Reconnect' : 'Connect'}
          </button>
        )}
        <EndButtons of={one} path={`${path}/${one.connection_id}`} onDone={connections.reload} />
      </div>
    ),
  }
  return (
    <>
      {mayChange && (
        <p>
          <button type="button" onClick={() => setCreating(true)}>
            Create connection
          </button>
        </p>
      )}
      <PagedTable
        pages={connections}
        caption="Connections"
        keyOf={({ connection_id }) => connection_id}
        empty="None. All calls get the credential of the integration."
        columns={mayConnect ? [...columnsOf(agentName), actions] : columnsOf(agentName)}
      />
      {isCreating && (
        <CreateConnection
          path={path}
          onClose={() => setCreating(false)}
          onDone={(made) => {
            setCreating(false)
            connections.reload()
            if (made.status === 'needs_consent') setConnected(made)
          }}
        />
      )}
      {connected !== null && (
        <ConnectDialog
          connection={connected}
          path={`${path}/${connected.connection_id}`}
          integration={integration}
          onClose={() => setConnected(null)}
        />
      )}
    </>
  )
}

const columnsOf = (agentName: (id: string) => string): readonly Column<Connection>[] => [
  {
    head: 'Name',
    cell: ({ name, connection_id }) => <span title={connection_id}>{name}</span>,
  },
  { head: 'For', cell: ({ subject }) => subjectWords(subject, agentName) },
  {
    head: 'Status',
    cell: ({ status }) => (
      <>
        <Tag text={status.replace('_', ' ')} /> {STATES[status]}
      </>
    ),
  },
  { head: 'Last used', cell: ({ last_used_at }) => <Time at={last_used_at} /> },
  { head: 'Last refreshed', cell: ({ refreshed_at }) => <Time at={refreshed_at} /> },
  { head: 'Last error', cell: ({ last_error }) => last_error ?? '' },
]

function EndButtons({ of, path, onDone }: { of: Connection; path: string; onDone: () => void }) {
  const mayChange = useMay('admin')
  const revoke = (): Promise<ApiAnswer<unknown>> =>
    isOauth(of)
      ? ask('POST', `${path}/revoke`, { body: {} })
      : ask('PATCH', path, { body: { status: 'revoked' } })
  return (
    <>
      {of.status !== 'revoked' && (isOauth(of) || mayChange) && (
        <ConfirmButton
          label="Revoke"
          title={`Revoke the connection “${of.name}”?`}
          work={revoke}
          onDone={onDone}
        >
          <p>
            Calls that would get it are refused at once.
            {isOauth(of) && ' Its tokens are also revoked at the provider, if it can do that.'}
          </p>
        </ConfirmButton>
      )}
      {mayChange && of.status === 'revoked' && !isOauth(of) && (
        <ConfirmButton
          label="Reconnect"
          title={`Use the connection “${of.name}” again?`}
          isDanger={false}
          work={() => ask('PATCH', path, { body: { status: 'active' } })}
          onDone={onDone}
        >
          <p>Its stored credential is used again.</p>
        </ConfirmButton>
      )}
      {mayChange && (
        <ConfirmButton
          label="Delete"
          title={`Delete the connection “${of.name}”?`}
          work={() => ask('DELETE', path)}
          onDone={onDone}
        >
          <p>Its credential is deleted. A connection that a scope names cannot be deleted.</p>
        </ConfirmButton>
      )}
    </>
  )
}

const SUBJECTS = { shared: 'Scopes that name it', agent: 'One agent', user: 'One user' } as const

function CreateConnection({
  path,
  onClose,
  onDone,
}: {
  path: string
  onClose: () => void
  onDone: (made: Connection) => void
}) {
  const types = useCredentialTypes()
  const [name, setName] = useState('')
  const [kind, setKind] = useState<keyof typeof SUBJECTS>('shared')
  const [agent_id, setAgent] = useState<Agent['agent_id'] | null>(null)
  const [user, setUser] = useState('')
  const [auth, setAuth] = useState<Auth>({ type: 'bearer' })
  const subject = { shared: 'shared', agent: `agent:${agent_id}`, user: `user:${user}` }[kind]
  const create = useAction(
    () => ask<Connection>('POST', path, { body: { name, subject, auth: givenAuth(types, auth) } }),
    onDone,
  )
  return (
    <DialogForm
      title="Create a connection"
      submit="Create"
      {...create}
      isReady={kind !== 'agent' || agent_id !== null}
      onSubmit={create.run}
      onClose={onClose}
    >
      <NameField member="/name" value={name} onValue={setName} />
      <ChoiceField label="For" value={kind} onValue={setKind} choices={SUBJECTS} />
      {kind === 'agent' && <ResolvedPicker kind="agents" onId={setAgent} />}
      {kind === 'user' && (
        <TextField
          label="User"
          member="/subject"
          hint="As callers name it in X-Agw-User, in scopes that list it."
          value={user}
          onValue={setUser}
          required
        />
      )}
      <DiscoveredAuth types={types} auth={auth} onAuth={setAuth} />
    </DialogForm>
  )
}
