import { isDeepStrictEqual } from 'node:util'
import { Document, isCollection, isPair, isScalar, visit } from 'yaml'
import { isHiddenUrl } from '../../admin/webhooks/hide-webhook-url.ts'
import { secretMembers } from '../../core/credential/catalogue.ts'
import { comparable } from './differences.ts'
import { groupBy, uniqueOf } from './owner-index.ts'
import type { CurrentConfig } from './read-current-config.ts'
import { agentOf } from './plan-changes.ts'
import { isObject, type Json, type Section, SECTION_RESOURCES } from './section-resources.ts'
import { yamlText } from '../terminal/yaml-text.ts'

/** Generated ids are left out of the file; chosen ones are kept. */
const MADE_ID = /^agt_[0-9A-Za-z]{20}$/

/**
 * The deployment as a configuration: defaults left out, secrets as references to environment variables, in an order
 * that depends on nothing but the content (and, among scopes and webhooks that are alike, on their age, as their
 * precedence does).
 */
export function dumpConfig(deployment: CurrentConfig): Readonly<Record<Section, readonly Json[]>> {
  const variables = new VariableNames()
  const { agents, integrations } = deployment
  const agentNames = referencesOf('agents', agents, 'agent_name', 'agent_id')
  const integrationNames = referencesOf('integrations', integrations, 'name', 'base_url')
  return {
    integrations: sorted(integrations, ({ name, base_url }) => [name, base_url]).map((shown) =>
      integrationEntry(shown, variables),
    ),
    agents: sorted(agents, ({ agent_name, agent_id }) => [agent_name, agent_id]).map((shown) => {
      const { agent_id, agent_name } = shown
      const isNamed = MADE_ID.test(String(agent_id)) && agentNames.get(agent_id) === agent_name
      const { metadata, unlisted_hosts, labels } = comparable('agents', shown)
      return {
        agent_name,
        ...(isNamed ? {} : { agent_id }),
        ...withoutDefaults({ metadata, unlisted_hosts, labels }, SECTION_RESOURCES.agents.defaults),
      }
    }),
    connections: sorted(
      deployment.connections.map((shown) => {
        const { name, subject } = shown
        const integration = integrationNames.get(shown['integration_id'])
        const agent = agentNames.get(agentOf(shown))
        const user = String(subject).startsWith('user:') ? String(subject).slice(5) : undefined
        return { shown, integration, agent, user, name }
      }),
      ({ integration, agent, user, name }) => [integration, agent, user, name],
    ).map(({ shown, integration, agent, user, name }) => ({
      name,
      integration,
      ...named('agent', agent),
      ...named('user', user),
      auth: authEntry(`${String(integration)} ${String(name)}`, shown['auth'], variables),
    })),
    scopes: sorted(
      deployment.scopes.map((shown) =>
        scopeEntry(withConnection(shown, deployment.connections), agentNames, integrationNames),
      ),
      ({ agent, integration, priority = SECTION_RESOURCES.scopes.defaults['priority'] }) => [
        agent,
        integration,
        String(priority).padStart(7, '0'),
      ],
    ),
    webhooks: sorted(deployment.webhooks, ({ name, url }) => [name, url]).map((shown) => {
      const { name, url, events, format, ca_certificates, has_secret } = comparable(
        'webhooks',
        shown,
      )
      const secret =
        has_secret === true ? variables.referenceFor(String(name), 'webhook_secret') : null
      const shown_url = isHiddenUrl(String(url))
        ? variables.referenceFor(String(name), 'webhook_url')
        : url
      return {
        name,
        url: shown_url,
        events,
        ...(format === SECTION_RESOURCES.webhooks.defaults['format'] ? {} : { format }),
        ...(ca_certificates == null ? {} : { ca_certificates }),
        ...(secret === null ? {} : { secret }),
      }
    }),
  }
}

/** The file as YAML for people to read and edit. */
export function configAsYaml(config: Readonly<Record<Section, readonly Json[]>>): string {
  const doc = new Document(config, { aliasDuplicateObjects: false })
  doc.commentBefore = HEAD
  visit(doc, {
    Pair: (_, pair) => {
      if (
        isPair(pair) &&
        isScalar(pair.key) &&
        FLOW.includes(String(pair.key.value)) &&
        isCollection(pair.value)
      )
        pair.value.flow = true
    },
  })
  return yamlText(doc)
}

const FLOW = ['methods', 'events']
const HEAD = ` Written by agw dump. Secrets are references to environment variables that must be set where agw apply runs.
 What a member that is left out stands for is in docs/guides/cli.md.`

function integrationEntry(shown: Json, variables: VariableNames): Json {
  const { name, base_url, auth, ...rest } = comparable('integrations', shown)
  return {
    name,
    base_url,
    ...withKey(
      withoutDefaults(rest, SECTION_RESOURCES.integrations.defaults),
      String(name),
      variables,
    ),
    auth: authEntry(String(name), auth, variables),
  }
}

