import type { FileProblem } from './config-text.ts'
import { ConnectionIndex, connectionKey, type Pairs, shownPlaceOf } from './connection-index.ts'
import { differences } from './differences.ts'
import { nearestName } from './nearest-name.ts'
import { groupBy, isEntry, OwnerIndex, type FoundOwner, UNIQUE } from './owner-index.ts'
import type { Config, ConfigEntry } from './read-config.ts'
import type { CurrentConfig } from './read-current-config.ts'
import {
  type Json,
  type Section,
  SECTIONS,
  type Owner,
  OWNERS,
  REFERENCE,
  SECTION_RESOURCES,
} from './section-resources.ts'

/** Matches the entries of the file with the resources of the deployment. */
export interface Match {
  /** The existing resource of an entry; null if it is new. */
  readonly shownOf: (entry: ConfigEntry) => Json | null
  /** What a scope of the file refers to; null if it selects it. */
  readonly target: (kind: Owner, scope: Json) => FoundOwner | null
  /** The members of an entry, with the id of the connection that a scope names. */
  readonly wantedOf: (entry: ConfigEntry, created?: ReadonlyMap<ConfigEntry, string>) => Json
  /** By kind, resources that no entry of the file matches. */
  readonly unnamed: Readonly<Record<Section, readonly Json[]>>
  readonly problems: readonly FileProblem[]
}

type Other = Exclude<Section, Owner>
const OTHERS = SECTIONS.filter((kind): kind is Other => !OWNERS.some((owner) => owner === kind))

/** @param prune whether resources that the file does not name are deleted */
export function matchEntries(config: Config, deployment: CurrentConfig, prune: boolean): Match {
  const entries = Object.fromEntries(
    SECTIONS.map((kind) => [kind, config.entries.filter((entry) => entry.kind === kind)]),
  ) as Record<Section, ConfigEntry[]>
  const pairs: Pairs = new Map()
  const problems: FileProblem[] = []
  const problem: AddProblem = (at, message) =>
    void problems.push(config.text.problemAt(at, message))
  const rest = (kind: Section): readonly Json[] => {
    const taken = new Set(pairs.values())
    return deployment[kind].filter((shown) => !taken.has(shown))
  }
  matchIntegrations(entries.integrations, rest, pairs)
  refuseTakenBaseUrls(entries.integrations, deployment, pairs, problem)
  matchAgents(entries.agents, rest, pairs, problem)

  const indexes = {
    agents: new OwnerIndex('agents', entries.agents, rest('agents')),
    integrations: new OwnerIndex('integrations', entries.integrations, rest('integrations')),
  }
  const target = (kind: Owner, scope: Json): FoundOwner | null => {
    const reference = scope[REFERENCE[kind]]
    return typeof reference === 'string' ? (indexes[kind].find(reference)[0] ?? null) : null
  }
  for (const { kind, at, reference } of config.references) {
    const message = refusalOf(kind, reference, config, indexes[kind], prune)
    if (message !== null) problem(at, message)
  }
  /** The id; the place of one that is new, which equals no id. */
  const idOf = (kind: Owner, scope: Json): unknown => {
    if (scope[REFERENCE[kind]] === undefined) return null
    const found = target(kind, scope)
    if (found === null || !isEntry(found)) return found?.[SECTION_RESOURCES[kind].id]
    return pairs.get(found)?.[SECTION_RESOURCES[kind].id] ?? found.at
  }
  const connections = new ConnectionIndex(config, idOf, pairs, () => rest('connections'))
  const byName = ({ name }: Json): string => String(name)
  // How entries of all other sections are matched. A section that is missing here does not compile.
  const keys: Readonly<Record<Other, MatchKeys>> = {
    connections: {
      ofEntry: (one) => connectionKey(connections.placeOf(one), one),
      ofShown: (one) => connectionKey(shownPlaceOf(one), one),
    },
    scopes: {
      ofEntry: (scope) => {
        const ids = OWNERS.map((kind) => idOf(kind, scope))
        return ids.includes(undefined) ? null : JSON.stringify([...ids, scope['name']])
      },
      ofShown: ({ agent_id, integration_id, name }) =>
        JSON.stringify([agent_id, integration_id, name]),
    },
    webhooks: { ofEntry: byName, ofShown: byName },
  }
  const wantedOf: Match['wantedOf'] = (entry, created) => connections.wantedOf(entry, created)
  for (const kind of OTHERS)
    matchByKey(kind, entries[kind], rest(kind), pairs, { ...keys[kind], wantedOf })
  problems.push(...connections.problems(prune))
  const unnamed = Object.fromEntries(SECTIONS.map((kind) => [kind, rest(kind)])) as Match['unnamed']
  return { shownOf: (entry) => pairs.get(entry) ?? null, target, wantedOf, unnamed, problems }
}

type Rest = (kind: Section) => readonly Json[]
type AddProblem = (at: string, message: string) => void

