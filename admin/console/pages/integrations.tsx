import {
  ERROR_FORMAT_NAMES,
  type ErrorFormat,
  proposedFormat,
} from '../../../core/catalogue/error-formats.ts'
import { useState } from 'preact/hooks'
import { ask, withQuery } from '../api.ts'
import type { Integration } from '../api-types.ts'
import { type AddedApi, AddApiButtons } from '../parts/add-template.tsx'
import { ApiHealth } from '../parts/api-health.tsx'
import {
  type Auth,
  AuthFields,
  describeAuth,
  givenAuth,
  useCredentialTypes,
} from '../parts/auth-fields.tsx'
import { ConfirmButton } from '../parts/confirm-button.tsx'
import { DialogForm } from '../parts/dialog.tsx'
import {
  CheckField,
  linesOf,
  NameField,
  SelectField,
  TextArea,
  TextField,
} from '../parts/fields.tsx'
import { FirstCall } from '../parts/first-call.tsx'
import { LabelsField, labelsPatch, useLabelsText } from '../parts/label-fields.tsx'
import { SaveWarnings } from '../parts/notices.tsx'
import { RoleNote } from '../parts/role-note.tsx'
import { LockButton } from '../parts/stop-dialog.tsx'
import { type Column, PagedTable } from '../parts/table.tsx'
import { givenUpstream, UpstreamFields, upstreamOf } from '../parts/upstream-fields.tsx'
import { goTo, linkTo } from '../place.ts'
import { useMay } from '../session.ts'
import { useAction } from '../use-action.ts'
import { usePages } from '../use-load.ts'

const pathOf = ({ integration_id }: Integration): string => `/admin/integrations/${integration_id}`

export function IntegrationsPage({ query }: { query: Readonly<Record<string, string>> }) {
  const { q } = query
  const integrations = usePages<Integration>(withQuery('/admin/integrations', { q }))
  const mayChange = useMay('admin')
  const mayLock = useMay('operator')
  const [edited, setEdited] = useState<Integration | 'new' | null>(
    mayChange && query['do'] === 'create' ? 'new' : null,
  )
  const [saved, setSaved] = useState<Integration | null>(null)
  return (
    <>
      <div class="head">
        <h1>Integrations</h1>
        {mayChange && (
          <button type="button" class="main" onClick={() => setEdited('new')}>
            Add an integration
          </button>
        )}
        <RoleNote role="admin" to="add or change integrations" />
      </div>
      {mayChange && <WellKnown wanted={query['do']} onAdded={integrations.reload} />}
      <SaveWarnings of={saved} />
      <Search key={q} q={q ?? ''} />
      <PagedTable
        pages={integrations}
        caption="Integrations"
        keyOf={({ integration_id }) => integration_id}
        empty={q ? 'No matching integrations.' : 'No integrations yet. All calls are refused.'}
        columns={[
          ...COLUMNS,
          ...(mayLock
            ? [
                {
                  head: 'Actions',
                  cell: (one: Integration) => (
                    <RowButtons
                      of={one}
                      onEdit={() => setEdited(one)}
                      onDeleted={integrations.reload}
                    />
                  ),
                },
              ]
            : []),
        ]}
      />
      <ApiHealth />
      {edited !== null && (
        <IntegrationForm
          of={edited === 'new' ? null : edited}
          onClose={() => setEdited(null)}
          onDone={(integration) => {
            setEdited(null)
            setSaved(integration)
            integrations.reload()
          }}
        />
      )}
    </>
  )
}

const COLUMNS: readonly Column<Integration>[] = [
  {
    head: 'Name',
    cell: ({ integration_id, name }) => (
      <a href={linkTo(['integrations', integration_id])}>{name}</a>
    ),
  },
  { head: 'Base URL', cell: ({ base_url }) => <code>{base_url}</code> },
  { head: 'Credential', cell: ({ auth }) => describeAuth(auth) },
  {
    head: 'Scopes',
    cell: ({ integration_id }) => <a href={linkTo(['scopes'], { integration_id })}>View scopes</a>,
  },
]

