import { fillParameters, scopeOfTemplate } from '../../core/catalogue/templates/fill-template.ts'
import type { ApiTemplate, TemplateAction } from '../../core/catalogue/templates/template.ts'
import { type ApiAnswer, ask, withQuery } from './api.ts'
import type { Agent, Integration, Page } from './api-types.ts'

type Owner = Pick<Agent, 'agent_id' | 'agent_name'>

/** An agent with an API that it may call now. */
export interface AddedApi extends Owner {
  /** Of an agent that was created for it. */
  readonly api_key: string | null
  /** Null if it may call none yet. */
  readonly base_url: string | null
  /** A path that it may read, to try. */
  readonly path: string
  /** Name of the template, or an empty text. */
  readonly template: string
}

export interface ApiWishes {
  readonly template: ApiTemplate
  readonly base_url: string
  readonly parameters: Readonly<Record<string, string>>
  readonly secrets: Readonly<Record<string, string>>
  readonly actions: readonly TemplateAction[]
  readonly error_format: string
  /** One that exists, or a name or id: an agent that does not exist is created. */
  readonly agent: Owner | string
  readonly existing: Integration | null
}

type Created = Owner & { readonly api_key?: string }

/** What was made, for another attempt. */
export interface Done {
  readonly integration: Integration | null
  readonly agent: Created | null
}
export const NOTHING_DONE: Done = { integration: null, agent: null }

/** Makes the integration of a template unless it exists, the agent unless it exists, and a scope for the chosen actions. */
export async function addApi(
  wishes: ApiWishes,
  done: { current: Done },
): Promise<ApiAnswer<AddedApi>> {
  const { template, actions } = wishes
  const made = wishes.existing ?? done.current.integration
  const integration = made === null ? await createIntegration(wishes) : found(made)
  if (!integration.ok) return integration
  done.current = { ...done.current, integration: integration.value }
  const agent = await agentOf(wishes.agent, done.current.agent)
  if (!agent.ok) return agent
  done.current = { ...done.current, agent: agent.value }
  const scope = scopeOfTemplate(template, actions)
  const { integration_id, base_url } = integration.value
  const { agent_id, agent_name, api_key = null } = agent.value
  const added = await ask('POST', '/admin/scopes', { body: { ...scope, agent_id, integration_id } })
  if (!added.ok) return added
  const path =
    scope.rules
      .filter(({ methods }) => methods.includes('GET'))
      .flatMap(({ paths }) => paths)
      .find((one) => !one.includes('*')) ?? ''
  return found({
    agent_id,
    agent_name,
    api_key,
    base_url,
    path: path === '/' ? '' : path,
    template: template.name,
  })
}

const found = <T>(value: T): ApiAnswer<T> & { readonly ok: true } => ({
  ok: true,
  value,
  etag: null,
})

function createIntegration({
  template,
  base_url,
  parameters,
  secrets,
  error_format,
}: ApiWishes): Promise<ApiAnswer<Integration>> {
  const { name, auth, also_hosts, allow_encoded_slashes } = template
  const shown = Object.entries(auth).map(([member, text]) => [
    member,
    fillParameters(text, parameters),
  ])
  const body = {
    name,
    base_url,
    ...(also_hosts === undefined ? {} : { also_hosts }),
    ...(allow_encoded_slashes === undefined ? {} : { allow_encoded_slashes }),
    error_format,
    auth: { ...Object.fromEntries(shown), ...secrets },
  }
  return ask('POST', '/admin/integrations', { body })
}

async function agentOf(agent: Owner | string, made: Created | null): Promise<ApiAnswer<Created>> {
  if (typeof agent !== 'string') return found(agent)
  if (made !== null && made.agent_name === agent) return found(made)
  const answer = await ask<Page<Agent>>('GET', withQuery('/admin/agents', { q: agent }))
  if (!answer.ok) return answer
  const same = answer.value.data.filter((one) => [one.agent_id, one.agent_name].includes(agent))
  const [only] = same
  if (same.length > 1)
    return {
      ok: false,
      problem: {
        status: 0,
        error: 'conflict',
        message: `${same.length} agents are called “${agent}”. Give the id of one of them.`,
        details: {},
      },
    }
  if (only !== undefined) return found(only)
  return await ask<Created>('POST', '/admin/agents', { body: { agent_name: agent } })
}
