import { useState } from 'preact/hooks'
import { SCOPE_DEFAULTS } from '../../../core/catalogue/model.ts'
import { ask } from '../api.ts'
import type { Scope, ScopeSettings } from '../api-types.ts'
import { countOf } from '../count-of.ts'
import { liveEdges } from '../live-edges.ts'
import { AgentLink } from '../parts/bits.tsx'
import { ConfirmButton } from '../parts/confirm-button.tsx'
import { ConfirmField, SelectorField, SelectorText } from '../parts/label-fields.tsx'
import { Loaded } from '../parts/notices.tsx'
import { Picker } from '../parts/picker.tsx'
import { ScopeEditor } from '../parts/scope-editor.tsx'
import { LockButton } from '../parts/stop-dialog.tsx'
import { goTo, linkTo } from '../place.ts'
import { resolvePair } from '../resolve-pair.ts'
import { settingsOf } from '../scope-settings.ts'
import { useMay } from '../session.ts'
import { useAction } from '../use-action.ts'
import { type Draft, useDraft } from '../use-draft.ts'
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
  const name = `scopes/new ${query['agent_id'] ?? ''} ${query['integration_id'] ?? ''}`
  const draft = useDraft<ScopeSettings>(name, NEW, null)
  const settings = draft.value
  const [confirmed, setConfirmed] = useState('')
  const { agent_selector, integration_selector } = settings
  const create = useAction(
    async () => {
      const resolved = await resolvePair({ agent_id, integration_id })
      if (!resolved.ok) return resolved
      const ids = Object.fromEntries(Object.entries(resolved.ids).filter(([, id]) => id !== ''))
      const body = { ...ids, ...settings, ...confirmation(confirmed) }
      return await ask<Scope>('POST', '/admin/scopes', { body })
    },
    (scope) => {
      draft.forget()
      goTo(scope.agent_id === null ? ['scopes', scope.scope_id] : ['agents', scope.agent_id])
    },
  )
  return (
    <>
      <h1>Add a scope</h1>
      <DraftNotice draft={draft} />
      <ScopeEditor
        key={String(draft.isRestored)}
        tried={{ agent_id, integration_id, scope_id: undefined, settings }}
        onSettings={draft.set}
        problem={create.problem}
        onSubmit={create.run}
        buttons={<SaveButton isBusy={create.isBusy} />}
      >
        <div class="pair">
          <Picker
            kind="agents"
            value={agent_id}
            onValue={setAgent}
            required={agent_selector === null}
          />
          <Picker
            kind="integrations"
            value={integration_id}
            onValue={setIntegration}
            required={integration_selector === null}
          />
        </div>
        <div class="pair">
          <SelectorFields
            agents="Or all agents with labels"
            integrations="Or all integrations with labels"
            settings={settings}
            onSettings={draft.set}
          />
        </div>
        <ConfirmField
          selectors={[agent_selector, integration_selector]}
          value={confirmed}
          onValue={setConfirmed}
        />
      </ScopeEditor>
    </>
  )
}

const confirmation = (text: string): object =>
  text === '' ? {} : { confirm_affected: Number(text) }

const SaveButton = ({ isBusy }: { isBusy: boolean }) => (
  <button type="submit" class="main" disabled={isBusy}>
    {isBusy ? 'Saving …' : 'Save'}
  </button>
)

function DraftNotice({ draft }: { draft: Draft<ScopeSettings> }) {
  if (!draft.isRestored) return null
  return (
    <div class="notice warn" role="status">
      <p>
        Your unsaved changes are back.{' '}
        {draft.isOutdated &&
          'The stored scope was changed after you began; saving replaces that change. '}
        <button type="button" onClick={draft.discard}>
          Discard them
        </button>
      </p>
    </div>
  )
}

function StoredScope({ scope_id }: { scope_id: string }) {
  const path = `/admin/scopes/${encodeURIComponent(scope_id)}`
  const scope = useLoad<Scope>(path)
  const [edges, setEdges] = useState<number | null>(null)
  const saved = (live: number | null): void => {
    setEdges(live)
    if (live !== null) scope.reload()
  }
  return (
    <Loaded from={scope} page="Scope">
      {(value) => (
        <>
          <EditScope
            key={scope.etag}
            scope={value}
            etag={scope.etag}
            path={path}
            onSaved={saved}
            onReload={scope.reload}
          />
          {edges !== null && (
            <p class="notice good" role="status">
              Saved, and in force on {edges} of {countOf(edges, 'edge')}.
            </p>
          )}
        </>
      )}
    </Loaded>
  )
}

