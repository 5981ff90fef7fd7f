import { useEffect, useRef, useState } from 'preact/hooks'
import { TEMPLATES } from '../../../core/catalogue/templates/all.ts'
import { fillParameters, parametersOf } from '../../../core/catalogue/templates/fill-template.ts'
import {
  TEMPLATE_ACTIONS,
  type ApiTemplate,
  type TemplateAction,
} from '../../../core/catalogue/templates/template.ts'
import { type AddedApi, addApi, type ApiWishes, type Done, NOTHING_DONE } from '../add-api.ts'
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
  const has = TEMPLATE_ACTIONS.filter((action) => template.actions[action] !== undefined)
  const [actions, setActions] = useState<readonly TemplateAction[]>(has.slice(0, 1))
  const [hasFormat, setFormat] = useState(false)
  // What an attempt that failed has made is not made again.
  const done = useRef<Done>(NOTHING_DONE)
  const base_url = fillParameters(template.base_url, parameters)
  const existing = useExisting(base_url)
  const wishes: ApiWishes = {
    template,
    base_url,
    parameters,
    secrets,
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
      {existing.found === null ? (
        <SecretFields of={template} secrets={secrets} onSecrets={setSecrets} />
      ) : (
        <p>
          The integration <strong>{existing.found.name}</strong> exists. It is used, with its
          credential.
        </p>
      )}
      {agent === null && <Picker kind="agents" value={agent_name} onValue={setName} required />}
      <ActionFields of={has} chosen={actions} onChosen={setActions} />
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
    {Object.keys(of.secrets).map((name) => (
      <TextField
        key={name}
        label={words(name)}
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
