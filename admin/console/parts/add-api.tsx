import { useState } from 'preact/hooks'
import { type ApiAnswer, ask, withQuery } from '../api.ts'
import type { CredentialType, Integration, Page, Scope } from '../api-types.ts'
import type { FixableEntry } from '../fixes-of.ts'
import { originOfEntry } from '../origin-of-entry.ts'
import { liveEdges } from '../live-edges.ts'
import { type RuleOption, ruleOptions } from '../rule-options.ts'
import { useAction } from '../use-action.ts'
import { useLoad } from '../use-load.ts'
import { type Auth, AuthFields, givenAuth } from './auth-fields.tsx'
import { DialogForm } from './dialog.tsx'
import { CheckField, NameField, TextField } from './fields.tsx'
import { InForce } from './in-force.tsx'
import { Loaded, ProblemNotice } from './notices.tsx'
import { RefusedBefore } from './refused-before.tsx'

type Types = Pick<Page<CredentialType>, 'data'>

/** Adds the API that a call was for, and, if wanted, a scope that lets the agent make exactly this call. */
export function AddApi({ entry, onClose }: { entry: FixableEntry; onClose: () => void }) {
  const types = useLoad<Types>('/admin/credential-types')
  const origin = originOfEntry(entry)
  const { method, agent_id } = entry
  const [name, setName] = useState(origin?.hostname ?? '')
  const [base_url, setBaseUrl] = useState(origin?.origin ?? '')
  const [auth, setAuth] = useState<Auth>({ type: 'none' })
  const path = pathBelow(base_url, entry)
  const rule = path === null || method === null ? null : (ruleOptions(method, path)[0] ?? null)
  const [isAllowed, setAllowed] = useState(agent_id !== null)
  const [edges, setEdges] = useState<number | null>(null)
  const add = useAdd(entry, isAllowed ? rule : null, setEdges)
  if (edges !== null) return <InForce edges={edges} onClose={onClose} />
  return (
    <DialogForm
      title="Add this API"
      submit="Add the API"
      {...add}
      isReady={types.value !== null}
      onSubmit={() => {
        const given = givenAuth(types.value?.data ?? [], auth)
        add.run({ name, base_url, auth: given })
      }}
      onClose={onClose}
    >
      <p>
        The host, as it is sent: <code>{origin?.host}</code>
      </p>
      <ToHost entry={entry} />
      <NameField member="/name" value={name} onValue={setName} />
      <TextField
        label="Base URL"
        member="/base_url"
        value={base_url}
        onValue={setBaseUrl}
        required
        maxLength={2048}
      />
      <Loaded from={types}>
        {({ data }) => <AuthFields types={data} auth={auth} onAuth={setAuth} />}
      </Loaded>
      {agent_id !== null && rule !== null && (
        <CheckField
          label={`Let ${entry.agent_name ?? agent_id} call ${rule.words}`}
          value={isAllowed}
          onValue={setAllowed}
        />
      )}
    </DialogForm>
  )
}

interface NewApi {
  readonly name: string
  readonly base_url: string
  readonly auth: object
}

/** Makes the integration and then the scope; repeated after a failure, it makes only what is missing. */
function useAdd(
  { agent_id, agent_name }: FixableEntry,
  option: RuleOption | null,
  onDone: (edges: number) => void,
) {
  const [made, setMade] = useState<Integration | null>(null)
  return useAction(async (body: NewApi): Promise<ApiAnswer<number>> => {
    let integration = made
    if (integration === null) {
      const saved = await ask<Integration>('POST', '/admin/integrations', { body })
      if (!saved.ok) return saved
      integration = saved.value
      setMade(integration)
    }
    if (agent_id !== null && option !== null) {
      const { integration_id } = integration
      const name = `${agent_name ?? agent_id} on ${body.name}`.slice(0, 200)
      const scope = { agent_id, integration_id, name, rules: [option.rule] }
      const scoped = await ask('POST', '/admin/scopes', { body: scope })
      if (!scoped.ok) return scoped
    }
    return await liveEdges()
  }, onDone)
}