/** Which agents and integrations a scope is for, if it names none. @param agents the label; null where it names one, as `integrations` */
function SelectorFields({
  agents,
  integrations,
  settings,
  onSettings,
}: {
  agents: string | null
  integrations: string | null
  settings: ScopeSettings
  onSettings: (settings: ScopeSettings) => void
}) {
  return (
    <>
      {agents !== null && (
        <SelectorField
          label={agents}
          member="/agent_selector"
          selector={settings.agent_selector}
          onSelector={(agent_selector) => onSettings({ ...settings, agent_selector })}
        />
      )}
      {integrations !== null && (
        <SelectorField
          label={integrations}
          member="/integration_selector"
          selector={settings.integration_selector}
          onSelector={(integration_selector) => onSettings({ ...settings, integration_selector })}
        />
      )}
    </>
  )
}

function SaveOrReload(of: {
  isBusy: boolean
  isConflict: boolean
  isChanged: boolean
  onReload: () => void
}) {
  return (
    <>
      <SaveButton isBusy={of.isBusy} />
      {of.isConflict && (
        <button type="button" onClick={of.onReload}>
          Read the stored scope again
        </button>
      )}
      {of.isChanged && <span class="muted">There are unsaved changes.</span>}
    </>
  )
}

const triedOf = ({ scope_id, agent_id, integration_id }: Scope, settings: ScopeSettings) => ({
  agent_id: agent_id ?? '',
  integration_id: integration_id ?? '',
  scope_id,
  settings,
})

function EditScope({
  scope,
  etag,
  path,
  onSaved,
  onReload,
}: {
  scope: Scope
  etag: string | null
  path: string
  /** With the number of edges on which it is in force, or null before another attempt. */
  onSaved: (edges: number | null) => void
  onReload: () => void
}) {
  const [confirmed, setConfirmed] = useState('')
  const draft = useDraft(`scopes/${scope.scope_id}`, settingsOf(scope), etag)
  const mayChange = useMay('admin')
  // A concurrent change is not overwritten: If-Match makes the service refuse.
  const headers = etag === null ? {} : { 'if-match': etag }
  const save = useAction(
    async () => {
      const answer = await ask('PUT', path, {
        body: { ...draft.value, ...confirmation(confirmed) },
        headers,
      })
      return answer.ok ? await liveEdges() : answer
    },
    (edges) => {
      draft.forget()
      onSaved(edges)
    },
  )
  return (
    <>
      <ScopeHead scope={scope} path={path} />
      <DraftNotice draft={draft} />
      <ScopeEditor
        key={String(draft.isRestored)}
        tried={triedOf(scope, draft.value)}
        onSettings={draft.set}
        problem={save.problem}
        isDisabled={!mayChange}
        onSubmit={() => {
          onSaved(null)
          save.run()
        }}
        buttons={
          mayChange && (
            <SaveOrReload
              isBusy={save.isBusy}
              isConflict={save.problem?.status === 412}
              isChanged={draft.isChanged}
              onReload={onReload}
            />
          )
        }
      >
        <SelectorFields
          agents={scope.agent_id === null ? 'Agents with labels' : null}
          integrations={scope.integration_id === null ? 'Integrations with labels' : null}
          settings={draft.value}
          onSettings={draft.set}
        />
        <ConfirmField
          selectors={[draft.value.agent_selector, draft.value.integration_selector]}
          value={confirmed}
          onValue={setConfirmed}
        />
      </ScopeEditor>
    </>
  )
}

function ScopeHead({ scope, path }: { scope: Scope; path: string }) {
  const { scope_id, agent_id, integration_id, agent_selector, integration_selector, name } = scope
  const agentName = useNames('agents')
  const integrationName = useNames('integrations')
  const mayChange = useMay('admin')
  const mayLock = useMay('operator')
  return (
    <>
      <div class="head">
        <h1>{name}</h1>
        <div class="buttons">
          {mayLock && <LockButton about={`the scope ${name}`} target={{ scope_id }} />}
          {mayChange && (
            <ConfirmButton
              label="Delete"
              title={`Delete ${name}?`}
              work={() => ask('DELETE', path)}
              onDone={() => goTo(agent_id === null ? ['scopes'] : ['agents', agent_id])}
            >
              <p>The agent loses the permissions that only this scope grants.</p>
            </ConfirmButton>
          )}
        </div>
      </div>
      <p>
        {agent_id === null ? (
          <>
            Agents with <SelectorText of={agent_selector} />
          </>
        ) : (
          <>
            Agent <AgentLink id={agent_id} name={agentName(agent_id)} />
          </>
        )}{' '}
        may call{' '}
        {integration_id === null ? (
          <>
            integrations with <SelectorText of={integration_selector} />
          </>
        ) : (
          <>
            integration{' '}
            <a href={linkTo(['integrations'], { q: integration_id })}>
              {integrationName(integration_id)}
            </a>
          </>
        )}
        . <a href={linkTo(['security'], { scope_id })}>Scan a text with its settings</a>
      </p>
    </>
  )
}
