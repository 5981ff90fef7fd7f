import { isDeepStrictEqual } from 'node:util'
import type { AdminOptions } from '../deployment/admin-access.ts'
import { type AdminAnswer, callAdmin, messageOf } from '../deployment/call-admin.ts'
import { type Creation, createAll } from './create-all.ts'
import { comparable, withoutKey } from './differences.ts'
import { groupChanges } from './group-changes.ts'
import { isEntry } from './owner-index.ts'
import type { ConfigChange, ConfigPlan } from './plan-changes.ts'
import type { ConfigEntry } from './read-config.ts'
import {
  isObject,
  isOwned,
  type Json,
  pathOf,
  type Section,
  type Owner,
  SECTION_RESOURCES,
} from './section-resources.ts'

/** Creates agents and keeps their keys. */
export type CreateAgents = (wanted: readonly Json[]) => Promise<Creation>

/** Why a change was not made; those before it are, and the next run makes the rest. */
export class NotMade extends Error {
  readonly change: ConfigChange
  /** The answer of the gateway that says why, where it is one. */
  readonly answer: AdminAnswer | null

  constructor(change: ConfigChange, why: string, answer: AdminAnswer | null = null) {
    super(why)
    this.change = change
    this.answer = answer
  }
}

/** A change that is in force. */
export interface MadeChange {
  readonly change: ConfigChange
  /** What the gateway says of a resource that will not work as it is stored. */
  readonly warnings: readonly string[]
}

/**
 * Makes the changes of a plan one after the other, each in force on every edge before the next; new agents, and new scopes, are
 * created in groups.
 * @throws NotMade at the first that cannot be made
 */
export async function* carryOutChanges(
  plan: ConfigPlan,
  options: AdminOptions,
  createAgents: CreateAgents,
): AsyncGenerator<MadeChange> {
  const created = new Map<ConfigEntry, string>()
  for (const group of groupChanges(plan.changes)) {
    const [change] = group
    if (change?.action === 'delete') {
      await remove(change, options)
      yield { change, warnings: [] }
    } else if (change?.action === 'update') {
      const wanted = plan.match.wantedOf(change.entry, created)
      yield { change, warnings: warningsOf(await update(change, wanted, options)) }
    } else {
      const creations = group as readonly Create[]
      const stored = await create(creations, plan, created, options, createAgents)
      for (const [i, one] of creations.entries()) {
        const shown = stored[i] ?? {}
        created.set(one.entry, String(shown[SECTION_RESOURCES[one.entry.kind].id]))
        yield { change: one, warnings: warningsOf(shown) }
      }
    }
  }
}

type Create = ConfigChange & { action: 'create' }

const warningsOf = ({ warnings, status, authorize_url }: Json): readonly string[] => [
  ...(Array.isArray(warnings) ? warnings.map(String) : []),
  ...(status !== 'needs_consent'
    ? []
    : typeof authorize_url === 'string'
      ? [
          `needs consent: open this address within ten minutes, signed in to the console as the same operator: ${authorize_url}`,
        ]
      : ['needs consent: connect it in the console']),
]

/** @returns the resources as the gateway shows them */
async function create(
  changes: readonly Create[],
  plan: ConfigPlan,
  created: ReadonlyMap<ConfigEntry, string>,
  options: AdminOptions,
  createAgents: CreateAgents,
): Promise<readonly Json[]> {
  const kind = changes[0]?.entry.kind ?? 'agents'
  const wanted = changes.map(({ entry }) =>
    isOwned(kind) ? withIds(entry, plan, created) : entry.wanted,
  )
  const creation =
    kind === 'agents'
      ? await createAgents(wanted).catch((error: Error) => {
          throw changes[0] ? new NotMade(changes[0], error.message) : error
        })
      : await createAll(options, kind, wanted)
  if (creation.kind === 'refused') throw notMade(changes, creation.answer)
  return creation.created
}

/** The change because of which none of a group was made, with the issues of that change alone. */
function notMade(changes: readonly Create[], answer: AdminAnswer): NotMade {
  const [first, ...others] = changes
  if (first === undefined) throw new Error('a group has no change')
  if (others.length === 0) return new NotMade(first, messageOf(answer), answer)
  const { details = {}, ...body } = (answer.body ?? {}) as Refused
  const issues = details.issues ?? []
  const index = details.index ?? Number(/^\/data\/(\d+)/.exec(issues[0]?.path ?? '')?.[1] ?? 0)
  const prefix = `/data/${index}`
  const own = issues.flatMap(({ path, message }) =>
    path === prefix || path.startsWith(`${prefix}/`)
      ? [{ path: path.slice(prefix.length), message }]
      : [],
  )
  const one = { ...answer, body: { ...body, details: { ...details, issues: own } } }
  return new NotMade(changes[index] ?? first, messageOf(one), one)
}

