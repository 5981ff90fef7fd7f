import type { Environment } from '../../core/settings/settings.ts'
import {
  type ApiTemplate,
  TEMPLATE_ACTIONS,
  type TemplateAction,
} from '../../core/catalogue/templates/template.ts'
import type { ScopeRule } from '../../core/catalogue/model.ts'
import { pathToTry, proposedActions } from '../../core/catalogue/templates/fill-template.ts'
import { CLIENT_WORDS, clientFor, snippetsOf } from '../../core/catalogue/templates/snippets.ts'
import { checkEntry } from '../config/check-entry.ts'
import {
  expandTemplate,
  findTemplate,
  scopeOfActions,
  unknownTemplate,
} from '../config/expand-template.ts'
import type { Json } from '../config/section-resources.ts'
import { findBy, makeResource } from '../create/make-resource.ts'
import type { AdminOptions } from '../deployment/admin-access.ts'
import { proxyAddress } from '../deployment/proxy-address.ts'
import { waitForCall } from './quickstart.ts'
import { askSecrets, isConfirmed, type Terminal } from '../terminal/ask.ts'
import { terminalJson, terminalLines } from '../terminal/terminal-text.ts'
import { UsageError } from '../terminal/usage-error.ts'

export interface AddOptions extends AdminOptions {
  readonly actions?: readonly string[]
  /** Name of an agent, which is created if there is none. */
  readonly agent?: string
  /** A word for the client whose lines are printed. */
  readonly client?: string
  readonly parameter?: Readonly<Record<string, string>>
  readonly errorFormat?: string
  /** Wait until the agent has called. */
  readonly wait?: boolean
}

/**
 * `agw add`: the integration of a well-known API, and with an agent a scope for the named actions. What exists is used as it is.
 * @returns the exit code
 * @throws with a message for the operator when the template cannot be applied, or the admin API does not answer or refuses
 */
export async function runAdd(
  name: string,
  options: AddOptions,
  env: Environment,
  terminal: Terminal,
): Promise<number> {
  const { agent, client, parameter, output, errorFormat, wait } = options
  const template = findTemplate(name)
  if (template === null) throw new UsageError(`"${name}" ${unknownTemplate(name)}.`)
  const actions =
    options.actions === undefined ? proposedActions(template) : knownOf(options.actions)
  const proxy_url = await proxyAddress(options)
  const refusals: string[] = []
  const scope = scopeOfActions(template, actions, (_, message) => void refusals.push(message))
  const [refused] = refusals
  if (agent !== undefined && refused !== undefined)
    throw new UsageError(`--actions ${actions.join(',')} ${refused}.`)

  const lines: string[] = []
  const integration = await integrationFor(
    { template: name, ...(parameter === undefined ? {} : { parameters: parameter }) },
    { proposed: template.error_format, errorFormat },
    options,
    env,
    terminal,
    lines,
  )
  const given =
    agent === undefined
      ? null
      : await letCall(
          agent,
          {
            template,
            scope,
            integration,
            proxy_url,
            client: CLIENT_WORDS.get(client ?? '') ?? clientFor(template.name),
          },
          options,
          lines,
        )
  if (given === null) lines.push(`Let an agent use it: agw add ${name} --agent NAME`)
  const { integration_id, base_url } = integration
  if (output === 'json')
    terminal.stdout.write(
      `${terminalJson({ integration_id, base_url, scope_id: given?.scope_id, api_key: given?.api_key, proxy_url })}\n`,
    )
  else terminal.stdout.write(terminalLines(`${lines.join('\n')}\n`))
  if (given === null || wait !== true) return 0
  return waitForCall(given.agent_id, given.api_key !== undefined, options, terminal)
}

interface Grant {
  readonly template: ApiTemplate
  readonly scope: Json
  readonly integration: Json
  readonly proxy_url: string
  readonly client: ReturnType<typeof clientFor>
}