/** Null if the call is not below the base URL. */
function pathBelow(base_url: string, { endpoint }: FixableEntry): string | null {
  if (endpoint === null || !URL.canParse(base_url)) return null
  const base = new URL(base_url).pathname.replace(/\/$/, '')
  return endpoint.startsWith(`${base}/`) ? endpoint.slice(base.length) : null
}

/** The rule of both fixes is for one method and path. */
const ToHost = ({ entry }: { entry: FixableEntry }) => (
  <RefusedBefore
    entry={entry}
    what="this method, host and path, which would pass"
    isLike={(one) =>
      one.method === entry.method &&
      one.endpoint === entry.endpoint &&
      originOfEntry(one)?.origin === originOfEntry(entry)?.origin
    }
  />
)

/** Lists a host with an API that the agent may already call: for one method and path, without the credential. */
export function AllowHost({ entry, onClose }: { entry: FixableEntry; onClose: () => void }) {
  const agent = encodeURIComponent(entry.agent_id ?? '')
  const scopes = useLoad<Page<Scope>>(
    withQuery(`/admin/agents/${agent}/scopes`, { effective: 'true', limit: '200' }),
  )
  const integrations = useLoad<Page<Integration>>(
    withQuery('/admin/integrations', { limit: '200' }),
  )
  const known = new Set(scopes.value?.data.map(({ integration_id }) => integration_id))
  const host = originOfEntry(entry)?.host ?? ''
  const [chosen, setChosen] = useState<string | null>(null)
  const [edges, setEdges] = useState<number | null>(null)
  const candidates = (integrations.value?.data ?? []).filter(({ integration_id }) =>
    known.has(integration_id),
  )
  const current = chosen ?? candidates[0]?.integration_id ?? null
  const rule = ruleOptions(entry.method ?? '', entry.endpoint ?? '')[0]?.rule
  const save = useAction(async (): Promise<ApiAnswer<number>> => {
    const path = `/admin/integrations/${current}`
    const read = await ask<Integration>('GET', path)
    if (!read.ok) return read
    const saved = await ask('PATCH', path, {
      body: { also_hosts: withHost(read.value.also_hosts, host, rule) },
      headers: read.etag === null ? {} : { 'if-match': read.etag },
    })
    return saved.ok ? await liveEdges() : saved
  }, setEdges)
  if (edges !== null) return <InForce edges={edges} onClose={onClose} />
  return (
    <DialogForm
      title="Allow this host"
      submit="Allow the host"
      {...save}
      isReady={current !== null && rule !== undefined}
      onSubmit={save.run}
      onClose={onClose}
    >
      <p>
        <code>{host}</code> may then be called with {entry.method} {entry.endpoint}, without a
        credential, by every agent that has a scope for the API to which the host belongs.
      </p>
      <ToHost entry={entry} />
      <ProblemNotice problem={scopes.problem ?? integrations.problem} />
      {scopes.value !== null && integrations.value !== null && candidates.length === 0 && (
        <p role="status">The agent may call no API yet. Add this API instead.</p>
      )}
      <fieldset>
        <legend>It belongs to</legend>
        {candidates.map(({ integration_id, name, base_url }) => (
          <label key={integration_id} class="choice">
            <input
              type="radio"
              name="api"
              checked={integration_id === current}
              onChange={() => setChosen(integration_id)}
            />{' '}
            {name} <code>{base_url}</code>
          </label>
        ))}
      </fieldset>
    </DialogForm>
  )
}

/** A host is listed once: what is listed already keeps its methods and paths, and gets those of the call. */
function withHost(
  listed: Integration['also_hosts'],
  host: string,
  rule: { readonly methods: readonly string[]; readonly paths: readonly string[] } | undefined,
): readonly object[] {
  const { methods = [], paths = [] } = rule ?? {}
  const before = listed.find((entry) => entry.host === host)
  const joined = {
    host,
    credential: before?.credential ?? false,
    methods: [...new Set([...(before?.methods ?? []), ...methods])],
    paths: [...new Set([...(before?.paths ?? []), ...paths])],
  }
  return [...listed.filter((entry) => entry !== before), joined]
}