/** Well-known APIs, and how to call the one that was added. @param wanted `add github` opens the dialog of one */
function WellKnown({ wanted = '', onAdded }: { wanted?: string | undefined; onAdded: () => void }) {
  const [added, setAdded] = useState<AddedApi | null>(null)
  return (
    <>
      <details class="well-known" open={matchMedia('(min-width: 62rem)').matches}>
        <summary>Add a well-known API</summary>
        <AddApiButtons
          first={/^add (.+)$/.exec(wanted)?.[1]}
          onAdded={(api) => {
            setAdded(api)
            onAdded()
          }}
        />
      </details>
      {added !== null && <FirstCall key={JSON.stringify(added)} of={added} />}
    </>
  )
}

function RowButtons({
  of,
  onEdit,
  onDeleted,
}: {
  of: Integration
  onEdit: () => void
  onDeleted: () => void
}) {
  const mayChange = useMay('admin')
  return (
    <div class="buttons">
      <LockButton
        about={`the integration ${of.name}`}
        target={{ integration_id: of.integration_id }}
      />
      {mayChange && (
        <>
          <button type="button" onClick={onEdit}>
            Edit
          </button>
          <ConfirmButton
            label="Delete"
            title={`Delete ${of.name}?`}
            work={() => ask('DELETE', `${pathOf(of)}?cascade=true`)}
            onDone={onDeleted}
          >
            <p>Its credential and all its scopes are deleted too.</p>
          </ConfirmButton>
        </>
      )}
    </div>
  )
}

function Search({ q }: { q: string }) {
  const [text, setText] = useState(q)
  return (
    <form
      class="filter"
      role="search"
      onSubmit={(event) => {
        event.preventDefault()
        goTo(['integrations'], { q: text.trim() })
      }}
    >
      <TextField label="Name, URL or id" type="search" value={text} onValue={setText} />
      <button type="submit">Search</button>
    </form>
  )
}

const UrlField = ({ value, onValue }: { value: string; onValue: (url: string) => void }) => (
  <TextField
    label="Base URL"
    member="/base_url"
    type="url"
    hint="Up to and including the version, for example https://api.example.com/v1"
    value={value}
    onValue={onValue}
    required
  />
)

function IntegrationForm({
  of,
  onClose,
  onDone,
}: {
  of: Integration | null
  onClose: () => void
  onDone: (saved: Integration) => void
}) {
  const [name, setName] = useState(of?.name ?? '')
  const [base_url, setUrl] = useState(of?.base_url ?? '')
  const [options, setOptions] = useState(optionsOf(of))
  const [error_format, setFormat] = useState<ErrorFormat>(of?.error_format ?? 'gateway')
  const types = useCredentialTypes()
  const [auth, setAuth] = useState<Auth | null>(of === null ? { type: 'bearer' } : null)
  const [hosts, setHosts] = useState(hostsOf(of))
  const [upstream, setUpstream] = useState(upstreamOf(of))
  const [labels, setLabels] = useLabelsText(of?.labels ?? {})
  const save = useAction(() => {
    const body = {
      name,
      base_url,
      ...options,
      also_hosts: givenHosts(hosts, of),
      error_format,
      upstream: givenUpstream(upstream),
      labels: labelsPatch(of?.labels ?? {}, labels) ?? labels,
      ...(auth === null ? {} : { auth: givenAuth(types, auth) }),
    }
    return of === null
      ? ask<Integration>('POST', '/admin/integrations', { body })
      : ask<Integration>('PUT', pathOf(of), { body })
  }, onDone)
  return (
    <DialogForm
      title={of === null ? 'Add an integration' : `Edit ${of.name}`}
      submit="Save"
      {...save}
      onSubmit={save.run}
      onClose={onClose}
    >
      <NameField member="/name" value={name} onValue={setName} />
      <UrlField value={base_url} onValue={setUrl} />
      {of !== null && <ReplaceField of={of} isReplaced={auth !== null} onAuth={setAuth} />}
      {auth !== null && <AuthFields types={types} auth={auth} onAuth={setAuth} />}
      <HostFields hosts={hosts} onHosts={setHosts} />
      <OptionFields options={options} onOptions={setOptions} />
      <FormatField base_url={base_url} format={error_format} onFormat={setFormat} />
      <LabelsField value={labels} onValue={setLabels} />
      <UpstreamFields upstream={upstream} onUpstream={setUpstream} />
    </DialogForm>
  )
}

