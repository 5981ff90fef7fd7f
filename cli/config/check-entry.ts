import { Type } from 'typebox'
import type { TSchema } from 'typebox'
import { NewAgent } from '../../admin/agents/agent-schemas.ts'
import { checkLabels } from '../../admin/labels/check-labels.ts'
import type { Labels } from '../../core/catalogue/model.ts'
import { checkMetadata } from '../../admin/agents/check-metadata.ts'
import { mergePatch } from '../../admin/resources/merge-patch.ts'
import { NewConnection } from '../../admin/connections/connection-schemas.ts'
import { checkAuth, checkOwnAuth } from '../../admin/integrations/check-auth.ts'
import { NewIntegration } from '../../admin/integrations/integration-schemas.ts'
import { readBaseUrl } from '../../admin/integrations/read-base-url.ts'
import { canonicalScope } from '../../admin/scopes/canonical-scope.ts'
import { checkScopeSettings } from '../../admin/scopes/check-scope-settings.ts'
import {
  EditableScope,
  NewScope,
  SCOPE_NULLABLE,
  SCOPE_WHOLE,
} from '../../admin/scopes/scope-schemas.ts'
import { checkInput } from '../../admin/http/check-input.ts'
import { Strict, USER_PATTERN } from '../../admin/http/common-schemas.ts'
import { AddressPolicy } from '../../core/egress/address-policy.ts'
import { checkWebhookUrl } from '../../admin/webhooks/check-webhook-url.ts'
import { NewWebhook } from '../../admin/webhooks/webhook-schemas.ts'
import { secretMembers } from '../../core/credential/catalogue.ts'
import { isGivenReference, parseReference } from '../../core/credential/secret-reference.ts'
import type { PlainAuth } from '../../core/store/credential-binding.ts'
import type { Environment } from '../../core/settings/settings.ts'
import { expandTemplate } from './expand-template.ts'
import { fillReferences } from './fill-references.ts'
import { memberHint } from './member-hint.ts'
import {
  isObject,
  type Json,
  OWNERS,
  REFERENCE,
  type Section,
  SECTION_RESOURCES,
} from './section-resources.ts'
import { isUnknownSecret } from './unknown-secrets.ts'
import { withoutNulls } from './without-nulls.ts'

/** `path` is a JSON pointer into the entry. */
export interface EntryIssue {
  readonly path: string
  readonly message: string
}

interface Checked {
  /** Null when there is an issue. */
  readonly wanted: Json | null
  /** The entry as it is in the file, with its template expanded. */
  readonly given: Json
  readonly issues: readonly EntryIssue[]
}

const { agent_id: _agent, integration_id: _integration, ...scopeMembers } = NewScope.properties
const { name: ConnectionName, auth: ConnectionAuth } = NewConnection.properties
/** By name or id, and by name or base URL. */
const Reference = Type.String({ minLength: 1, maxLength: 2048 })

/** An entry of the file is what the admin API takes, but for the ids that a scope or a connection would name. */
const SCHEMAS: Readonly<Record<Section, TSchema>> = {
  integrations: NewIntegration,
  agents: NewAgent,
  connections: Strict({
    name: ConnectionName,
    auth: ConnectionAuth,
    integration: Reference,
    agent: Type.Optional(Reference),
    user: Type.Optional(Type.String({ pattern: `^${USER_PATTERN}$` })),
  }),
  scopes: Strict({
    ...scopeMembers,
    agent: Type.Optional(Reference),
    integration: Type.Optional(Reference),
    connection: Type.Optional(ConnectionName),
    /** Needed where a shared connection and one of the agent have this name. */
    connection_subject: Type.Optional(Type.Enum(['shared', 'agent'])),
  }),
  webhooks: NewWebhook,
}

/** Checks one entry by the schemas and rules of the admin API, and completes it. */
export function checkEntry(kind: Section, item: unknown, env: Environment): Checked {
  if (!isObject(item))
    return { wanted: null, given: {}, issues: [{ path: '', message: 'must be an object' }] }
  const expanded = expandTemplate(kind, item)
  if (expanded.issues.length > 0)
    return { wanted: null, given: expanded.item, issues: expanded.issues }
  const filled = fillSecrets(kind, expanded.item, env)
  const checked = checkInput(SCHEMAS[kind], filled.item)
  const schemaIssues = checked.ok
    ? []
    : checked.issues.map(({ path, message }) => ({
        path,
        message: message + memberHint(kind, SCHEMAS[kind], filled.item, path),
      }))
  const isKnown = ({ path }: EntryIssue): boolean => !isUnknownSecret(valueAt(filled.item, path))
  const issues = [...filled.issues, ...schemaIssues].filter(isKnown)
  const faulty = new Set(issues.map(({ path }) => path.split('/')[1]))
  // What is wrong with one member hides nothing that is wrong with another.
  const sound = Object.fromEntries(
    Object.entries(filled.item).filter(([name]) => !faulty.has(name)),
  )
  const completed = COMPLETE[kind](sound)
  // A member with an error of its own counts as missing there.
  const isNew = ({ path }: EntryIssue): boolean => !issues.some((issue) => issue.path === path)
  issues.push(...completed.issues.filter((issue) => isKnown(issue) && isNew(issue)))
  return { wanted: issues.length === 0 ? completed.wanted : null, given: expanded.item, issues }
}

const valueAt = (item: Json, path: string): unknown =>
  path
    .split('/')
    .slice(1)
    .reduce<unknown>((value, name) => (isObject(value) ? value[name] : undefined), item)

/** A secret that is missing has its error already; it must not have another for what stands in for it. */
const STAND_IN = 'secret'

