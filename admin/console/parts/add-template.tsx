import { useEffect, useRef, useState } from 'preact/hooks'
import { TEMPLATES } from '../../../core/catalogue/templates/all.ts'
import {
  actionsOf,
  fillParameters,
  parametersOf,
  proposedActions,
} from '../../../core/catalogue/templates/fill-template.ts'
import type { ApiTemplate, TemplateAction } from '../../../core/catalogue/templates/template.ts'
import {
  type AddedApi,
  addApi,
  type ApiWishes,
  type Done,
  NOTHING_DONE,
  type OauthClient,
} from '../add-api.ts'
import { withQuery } from '../api.ts'
import type { Agent, Integration, Page } from '../api-types.ts'
import { useAction } from '../use-action.ts'
import { useLoad } from '../use-load.ts'
import { useSettled } from '../use-settled.ts'
import { DialogForm } from './dialog.tsx'
import { CheckField, TextField } from './fields.tsx'
import { Picker } from './picker.tsx'

export type { AddedApi } from '../add-api.ts'

type Owner = Pick<Agent, 'agent_id' | 'agent_name'>

/** A button for each well-known API. */
export function AddApiButtons({
  agent = null,
  first,
  onAdded,
}: {
  /** Whose access it is; by default the dialog asks. */
  agent?: Owner | null
  /** Name of the template whose dialog is open at first. */
  first?: string | undefined
  onAdded: (added: AddedApi) => void
}) {
  const [name, setName] = useState<string | undefined>(first)
  const template = TEMPLATES.find((one) => one.name === name)
  return (
    <>
      <div class="buttons" role="group" aria-label="Well-known APIs">
        {TEMPLATES.map(({ name: other, title }) => (
          <button key={other} type="button" onClick={() => setName(other)}>
            Add {title}
          </button>
        ))}
      </div>
      {template !== undefined && (
        <AddApiDialog
          template={template}
          agent={agent}
          onClose={() => setName(undefined)}
          onDone={(added) => {
            setName(undefined)
            onAdded(added)
          }}
        />
      )}
    </>
  )
}

const words = (name: string): string => name.replaceAll('_', ' ')

/** As its vendor calls it, from the usual variable: `ANTHROPIC_API_KEY` is the API key. */
const wordsOfSecret = (variable: string): string =>
  words(variable.replace(/^[A-Z]+_/, '').toLowerCase()).replace('api', 'API')

function AddApiDialog({
  template,
  agent,
  onClose,
  onDone,
}: {
  template: ApiTemplate
  agent: Owner | null
  onClose: () => void
  onDone: (added: AddedApi) => void
}) {
  const [parameters, setParameters] = useState<Texts>({})
  const [secrets, setSecrets] = useState<Texts>({})
  const [agent_name, setName] = useState('my-agent')
  const [actions, setActions] = useState(proposedActions(template))
  const [hasFormat, setFormat] = useState(false)
  // What an attempt that failed has made is not made again.
  const done = useRef<Done>(NOTHING_DONE)
  const [client, setClient] = useState<OauthClient | null>(null)
  const [own_url, setUrl] = useState<string | null>(null)
  const base_url = own_url ?? fillParameters(template.base_url, parameters)
  const existing = useExisting(base_url)
  const wishes: ApiWishes = {
    template,
    base_url,
    parameters,
    secrets,
    oauth: client,
    actions,
    error_format: (hasFormat ? template.error_format : undefined) ?? 'gateway',
    agent: agent ?? agent_name.trim(),
    existing: existing.found,
  }
  const add = useAction(() => addApi(wishes, done), onDone)
  useEffect(existing.reload, [add.problem])
  return (
    <DialogForm
      title={`Add ${template.title}`}
      submit="Add"
      {...add}
      isReady={actions.length > 0}
      onSubmit={add.run}
      onClose={onClose}
    >
      <ParameterFields of={template} values={parameters} onValues={setParameters} />
      <ConsentFields of={template} client={client} onClient={setClient} />
      {client !== null && (
        <TextField label="base url" type="url" value={base_url} onValue={setUrl} required />
      )}
      {client !== null ? null : existing.found === null ? (
        <SecretFields of={template} secrets={secrets} onSecrets={setSecrets} />
      ) : (
        <p>
          The integration <strong>{existing.found.name}</strong> exists. It is used, with its
          credential.
        </p>
      )}
      {agent === null && <Picker kind="agents" value={agent_name} onValue={setName} required />}
      <ActionFields of={actionsOf(template)} chosen={actions} onChosen={setActions} />
      {template.error_format !== undefined && existing.found === null && (
        <CheckField
          label="Refusals in the format of this API"
          hint="Its SDKs then show why a call was refused."
          value={hasFormat}
          onValue={setFormat}
        />
      )}
    </DialogForm>
  )
}

