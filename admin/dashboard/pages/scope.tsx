import { useState } from 'preact/hooks'
import { SCOPE_DEFAULTS } from '../../../core/model.ts'
import { ask } from '../api.ts'
import type { Scope, ScopeSettings } from '../api-types.ts'
import { AgentLink } from '../parts/bits.tsx'
import { ConfirmButton } from '../parts/confirm-button.tsx'
import { TextField } from '../parts/fields.tsx'
import { Loaded, ProblemNotice } from '../parts/notices.tsx'
import { Picker } from '../parts/picker.tsx'
import { RulesFields } from '../parts/rules-fields.tsx'
import { AnomalyFields, InjectionFields, RateFields, ToolFields } from '../parts/scope-fields.tsx'
import { goTo, linkTo } from '../place.ts'
import { resolvePair } from '../resolve-pair.ts'
import { useMay } from '../session.ts'
import { useAction } from '../use-action.ts'
import { useLoad } from '../use-load.ts'
import { useNames } from '../use-names.ts'

type Query = Readonly<Record<string, string>>

export function ScopePage({ scope_id, query }: { scope_id: string; query: Query }) {
  return (
    <>
      <p>
        <a href={linkTo(['scopes'])}>All scopes</a>
      </p>
      {scope_id === 'new' ? <NewScope query={query} /> : <StoredScope scope_id={scope_id} />}
    </>
  )
}

/** The defaults of the API for what is left out, so that a new scope is what it would be without this page. */
const NEW: ScopeSettings = {
  name: '',
  ...SCOPE_DEFAULTS,
  rules: [{ methods: ['GET'], paths: ['/**'] }],
}

function NewScope({ query }: { query: Query }) {
  const [agent_id, setAgent] = useState(query['agent_id'] ?? '')
  const [integration_id, setIntegration] = useState(query['integration_id'] ?? '')
  const [settings, setSettings] = useState(NEW)
  const create = useAction(
    async () => {
      const resolved = await resolvePair({ agent_id, integration_id })
      if (!resolved.ok) return resolved
      return await ask<Scope>('POST', '/admin/scopes', { body: { ...resolved.ids, ...settings } })
    },
    (scope) => goTo(['agents', scope.agent_id]),
  )
  return (
    <>
      <h1>Add a scope</h1>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          create.run()
        }}
      >
        <fieldset>
          <legend>Agent and integration</legend>
          <Picker kind="agents" value={agent_id} onValue={setAgent} required />
          <Picker kind="integrations" value={integration_id} onValue={setIntegration} required />
        </fieldset>
        <ScopeFields settings={settings} onSettings={setSettings} />
        <ProblemNotice problem={create.problem} />
        <button type="submit" class="main" disabled={create.isBusy}>
          {create.isBusy ? 'Saving …' : 'Save'}
        </button>
      </form>
    </>
  )
}

function StoredScope({ scope_id }: { scope_id: string }) {
  const path = `/admin/scopes/${encodeURIComponent(scope_id)}`
  const scope = useLoad<Scope>(path)
  const [isSaved, setSaved] = useState(false)
  const saved = (is: boolean): void => {
    setSaved(is)
    if (is) scope.reload()
  }
  return (
    <Loaded from={scope}>
      {(value) => (
        <>
          <EditScope key={scope.etag} scope={value} etag={scope.etag} path={path} onSaved={saved} />
          {isSaved && (
            <p class="notice good" role="status">
              Saved, and in force on every edge.
            </p>
          )}
        </>
      )}
    </Loaded>
  )
}

function EditScope({
  scope,
  etag,
  path,
  onSaved,
}: {
  scope: Scope
  etag: string | null
  path: string
  onSaved: (isSaved: boolean) => void
}) {
  const { scope_id: _, agent_id, integration_id, created_at: __, ...stored } = scope
  const [settings, setSettings] = useState<ScopeSettings>(stored)
  const agentName = useNames('agents')
  const integrationName = useNames('integrations')
  const mayChange = useMay('admin')
  // A concurrent change is not overwritten: If-Match makes the service refuse.
  const headers = etag === null ? {} : { 'if-match': etag }
  const save = useAction(
    () => ask('PUT', path, { body: settings, headers }),
    () => onSaved(true),
  )
  return (
    <>
      <div class="head">
        <h1>{scope.name}</h1>
        {mayChange && (
          <ConfirmButton
            label="Delete"
            title={`Delete ${scope.name}?`}
            work={() => ask('DELETE', path)}
            onDone={() => goTo(['agents', agent_id])}
          >
            <p>The agent loses the permissions that only this scope grants.</p>
          </ConfirmButton>
        )}
      </div>
      <p>
        Agent <AgentLink id={agent_id} name={agentName(agent_id)} /> may call integration{' '}
        <a href={linkTo(['integrations'], { q: integration_id })}>
          {integrationName(integration_id)}
        </a>
        .
      </p>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          onSaved(false)
          save.run()
        }}
      >
        <fieldset class="bare" disabled={!mayChange} aria-label="Settings of the scope">
          <ScopeFields settings={settings} onSettings={setSettings} />
        </fieldset>
        <ProblemNotice problem={save.problem} />
        {mayChange && (
          <button type="submit" class="main" disabled={save.isBusy}>
            {save.isBusy ? 'Saving …' : 'Save'}
          </button>
        )}
      </form>
    </>
  )
}

function ScopeFields({
  settings,
  onSettings,
}: {
  settings: ScopeSettings
  onSettings: (settings: ScopeSettings) => void
}) {
  const set =
    <N extends keyof ScopeSettings>(name: N) =>
    (value: ScopeSettings[N]): void =>
      onSettings({ ...settings, [name]: value })
  const { max_body_bytes } = settings
  return (
    <>
      <fieldset>
        <legend>Scope</legend>
        <TextField
          label="Name"
          value={settings.name}
          onValue={set('name')}
          required
          maxLength={200}
        />
        <TextField
          label="Priority"
          type="number"
          hint="If several scopes allow a call, the one with the lowest priority value applies."
          value={String(settings.priority)}
          onValue={(text) => set('priority')(Number(text))}
        />
        <TextField
          label="Maximum body size (bytes)"
          type="number"
          min={0}
          hint="Leave empty to use the gateway-wide limit."
          value={max_body_bytes === null ? '' : String(max_body_bytes)}
          onValue={(text) => set('max_body_bytes')(text === '' ? null : Number(text))}
        />
      </fieldset>
      <RulesFields rules={settings.rules} onRules={set('rules')} />
      <ToolFields tools={settings.mcp_tools} onTools={set('mcp_tools')} />
      <InjectionFields
        injection={settings.injection_detection}
        onInjection={set('injection_detection')}
      />
      <RateFields rate={settings.rate_limiting} onRate={set('rate_limiting')} />
      <AnomalyFields anomaly={settings.anomaly_detection} onAnomaly={set('anomaly_detection')} />
    </>
  )
}