function fillSecrets(
  kind: Section,
  item: Json,
  env: Environment,
): { readonly item: Json; readonly issues: EntryIssue[] } {
  const issues: EntryIssue[] = []
  const fill = (holder: Json, members: readonly string[], at: string): Json => {
    const filled: Record<string, unknown> = { ...holder }
    for (const member of members) {
      // The gateway reads what a reference names; a file needs no variable for it.
      if (holder[member] === undefined || isGivenReference(holder[member])) continue
      const result = fillReferences(holder[member], env)
      if (!result.ok) issues.push({ path: `${at}/${member}`, message: result.message })
      filled[member] = result.ok ? result.text : STAND_IN
    }
    return filled
  }
  if (kind === 'webhooks') {
    // A URL may be written in the file, and need not: those of Slack and Teams are secret.
    const url = String(item['url']).includes('${') ? ['url'] : []
    const secret = item['secret'] === null ? [] : ['secret']
    return { item: fill(item, [...url, ...secret], ''), issues }
  }
  const { auth, upstream } = item
  if (kind !== 'integrations' && kind !== 'connections') return { item, issues }
  const filled: Record<string, unknown> = { ...item }
  if (isObject(auth)) filled['auth'] = fill(auth, secretMembers(auth['type']), '/auth')
  if (isObject(upstream)) filled['upstream'] = fill(upstream, ['client_key'], '/upstream')
  return { item: filled, issues }
}

/** The gateway has a limit of its own, which only it knows. */
const ANY_BODY_BYTES = Number.POSITIVE_INFINITY
/** What an organization may name is the gateway's to say. */
const isNameable = (ref: string): boolean => parseReference(ref) !== null
/** Which private ranges a webhook may reach is the gateway's to say. */
const ANY_ADDRESS = new AddressPolicy(['0.0.0.0/0', '::/0'])

/** What the schemas cannot say, and the form in which the gateway keeps an entry. Members with errors are not there. */
const COMPLETE: Readonly<
  Record<
    Section,
    (sound: Json) => { readonly wanted: Json; readonly issues: readonly EntryIssue[] }
  >
> = {
  integrations: (sound) => {
    const { base_url, auth } = sound
    const read = typeof base_url === 'string' ? readBaseUrl(base_url) : null
    const issues = isObject(auth) ? checkOwnAuth(auth as PlainAuth, isNameable) : []
    if (read?.ok === false) issues.unshift(read.issue)
    const canonical = read?.ok ? { base_url: read.base.base_url } : {}
    const { defaults } = SECTION_RESOURCES.integrations
    const upstream = {
      ...(defaults['upstream'] as Json),
      ...(sound['upstream'] as Json | undefined),
    }
    issues.push(...checkLabels((sound['labels'] ?? {}) as Labels))
    return { wanted: { ...defaults, ...sound, ...canonical, upstream }, issues }
  },
  agents: (sound) => {
    const metadata = withoutNulls(sound['metadata'] ?? {})
    const labels = (sound['labels'] ?? {}) as Labels
    const issues = [...checkMetadata(metadata), ...checkLabels(labels)]
    const { defaults } = SECTION_RESOURCES.agents
    return { wanted: { ...defaults, ...sound, metadata, labels }, issues }
  },
  connections: (sound) => {
    const { auth, agent, user } = sound
    const issues: EntryIssue[] = isObject(auth) ? checkAuth(auth as PlainAuth, isNameable) : []
    if (agent !== undefined && user !== undefined)
      issues.push({ path: '/user', message: 'must not be given together with agent' })
    return { wanted: sound, issues }
  },
  scopes: (sound) => {
    const { agent, integration, connection, connection_subject, confirm_affected, ...given } = sound
    const special = { whole: SCOPE_WHOLE, nullable: SCOPE_NULLABLE }
    const merged = mergePatch(SECTION_RESOURCES.scopes.defaults, given, special)
    const checked = checkInput(EditableScope, { name: 'none', rules: [], ...merged })
    if (!checked.ok) return { wanted: {}, issues: checked.issues }
    const settings = canonicalScope(checked.value)
    return {
      wanted: {
        ...settings,
        agent,
        integration,
        ...(connection === undefined ? {} : { connection, connection_subject }),
        ...(confirm_affected === undefined ? {} : { confirm_affected }),
      },
      issues: [
        ...ownerIssues(sound),
        ...connectionIssues(sound),
        ...checkScopeSettings(settings, ANY_BODY_BYTES),
      ],
    }
  },
  webhooks: (sound) => {
    const { url, events } = sound
    const problem = typeof url === 'string' ? checkWebhookUrl(url, ANY_ADDRESS) : null
    return {
      wanted: {
        ...SECTION_RESOURCES.webhooks.defaults,
        ...sound,
        events: Array.isArray(events) ? [...(events as string[])].sort() : [],
      },
      issues: problem === null ? [] : [{ path: '/url', message: problem }],
    }
  },
}

function connectionIssues(sound: Json): EntryIssue[] {
  const { connection, connection_id, connection_subject, integration } = sound
  if (connection === undefined)
    return connection_subject === undefined
      ? []
      : [{ path: '/connection_subject', message: 'needs connection, the name of one' }]
  return integration !== undefined && connection_id == null
    ? []
    : [{ path: '/connection', message: 'needs an integration, and no connection_id' }]
}

/** An entry names what its ids would, or selects it. */
const ownerIssues = (sound: Json): readonly EntryIssue[] =>
  OWNERS.flatMap((kind) => {
    const member = REFERENCE[kind]
    const isNamed = sound[member] !== undefined
    const isSelected = (sound[`${member}_selector`] ?? null) !== null
    return isNamed === isSelected
      ? [{ path: `/${member}`, message: `must be given, or ${member}_selector; not both` }]
      : []
  })