type Texts = Readonly<Record<string, string>>

const ParameterFields = ({
  of,
  values,
  onValues,
}: {
  of: ApiTemplate
  values: Texts
  onValues: (values: Texts) => void
}) => (
  <>
    {parametersOf(of).map((name) => (
      <TextField
        key={name}
        label={words(name)}
        hint={of.parameters?.[name]}
        value={values[name] ?? ''}
        onValue={(value) => onValues({ ...values, [name]: value.trim() })}
        required
      />
    ))}
  </>
)

const SecretFields = ({
  of,
  secrets,
  onSecrets,
}: {
  of: ApiTemplate
  secrets: Texts
  onSecrets: (secrets: Texts) => void
}) => (
  <>
    {Object.entries(of.secrets).map(([name, variable]) => (
      <TextField
        key={name}
        label={wordsOfSecret(variable)}
        type="password"
        hint="Stored encrypted. Agents never see it."
        member={`/auth/${name}`}
        value={secrets[name] ?? ''}
        onValue={(value) => onSecrets({ ...secrets, [name]: value })}
        required
      />
    ))}
  </>
)

const CLIENT_FIELDS = [
  ['client_id', 'text'],
  ['client_secret', 'password'],
  ['authorization_url', 'url'],
  ['token_url', 'url'],
  ['issuer', 'url'],
] as const

/** Consent at the provider in place of a token. The addresses are those of the template; some customers have others. */
function ConsentFields({
  of: { title, oauth },
  client,
  onClient,
}: {
  of: ApiTemplate
  client: OauthClient | null
  onClient: (client: OauthClient | null) => void
}) {
  if (oauth === undefined) return null
  const { authorization_url, token_url, issuer = '' } = oauth
  const empty = { client_id: '', client_secret: '', authorization_url, token_url, issuer }
  return (
    <>
      <CheckField
        label={`Connect by consent at ${title}`}
        hint="An app of yours there asks for the rights that the actions need. The agent gets a connection of its own."
        value={client !== null}
        onValue={(is) => onClient(is ? empty : null)}
      />
      {client !== null &&
        CLIENT_FIELDS.map(([name, type]) => (
          <TextField
            key={name}
            label={words(name)}
            type={type}
            member={`/auth/${name}`}
            value={client[name]}
            onValue={(value) => onClient({ ...client, [name]: value.trim() })}
            required={name !== 'issuer'}
          />
        ))}
    </>
  )
}

const ActionFields = ({
  of,
  chosen,
  onChosen,
}: {
  of: readonly TemplateAction[]
  chosen: readonly TemplateAction[]
  onChosen: (chosen: readonly TemplateAction[]) => void
}) => (
  <fieldset>
    <legend>It may</legend>
    {of.map((action) => (
      <CheckField
        key={action}
        label={action}
        value={chosen.includes(action)}
        onValue={(is) => onChosen(of.filter((one) => (one === action ? is : chosen.includes(one))))}
      />
    ))}
  </fieldset>
)

/** The integration with a base URL, if there is one. */
function useExisting(base_url: string): {
  readonly found: Integration | null
  readonly reload: () => void
} {
  const settled = useSettled(base_url)
  const { value, reload } = useLoad<Page<Integration>>(
    settled === '' ? null : withQuery('/admin/integrations', { q: settled, limit: '50' }),
  )
  const found = value?.data.find((one) => one.base_url === base_url) ?? null
  return { found, reload }
}