interface Refused {
  readonly details?: {
    readonly index?: number
    readonly issues?: readonly { readonly path: string; readonly message: string }[]
  }
}

/** A scope or a connection of the file names its agent and its integration; the gateway wants their ids. */
function withIds(
  entry: ConfigEntry,
  { match }: ConfigPlan,
  created: ReadonlyMap<ConfigEntry, string>,
): Json {
  const { agent, integration: _integration, user, ...settings } = match.wantedOf(entry, created)
  const idOf = (kind: Owner): unknown => {
    const found = match.target(kind, entry.wanted)
    if (found === null || !isEntry(found)) return found?.[SECTION_RESOURCES[kind].id]
    return created.get(found) ?? match.shownOf(found)?.[SECTION_RESOURCES[kind].id]
  }
  const [agent_id, integration_id] = [idOf('agents'), idOf('integrations')]
  const subject =
    agent === undefined
      ? typeof user === 'string'
        ? `user:${user}`
        : 'shared'
      : `agent:${String(agent_id)}`
  const ids = { integration_id, ...(entry.kind === 'scopes' ? { agent_id } : { subject }) }
  return { ...settings, ...Object.fromEntries(Object.entries(ids).filter(([, id]) => id != null)) }
}

async function update(
  change: ConfigChange & { action: 'update' },
  wanted: Json,
  options: AdminOptions,
): Promise<Json> {
  const { entry, shown } = change
  const { method } = SECTION_RESOURCES[entry.kind]
  const { path, etag } = await readUnchanged(change, entry.kind, shown, options)
  const answer = await callAdmin(options, method, path, patchOf(change, wanted), {
    'if-match': etag,
  })
  if (answer.status !== 200) throw new NotMade(change, messageOf(answer), answer)
  return answer.body as Json
}

async function remove(
  change: ConfigChange & { action: 'delete' },
  options: AdminOptions,
): Promise<void> {
  const { path, etag } = await readUnchanged(change, change.kind, change.shown, options)
  const answer = await callAdmin(options, 'DELETE', path, undefined, { 'if-match': etag })
  if (answer.status !== 204) throw new NotMade(change, messageOf(answer), answer)
}

/** Lists have no entity tags, so a resource is read once more, and must be what the plan was made on. */
async function readUnchanged(
  change: ConfigChange,
  kind: Section,
  shown: Json,
  options: AdminOptions,
): Promise<{ readonly path: string; readonly etag: string }> {
  const { id } = SECTION_RESOURCES[kind]
  const path = `${pathOf(kind, shown)}/${encodeURIComponent(String(shown[id]))}`
  const answer = await callAdmin(options, 'GET', path)
  const isSame =
    answer.status === 200 &&
    isDeepStrictEqual(comparable(kind, answer.body as Json), comparable(kind, shown))
  if (isSame && answer.etag !== null) return { path, etag: answer.etag }
  const isThere = answer.status === 200 || answer.status === 404
  throw new NotMade(
    change,
    isThere
      ? 'it was changed concurrently; review it, then run this command again'
      : messageOf(answer),
  )
}

/** The merge patch of an update: all members, but a credential or a secret only where it changes. */
function patchOf(
  { entry: { kind }, shown, members }: ConfigChange & { action: 'update' },
  wanted: Json,
): Json {
  const { agent: _agent, integration: _integration, agent_id: _id, auth, secret, ...plain } = wanted
  const isNew = (name: string): boolean =>
    members.some(({ member }) => member.split('.')[0] === name)
  // A new credential would make a revoked connection active.
  if (kind === 'connections')
    return { name: plain['name'], ...(isNew('auth') ? { auth, status: shown['status'] } : {}) }
  const labels = replacing((shown['labels'] ?? {}) as Json, (wanted['labels'] ?? {}) as Json)
  if (kind === 'agents')
    return {
      ...plain,
      metadata: replacing(comparable(kind, shown)['metadata'] as Json, wanted['metadata'] as Json),
      labels,
    }
  const isNewKey = members.some(({ member }) => member === 'upstream.client_key')
  return {
    ...(kind === 'integrations' && !isNewKey ? withoutKey(plain) : plain),
    ...(kind === 'integrations' ? { labels } : {}),
    ...(kind === 'integrations' && isNew('auth') ? { auth } : {}),
    ...(kind === 'webhooks' && isNew('secret') ? { secret } : {}),
  }
}

/** A merge patch keeps what it does not name, so what is to go is named as null. */
function replacing(current: Json, wanted: Json): Json {
  const gone = Object.keys(current).filter((name) => !Object.hasOwn(wanted, name))
  const kept = Object.entries(wanted).map(([name, value]) => {
    const before = Object.hasOwn(current, name) ? current[name] : undefined
    return [name, isObject(value) && isObject(before) ? replacing(before, value) : value]
  })
  return Object.fromEntries([...gone.map((name) => [name, null]), ...kept])
}