/** The agent, which is created if there is none, with its scope, and how a client calls as it. */
async function letCall(
  agent_name: string,
  { template, scope, integration, proxy_url, client }: Grant,
  options: AddOptions,
  lines: string[],
): Promise<{ readonly agent_id: string; readonly api_key?: string; readonly scope_id: unknown }> {
  const existing = await findBy(options, 'agents', 'agent_name', agent_name)
  const owner = existing ?? (await makeResource(options, 'agents', { agent_name }))
  if (existing === null) lines.push(`Agent ${agent_name} created: ${String(owner['agent_id'])}`)
  const { agent_id, api_key } = owner as { readonly agent_id: string; readonly api_key?: string }
  if (api_key !== undefined) lines.push(`Key (shown only once): ${api_key}`)
  const { integration_id, base_url } = integration
  const made = await makeResource(options, 'scopes', { ...scope, agent_id, integration_id })
  const snippets = snippetsOf({
    proxy_url,
    api_key: api_key ?? `the key of ${agent_name}`,
    agent_name,
    base_url: String(base_url),
    path: pathToTry(scope['rules'] as readonly ScopeRule[]),
    template: template.name,
  })
  lines.push(
    `Scope ${String(made['name'])} created: ${String(made['scope_id'])}`,
    `\nCall as ${agent_name} (${client}):\n`,
    snippets[client].replaceAll(/^(?=.)/gm, '  '),
  )
  return { agent_id, scope_id: made['scope_id'], ...(api_key === undefined ? {} : { api_key }) }
}

function knownOf(names: readonly string[]): readonly TemplateAction[] {
  const unknown = names.find((name) => !TEMPLATE_ACTIONS.some((action) => action === name))
  if (unknown !== undefined)
    throw new UsageError(`--actions ${unknown}: there are ${TEMPLATE_ACTIONS.join(', ')}.`)
  return names as readonly TemplateAction[]
}

/** The integration with the base URL of the template, which is created if there is none. */
async function integrationFor(
  entry: Json,
  format: { readonly proposed: string | undefined; readonly errorFormat: string | undefined },
  options: AddOptions,
  env: Environment,
  terminal: Terminal,
  lines: string[],
): Promise<Json> {
  const { item, issues } = expandTemplate('integrations', entry)
  const [refused] = issues
  if (refused !== undefined) throw new UsageError(`--parameter: ${refused.message}.`)
  const secrets = await secretsOf(item['auth'] as Json, env, terminal)
  const checked = checkEntry('integrations', entry, { ...env, ...secrets })
  if (checked.wanted === null) {
    const [first] = checked.issues
    throw new Error(`${first?.path ?? ''} ${first?.message ?? ''}`)
  }
  const { base_url, name } = checked.wanted
  const existing = await findBy(options, 'integrations', 'base_url', base_url)
  if (existing !== null) {
    lines.push(
      `Integration ${String(existing['name'])} exists: ${String(existing['integration_id'])}`,
    )
    return existing
  }
  const error_format = format.errorFormat ?? (await askFormat(format.proposed, terminal))
  const made = await makeResource(options, 'integrations', { ...checked.wanted, error_format })
  lines.push(`Integration ${String(name)} created: ${String(made['integration_id'])}`)
  return made
}

/** The variables that the credential refers to and the environment has not; they are asked for. */
async function secretsOf(auth: Json, env: Environment, terminal: Terminal): Promise<Environment> {
  const missing = Object.values(auth)
    .map((value) => /^\$\{(\w+)\}$/.exec(String(value))?.[1] ?? '')
    .filter((variable) => variable !== '' && env[variable] === undefined)
  const given = await askSecrets(missing, terminal)
  const empty = missing[given.indexOf('')]
  if (empty !== undefined) throw new Error(`${empty} is not set, and nothing was given for it.`)
  return Object.fromEntries(missing.map((variable, i) => [variable, given[i]]))
}

/** The shape of refusals changes what agents receive, so it is asked for. */
async function askFormat(proposed: string | undefined, terminal: Terminal): Promise<string> {
  if (proposed === undefined) return 'gateway'
  const question = `Show refusals in the format of this API (${proposed}), so that its SDKs say why?`
  if (await isConfirmed(question, terminal)) return proposed
  terminal.stderr.write(
    `Refusals have the gateway's format; --error-format ${proposed} lets the SDKs of this API show why.\n`,
  )
  return 'gateway'
}
