import { useEffect, useState } from 'preact/hooks'
import { type ApiAnswer, ask } from '../api.ts'
import type { Connection, ConnectRequest } from '../api-types.ts'
import { isOauth, subjectWords } from '../connection-words.ts'
import { type Auth, givenAuth, useCredentialTypes } from '../parts/auth-fields.tsx'
import { AgentLink, Facts } from '../parts/bits.tsx'
import { ConnectDialog, openProvider } from '../parts/connect-dialog.tsx'
import { DiscoveredAuth } from '../parts/discovered-auth.tsx'
import { Loaded, ProblemNotice } from '../parts/notices.tsx'
import { RoleNote } from '../parts/role-note.tsx'
import { Time } from '../parts/time.tsx'
import { FormIssues, issuesOf } from '../issues-of.ts'
import type { Problem } from '../api.ts'
import { linkTo } from '../place.ts'
import { useMay } from '../session.ts'
import { useAction } from '../use-action.ts'

/** Where the `connect_url` of a refused call leads: who asks for what, before anything is given or asked of a provider. */
export function ConnectPage({ token }: { token: string }) {
  const [value, setValue] = useState<ConnectRequest | null>(null)
  const [problem, setProblem] = useState<Problem | null>(null)
  const mayConnect = useMay('operator')
  const look = async (): Promise<void> => {
    const answer = await ask<ConnectRequest>('POST', '/admin/connect', { body: { token } })
    if (answer.ok) setValue(answer.value)
    else setProblem(answer.problem)
  }
  useEffect(() => {
    if (mayConnect) void look()
  }, [token])
  return (
    <>
      <h1>Connect</h1>
      <RoleNote role="operator" to="connect agents to APIs" />
      {mayConnect && (
        <Loaded from={{ value, problem, reload: () => void look() }}>
          {(asked) => <Asked of={asked} token={token} />}
        </Loaded>
      )}
    </>
  )
}

type Made = Connection & { readonly authorize_url?: string }

function Asked({ of, token }: { of: ConnectRequest; token: string }) {
  const [done, setDone] = useState<Connection | null>(null)
  const [isOpen, setOpen] = useState(false)
  const { agent_id, agent_name, integration_id, integration_name: name, base_url } = of
  const { connection, subject } = of
  const whose = subjectWords(subject, () => agent_name)
  if (done !== null)
    return (
      <p class="notice good" role="status">
        The connection <strong>{done.name}</strong> is active. {agent_name} can make its call again.{' '}
        <a href={linkTo(['integrations', integration_id])}>View connections</a>
      </p>
    )
  return (
    <>
      <p>
        A call of <AgentLink id={agent_id} name={agent_name} /> was refused, since it had no usable
        credential. Whoever gave you this link may be the agent itself: check what it asks for.
      </p>
      <Facts
        facts={[
          [
            'API',
            <a key="a" href={linkTo(['integrations', integration_id])}>
              {name}
            </a>,
          ],
          ['base URL', <code key="u">{base_url}</code>],
          ['for', whose],
          [
            'connection',
            connection === null ? 'a new one' : `${connection.name} (${connection.status})`,
          ],
          ['link ends', <Time key="e" at={of.expires_at} isFull />],
        ]}
      />
      {connection !== null && isOauth(connection) ? (
        <button type="button" class="main" onClick={() => setOpen(true)}>
          Connect
        </button>
      ) : (
        <GiveCredential token={token} onDone={setDone} />
      )}
      {isOpen && connection !== null && (
        <ConnectDialog
          connection={connection}
          path={`/admin/integrations/${integration_id}/connections/${connection.connection_id}`}
          integration={{ name, base_url }}
          onClose={() => setOpen(false)}
        />
      )}
    </>
  )
}

function GiveCredential({ token, onDone }: { token: string; onDone: (made: Connection) => void }) {
  const types = useCredentialTypes()
  const [auth, setAuth] = useState<Auth>({ type: 'bearer' })
  const give = useAction(
    (): Promise<ApiAnswer<Made>> =>
      ask<Made>('POST', '/admin/connect', { body: { token, auth: givenAuth(types, auth) } }),
    (made) => {
      // What is asked of the provider was typed in here.
      if (made.authorize_url !== undefined) openProvider(made.authorize_url)
      else onDone(made)
    },
  )
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        give.run()
      }}
    >
      <FormIssues.Provider value={issuesOf(give.problem)}>
        <DiscoveredAuth types={types} auth={auth} onAuth={setAuth} />
      </FormIssues.Provider>
      <ProblemNotice problem={give.problem} />
      <button type="submit" class="main" disabled={give.isBusy}>
        {give.isBusy ? 'Working …' : 'Give this credential'}
      </button>
    </form>
  )
}
