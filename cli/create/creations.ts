import { asOperand, inQuotes } from '../../core/catalogue/templates/snippets.ts'
import type { Environment } from '../../core/settings/settings.ts'
import type { ScopeRule } from '../../core/catalogue/model.ts'
import type { AdminOptions } from '../deployment/admin-access.ts'
import type { Json } from '../config/section-resources.ts'
import type { Terminal } from '../terminal/ask.ts'
import { findResource, idOf } from '../resources/find-resource.ts'
import { type AuthOptions, givenAuth } from './given-auth.ts'
import { givenLabels, givenSelector } from './given-labels.ts'
import type { ResourceName } from '../resources/resource-kinds.ts'
import { UsageError } from '../terminal/usage-error.ts'

export interface CreateOptions extends AdminOptions, AuthOptions {
  /** A file with further members, `-` for standard input. */
  readonly json?: string
  readonly dryRun?: boolean
  readonly id?: string
  readonly label?: string
  readonly errorFormat?: string
  readonly agent?: string
  readonly agentSelector?: string
  readonly integration?: string
  readonly integrationSelector?: string
  readonly user?: string
  readonly allow?: readonly ScopeRule[]
  readonly tools?: readonly string[]
  readonly rate?: number
  readonly expires?: string
  readonly events?: readonly string[]
  readonly name?: string
  readonly role?: string
}

interface Asking {
  readonly env: Environment
  readonly terminal: Terminal
}

/** How one kind of resource is created: positional arguments, and the body that these and the options make. */
export interface CreationRecipe {
  readonly words: readonly (readonly [name: string, description: string])[]
  readonly options: readonly Exclude<keyof CreateOptions, keyof AdminOptions | 'json' | 'dryRun'>[]
  /** What it cannot do without, with the words, options and members that give it. */
  readonly needs: readonly (readonly [what: string, ...members: string[]])[]
  readonly path?: (options: CreateOptions) => Promise<`/${string}`>
  readonly body: (
    words: readonly (string | undefined)[],
    options: CreateOptions,
    asking: Asking,
  ) => Promise<Json>
  /** The member that is shown only once, and what it is. */
  readonly once?: readonly [member: string, label: string]
  /** What to do next. */
  readonly next?: (created: Json) => string
}

const NAME = ['a name', 'name'] as const
const EXAMPLE = 'https://api.example.com/v1/things'

export const CREATIONS: Partial<Readonly<Record<ResourceName, CreationRecipe>>> = {
  agents: {
    words: [['name', 'name of the agent']],
    options: ['id', 'label'],
    needs: [['a name', 'name', 'agent_name']],
    body: async ([agent_name], { id: agent_id, label }) => ({
      agent_name,
      agent_id,
      labels: label === undefined ? undefined : givenLabels(label),
    }),
    once: ['api_key', 'Key'],
    next: ({ agent_name }) =>
      `It may call nothing yet. Allow a call: agw allow ${operand(agent_name)} GET ${EXAMPLE}`,
  },
  integrations: {
    words: [
      ['name', 'name of the API'],
      ['base_url', 'scheme, host and path up to the version segment'],
    ],
    options: ['auth', 'authMember', 'label', 'errorFormat'],
    needs: [NAME, ['a base URL', 'base_url']],
    body: async ([name, base_url], options, { env, terminal }) => ({
      name,
      base_url,
      auth: await givenAuth(options, env, terminal),
      error_format: options.errorFormat,
      labels: options.label === undefined ? undefined : givenLabels(options.label),
    }),
    next: ({ base_url }) => `No agent may call it yet: agw allow AGENT GET ${String(base_url)}/…`,
  },
  connections: {
    words: [['name', 'name of the connection']],
    options: ['integration', 'agent', 'user', 'auth', 'authMember'],
    needs: [NAME, ['--integration', 'integration'], ['--auth', 'auth']],
    path: async (options) => {
      const found = await findResource(options, 'integrations', options.integration ?? '')
      const id = encodeURIComponent(String(found['integration_id']))
      return `/admin/integrations/${id}/connections`
    },
    body: async ([name], options, { env, terminal }) => {
      const { agent, user } = options
      if (agent !== undefined && user !== undefined)
        throw new UsageError(
          'A connection is for an agent or for a user: give one of --agent and --user.',
        )
      const subject =
        agent === undefined
          ? user && `user:${user}`
          : `agent:${await idOf(options, 'agents', agent)}`
      return { name, subject, auth: await givenAuth(options, env, terminal) }
    },
    next: ({ authorize_url, subject }) =>
      typeof authorize_url === 'string'
        ? `Open this address within ten minutes, signed in to the console as the same operator: ${authorize_url}`
        : subject === 'shared'
          ? 'It is used where connection_id of a scope names it.'
          : `It is used for ${String(subject)}.`,
  },
  scopes: {
    words: [['name', 'name of the scope']],
    options: [
      'agent',
      'agentSelector',
      'integration',
      'integrationSelector',
      'allow',
      'tools',
      'rate',
      'expires',
    ],
    needs: [
      NAME,
      ['--agent or --agent-selector', 'agent', 'agentSelector', 'agent_id', 'agent_selector'],
      [
        '--integration or --integration-selector',
        'integration',
        'integrationSelector',
        'integration_id',
        'integration_selector',
      ],
      ['--allow', 'allow', 'rules'],
    ],
    body: async ([name], options) => {
      const { agent, agentSelector, integration, integrationSelector } = options
      const { allow, tools, rate, expires: expires_at } = options
      return {
        name,
        agent_id: agent && (await idOf(options, 'agents', agent)),
        agent_selector: agentSelector && givenSelector(agentSelector),
        integration_id: integration && (await idOf(options, 'integrations', integration)),
        integration_selector: integrationSelector && givenSelector(integrationSelector),
        rules: allow,
        mcp_tools: tools && { allow: tools },
        rate_limiting: rate === undefined ? undefined : { requests_per_minute: rate },
        expires_at,
      }
    },
  },
  keys: {
    words: [['name', 'name of the key']],
    options: ['agent', 'expires'],
    needs: [],
    path: async (options) =>
      options.agent === undefined
        ? '/admin/keys'
        : `/admin/agents/${encodeURIComponent(await idOf(options, 'agents', options.agent))}/keys`,
    body: async ([name], { expires: expires_at }) => ({ name, expires_at }),
    once: ['key', 'Key'],
  },
  webhooks: {
    words: [
      ['name', 'name of the webhook'],
      ['url', 'address of the receiver'],
    ],
    options: ['events'],
    needs: [NAME, ['a URL', 'url'], ['--events', 'events']],
    body: async ([name, url], { events }) => ({ name, url, events }),
  },
  tokens: {
    words: [['email', 'e-mail address of its owner']],
    options: ['role', 'name', 'expires'],
    needs: [
      ['an e-mail address', 'email'],
      ['--role', 'role'],
    ],
    body: async ([email], { role, name, expires: expires_at }) => ({
      email,
      role,
      name,
      expires_at,
    }),
    once: ['token', 'Token'],
  },
}

/** For a shell, where it needs quotes. */
export const quoted = (text: unknown): string =>
  /^[\w@%+=:,./-]+$/.test(String(text)) ? String(text) : inQuotes(String(text))

/** The same for the first argument of a command of ours. */
export const operand = (name: unknown): string =>
  String(name).startsWith('-') ? asOperand(String(name)) : quoted(name)
