import { useState } from 'preact/hooks'
import { type ApiAnswer, ask } from '../api.ts'
import type { Connection, CredentialType, Page } from '../api-types.ts'
import type { FixableEntry } from '../fixes-of.ts'
import { liveEdges } from '../live-edges.ts'
import { useAction } from '../use-action.ts'
import type { Judged } from '../use-judged.ts'
import { useLoad } from '../use-load.ts'
import { type Auth, AuthFields, givenAuth } from './auth-fields.tsx'
import { DialogForm } from './dialog.tsx'
import { InForce } from './in-force.tsx'
import { Loaded, ProblemNotice } from './notices.tsx'
import { RefusedBefore } from './refused-before.tsx'

interface Done {
  readonly edges: number
  /** Where a person has to consent. */
  readonly authorize_url: string | null
}

/** Gives a call the connection that it lacks: the revoked one again, another credential, or a connection of the agent. */
export function Connect({ of, onClose }: { of: Judged; onClose: () => void }) {
  const { entry, integration } = of
  const all = `/admin/integrations/${encodeURIComponent(integration?.integration_id ?? '')}/connections`
  const id = entry.data['connection_id']
  const path = typeof id === 'string' ? `${all}/${encodeURIComponent(id)}` : null
  const stored = useLoad<Connection>(path)
  const types = useLoad<Pick<Page<CredentialType>, 'data'>>('/admin/credential-types')
  const [isOther, setOther] = useState(false)
  const [auth, setAuth] = useState<Auth>({ type: 'bearer' })
  const [done, setDone] = useState<Done | null>(null)
  const isRevoked = stored.value?.status === 'revoked'
  const isActive = stored.value?.status === 'active'
  const givesCredential = isOther || !isRevoked
  const save = useAction(() => {
    const given = { auth: givenAuth(types.value?.data ?? [], auth) }
    return stored.value === null || path === null
      ? saveConnection('POST', all, { ...given, ...ownerOf(entry) })
      : saveConnection('PATCH', path, { status: 'active', ...(givesCredential ? given : {}) })
  }, setDone)
  if (done !== null)
    return (
      <InForce edges={done.edges} onClose={onClose}>
        {done.authorize_url !== null && (
          <a href={done.authorize_url} target="_blank" rel="noopener noreferrer">
            Open the consent page of the API
          </a>
        )}
      </InForce>
    )
  const isReady = types.value !== null && !isActive && (path === null || !isLoading(stored))
  return (
    <DialogForm
      title={`Connect ${integration?.name ?? 'the API'}`}
      submit="Connect"
      {...save}
      isReady={isReady}
      onSubmit={save.run}
      onClose={onClose}
    >
      <p>{sentenceOf(stored.value, entry.agent_name)}</p>
      <RefusedBefore entry={entry} />
      {stored.problem?.status !== 404 && <ProblemNotice problem={stored.problem} />}
      {isRevoked && <Which isOther={isOther} onOther={setOther} />}
      {givesCredential && !isActive && (
        <Loaded from={types}>
          {({ data }) => <AuthFields types={data} auth={auth} onAuth={setAuth} />}
        </Loaded>
      )}
    </DialogForm>
  )
}

const ownerOf = ({ agent_id, agent_name }: FixableEntry) => ({
  name: (agent_name ?? agent_id ?? 'connection').slice(0, 200),
  subject: agent_id === null ? 'shared' : `agent:${agent_id}`,
})

async function saveConnection(
  method: string,
  path: string,
  body: object,
): Promise<ApiAnswer<Done>> {
  const saved = await ask<Connection>(method, path, { body })
  if (!saved.ok) return saved
  const edges = await liveEdges()
  if (!edges.ok) return edges
  const { authorize_url = null } = saved.value
  return { ok: true, value: { edges: edges.value, authorize_url }, etag: null }
}

const Which = ({ isOther, onOther }: { isOther: boolean; onOther: (isOther: boolean) => void }) => (
  <fieldset>
    <legend>Credential</legend>
    {[false, true].map((other) => (
      <label key={String(other)} class="choice">
        <input
          type="radio"
          name="credential"
          checked={isOther === other}
          onChange={() => onOther(other)}
        />{' '}
        {other ? 'Another one' : 'The stored one, as before it was revoked'}
      </label>
    ))}
  </fieldset>
)

const isLoading = ({ value, problem }: { value: unknown; problem: unknown }): boolean =>
  value === null && problem === null

function sentenceOf(stored: Connection | null, agent_name: string | null): string {
  if (stored === null)
    return `A new connection for the calls of ${agent_name ?? 'the agent'} to this API.`
  if (stored.status === 'active') return `The connection ${stored.name} is active now.`
  return `The connection ${stored.name} (${stored.subject}) is ${stored.status.replaceAll('_', ' ')}.`
}