/** By name and base URL, then by base URL (renamed), then by name (moved), where the match is unambiguous. */
function matchIntegrations(entries: readonly ConfigEntry[], rest: Rest, pairs: Pairs): void {
  for (const members of [['name', 'base_url'], ['base_url'], ['name']]) {
    const keyOf = (one: Json): string => JSON.stringify(members.map((member) => one[member]))
    const shown = groupBy(rest('integrations'), keyOf)
    const open = entries.filter((entry) => !pairs.has(entry))
    for (const [key, group] of groupBy(open, ({ wanted }) => keyOf(wanted))) {
      const found = shown.get(key) ?? []
      if (group[0] && found[0] && group.length === 1 && found.length === 1)
        pairs.set(group[0], found[0])
    }
  }
}

/** The gateway refuses a base URL that another integration has, even one that the same run would change. */
function refuseTakenBaseUrls(
  entries: readonly ConfigEntry[],
  { integrations }: CurrentConfig,
  pairs: Pairs,
  problem: AddProblem,
): void {
  const holders = new Map(integrations.map((shown) => [shown['base_url'], shown]))
  for (const entry of entries) {
    const holder = holders.get(entry.wanted['base_url'])
    if (holder !== undefined && holder !== pairs.get(entry))
      problem(
        `${entry.at}/base_url`,
        `is used by the integration "${String(holder['name'])}" of the deployment; change that one first`,
      )
  }
}

/** By id if the file has one, else by a unique name. */
function matchAgents(
  entries: readonly ConfigEntry[],
  rest: Rest,
  pairs: Pairs,
  problem: AddProblem,
): void {
  const byId = new Map(rest('agents').map((shown) => [shown['agent_id'], shown]))
  for (const entry of entries) {
    const found = byId.get(entry.wanted['agent_id'])
    if (found !== undefined) pairs.set(entry, found)
  }
  const byName = groupBy(rest('agents'), ({ agent_name }) => agent_name)
  for (const entry of entries) {
    if (entry.wanted['agent_id'] !== undefined) continue
    const found = byName.get(String(entry.wanted['agent_name'])) ?? []
    const ids = found.map(({ agent_id }) => String(agent_id)).join(', ')
    if (found.length > 1)
      problem(
        `${entry.at}/agent_name`,
        `is the name of ${found.length} agents; use an agent_id: ${ids}`,
      )
    else if (found[0] !== undefined) pairs.set(entry, found[0])
  }
}

/** Entries and resources with the same key match. Null: an entry whose owner is not known. */
interface MatchKeys {
  readonly ofEntry: (wanted: Json) => string | null
  readonly ofShown: (shown: Json) => string
}

/** Several can have the same key: equal entries are matched first, the others in order. */
function matchByKey(
  kind: Section,
  entries: readonly ConfigEntry[],
  shown: readonly Json[],
  pairs: Pairs,
  key: MatchKeys & Pick<Match, 'wantedOf'>,
): void {
  const byKey = groupBy(shown, key.ofShown)
  const takeFirst = (entry: ConfigEntry, fits: (one: Json) => boolean): void => {
    const there = byKey.get(key.ofEntry(entry.wanted) ?? '') ?? []
    const found = there.findIndex(fits)
    if (found >= 0) pairs.set(entry, there.splice(found, 1)[0] as Json)
  }
  for (const entry of entries)
    takeFirst(entry, (one) => differences(kind, key.wantedOf(entry), one, false).length === 0)
  for (const entry of entries) if (!pairs.has(entry)) takeFirst(entry, () => true)
}

/** Why a reference of a scope cannot be resolved; null if it can. */
function refusalOf(
  kind: Owner,
  reference: string,
  { sections, text }: Config,
  index: OwnerIndex,
  prune: boolean,
): string | null {
  const { name: noun } = SECTION_RESOURCES[kind]
  const found = index.find(reference)
  if (found.length > 1) return `matches ${found.length} ${kind}; use the ${UNIQUE[kind]} instead`
  const [only] = found
  // An entry with an error of its own is still in the file; that error is enough.
  if ((only !== undefined && isEntry(only)) || isMentioned(kind, reference, text.value)) return null
  if (only !== undefined)
    return prune && sections.has(kind)
      ? `names an ${noun} that --prune would delete because it is not in the file`
      : null
  const near = nearestName(reference, index.names)
  const hint = near === null ? '' : `; did you mean ${near}?`
  return `names an unknown ${noun}: it is neither in the file nor in the deployment${hint}`
}

function isMentioned(kind: Owner, reference: string, file: unknown): boolean {
  const items = (file as Json)[kind]
  return (
    Array.isArray(items) &&
    items.some((item: Json | null) =>
      [SECTION_RESOURCES[kind].named_by, UNIQUE[kind]].some(
        (member) => item?.[member] === reference,
      ),
    )
  )
}
