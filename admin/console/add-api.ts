import {
  consentScope,
  fillParameters,
  pathToTry,
  scopeOfTemplate,
} from '../../core/catalogue/templates/fill-template.ts'
import type { ApiTemplate, TemplateAction } from '../../core/catalogue/templates/template.ts'
import { type ApiAnswer, ask, withQuery } from './api.ts'
import type { Agent, Connection, Integration, Page } from './api-types.ts'

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
  /** What has to be consented to at the provider before. */
  readonly consent?: { readonly integration: Integration; readonly connection: Connection } | null
}

/** The client of an OAuth provider, and where that is. */
export interface OauthClient {
  readonly authorization_url: string
  readonly token_url: string
  /** May be empty. */
  readonly issuer: string
  readonly client_id: string
  readonly client_secret: string
}

export interface ApiWishes {
  readonly template: ApiTemplate
  readonly base_url: string
  readonly parameters: Readonly<Record<string, string>>
  readonly secrets: Readonly<Record<string, string>>
  /** In place of the secrets. */
  readonly oauth: OauthClient | null
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
  readonly connection: Connection | null
}
export const NOTHING_DONE: Done = { integration: null, agent: null, connection: null }

/** Makes the integration of a template unless it exists, the agent unless it exists, its connection, and a scope for the chosen actions. */
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
  const connection = await connectionOf(wishes, integration.value, agent.value, done.current)
  if (!connection.ok) return connection
  done.current = { ...done.current, connection: connection.value }
  const scope = scopeOfTemplate(template, actions)
  const { integration_id, base_url } = integration.value
  const { agent_id, agent_name, api_key = null } = agent.value
  const added = await ask('POST', '/admin/scopes', { body: { ...scope, agent_id, integration_id } })
  if (!added.ok) return added
  return found({
    agent_id,
    agent_name,
    api_key,
    base_url,
    path: pathToTry(scope.rules),
    template: template.name,
    consent:
      connection.value?.status === 'needs_consent'
        ? { integration: integration.value, connection: connection.value }
        : null,
  })
}

/** Of the agent alone; null if the API is called with the credential of the integration. */
async function connectionOf(
  { template: { name, oauth }, oauth: client, actions }: ApiWishes,
  { integration_id }: Integration,
  { agent_id }: Created,
  { connection }: Done,
): Promise<ApiAnswer<Connection | null>> {
  if (connection !== null || client === null || oauth === undefined) return found(connection)
  const scope = consentScope(oauth, actions)
  const { issuer, ...members } = client
  const type = 'oauth2_authorization_code'
  const auth = { type, ...members, ...(issuer === '' ? {} : { issuer }), scope }
  const body = { name, subject: `agent:${agent_id}`, auth }
  return await ask('POST', `/admin/integrations/${integration_id}/connections`, { body })
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
  oauth,
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
    auth: oauth === null ? { ...Object.fromEntries(shown), ...secrets } : { type: 'none' },
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