/** A credential with references in place of its secrets. */
function authEntry(name: string, auth: unknown, variables: VariableNames): Json {
  const members = auth as Json
  const secrets = secretMembers(members['type'])
  const entries = Object.entries(members).map(([member, value]) => {
    const secret = secrets.find((one) => member === `${one}_last4`)
    return secret === undefined ? [member, value] : [secret, variables.referenceFor(name, secret)]
  })
  return Object.fromEntries(entries) as Json
}

/** A scope that names a connection by its name, and by its subject where that is needed to tell it from others. */
function withConnection(scope: Json, connections: readonly Json[]): Json {
  const { connection_id = null, agent_id, ...settings } = scope
  const own = connections.find((one) => one['connection_id'] === connection_id)
  const alike = connections.filter(
    ({ name, integration_id, subject }) =>
      name === own?.['name'] &&
      integration_id === own?.['integration_id'] &&
      ['shared', `agent:${String(agent_id)}`].includes(String(subject)),
  )
  const isOwnKind = ({ subject }: Json): boolean => subject === own?.['subject']
  if (own === undefined || alike.filter(isOwnKind).length !== 1) return scope
  const connection_subject = own['subject'] === 'shared' ? 'shared' : 'agent'
  return {
    ...settings,
    agent_id,
    connection: own['name'],
    ...(alike.length === 1 ? {} : { connection_subject }),
  }
}

/** There is a private key where there is a client certificate. */
function withKey(members: Json, name: string, variables: VariableNames): Json {
  const { upstream } = members
  if (!isObject(upstream) || upstream['client_certificate'] === undefined) return members
  const client_key = variables.referenceFor(name, 'client_key')
  return { ...members, upstream: { ...upstream, client_key } }
}

function scopeEntry(
  shown: Json,
  agents: ReadonlyMap<unknown, unknown>,
  integrations: ReadonlyMap<unknown, unknown>,
): Json {
  const { name, rules, ...settings } = comparable('scopes', shown)
  return {
    name,
    ...named('agent', agents.get(shown['agent_id']) ?? shown['agent_id']),
    ...named('integration', integrations.get(shown['integration_id']) ?? shown['integration_id']),
    ...named('connection', shown['connection']),
    ...named('connection_subject', shown['connection_subject']),
    rules,
    ...withoutDefaults(settings, SECTION_RESOURCES.scopes.defaults),
  }
}

/** A scope that selects has no such member. */
const named = (member: string, name: unknown): Json => (name == null ? {} : { [member]: name })

/** How a scope refers to each resource: by name if it is unique, else by a unique member. */
function referencesOf(
  kind: 'agents' | 'integrations',
  all: readonly Json[],
  name: string,
  unique: string,
): ReadonlyMap<unknown, unknown> {
  const { id } = SECTION_RESOURCES[kind]
  const called = groupBy(all, (shown) => shown[name])
  const uniques = new Set(all.map((shown) => shown[unique]))
  return new Map(
    all.map((shown) => {
      const its = String(shown[name])
      const isAlone = called.get(its)?.length === 1 && !uniques.has(uniqueOf(kind, its))
      return [shown[id], isAlone ? its : shown[unique]]
    }),
  )
}

function withoutDefaults(members: Json, defaults: Json): Json {
  const kept = Object.entries(members).flatMap(([name, value]) => {
    const usual = defaults[name]
    if (isDeepStrictEqual(value, usual)) return []
    if (name === 'metadata' || name === 'labels' || !isObject(value) || !isObject(usual))
      return [[name, value] as const]
    return [[name, withoutDefaults(value, usual)] as const]
  })
  return Object.fromEntries(kept)
}

/** By code units, so that the locale does not change the order. The sort is stable. */
function sorted<T>(all: readonly T[], keysOf: (one: T) => readonly unknown[]): readonly T[] {
  const keyed = all.map((one) => ({ one, key: keysOf(one).map(String) }))
  keyed.sort((a, b) => {
    const i = a.key.findIndex((part, at) => part !== b.key[at])
    if (i < 0) return 0
    return (a.key[i] ?? '') < (b.key[i] ?? '') ? -1 : 1
  })
  return keyed.map(({ one }) => one)
}

/** Names for the variables that hold the secrets; each is unique. */
class VariableNames {
  readonly #given = new Set<string>()

  referenceFor(name: string, member: string): string {
    const words = `${name}_${member}`.toUpperCase().replaceAll(/[^A-Z0-9]+/g, '_')
    // The system and this command have a meaning for names such as USERNAME and AGW_TOKEN.
    const isTaken = words.startsWith('AGW_') || !/[A-Z0-9]/i.test(name)
    const base = `${isTaken ? 'SECRET_' : ''}${words.replace(/^_+/, '')}`.replace(/^(?=\d)/, '_')
    let variable = base
    for (let n = 2; this.#given.has(variable); n++) variable = `${base}_${n}`
    this.#given.add(variable)
    return `\${${variable}}`
  }
}