const optionsOf = (of: Integration | null): Options => ({
  strip_agent_id: of?.strip_agent_id ?? true,
  allow_empty_segments: of?.allow_empty_segments ?? false,
  allow_encoded_slashes: of?.allow_encoded_slashes ?? false,
  echo_guard: of?.echo_guard ?? 'off',
})

/** As lines. */
interface Hosts {
  readonly plain: string
  readonly with_credential: string
}

function hostsOf(of: Integration | null): Hosts {
  const lines = (credential: boolean): string =>
    (of?.also_hosts ?? [])
      .filter((entry) => entry.credential === credential)
      .map(({ host }) => host)
      .join('\n')
  return { plain: lines(false), with_credential: lines(true) }
}

/** An entry that stays keeps its methods and paths. */
function givenHosts({ plain, with_credential }: Hosts, of: Integration | null): readonly object[] {
  const entries = (lines: string, credential: boolean): object[] =>
    linesOf(lines).map((host) => ({
      ...of?.also_hosts.find((entry) => entry.host === host),
      host,
      credential,
    }))
  return [...entries(plain, false), ...entries(with_credential, true)]
}

const HostFields = ({ hosts, onHosts }: { hosts: Hosts; onHosts: (hosts: Hosts) => void }) => (
  <>
    <TextArea
      label="Further hosts of this API"
      member="/also_hosts"
      hint="One per line, such as codeload.github.com or *.example.com: downloads, redirects. Read only, without the credential."
      value={hosts.plain}
      onValue={(plain) => onHosts({ ...hosts, plain })}
    />
    <TextArea
      label="Further hosts that get the credential"
      hint="One per line, without a wildcard. Read only. The credential is required again to add one."
      value={hosts.with_credential}
      onValue={(with_credential) => onHosts({ ...hosts, with_credential })}
    />
  </>
)

const ReplaceField = ({
  of,
  isReplaced,
  onAuth,
}: {
  of: Integration
  isReplaced: boolean
  onAuth: (auth: Auth | null) => void
}) => (
  <CheckField
    label="Replace the credential"
    hint={`Stored: ${describeAuth(of.auth)}. A change of scheme, host or port requires it again.`}
    value={isReplaced}
    onValue={(is) => onAuth(is ? { type: of.auth.type } : null)}
  />
)

/** The format of a well-known API is proposed, and set by the operator alone. */
function FormatField({
  base_url,
  format,
  onFormat,
}: {
  base_url: string
  format: ErrorFormat
  onFormat: (format: ErrorFormat) => void
}) {
  const proposed = proposedFormat(base_url)
  return (
    <SelectField
      label="Format of refusals"
      hint={
        proposed === null || proposed === format
          ? 'The shape in which agents get refusals. The status and X-Agw-Reason are the same in all.'
          : `The SDKs of this API read "${proposed}". With it they show why a call was refused; only the body changes.`
      }
      value={format}
      onValue={(chosen) => onFormat(chosen as ErrorFormat)}
      options={ERROR_FORMAT_NAMES.map((name) => [name, name] as const)}
    />
  )
}

type Options = Pick<
  Integration,
  'strip_agent_id' | 'allow_empty_segments' | 'allow_encoded_slashes' | 'echo_guard'
>

function OptionFields({
  options,
  onOptions,
}: {
  options: Options
  onOptions: (options: Options) => void
}) {
  const field = (name: Exclude<keyof Options, 'echo_guard'>) => ({
    value: options[name],
    onValue: (value: boolean) => onOptions({ ...options, [name]: value }),
  })
  return (
    <>
      <CheckField label="Remove agent_id from request bodies" {...field('strip_agent_id')} />
      <CheckField label="Allow empty path segments" {...field('allow_empty_segments')} />
      <CheckField
        label="Allow encoded slashes"
        hint="For APIs such as GitLab that treat %2F as part of a name. Other APIs may treat it as a path separator."
        {...field('allow_encoded_slashes')}
      />
      <CheckField
        label="Redact the credential in response headers"
        hint="For APIs with echo or debug endpoints. Every response is then inspected, which costs about a fifth of a GET."
        value={options.echo_guard !== 'off'}
        onValue={(is) =>
          onOptions({
            ...options,
            echo_guard: is ? (options.echo_guard === 'full' ? 'full' : 'headers') : 'off',
          })
        }
      />
    </>
  )
}
