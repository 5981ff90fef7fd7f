import type { FileProblem } from './config-text.ts'
import { type FoundOwner, groupBy, isEntry } from './owner-index.ts'
import type { Config, ConfigEntry } from './read-config.ts'
import type { Json, Owner } from './section-resources.ts'

/** The existing resources of entries. */
export type Pairs = Map<ConfigEntry, Json>

/** The only connection of its integration for an agent or a user; of shared ones, those with its name. */
export const connectionKey = (place: string, { name }: Json): string =>
  isShared(place) ? `${place} ${String(name)}` : place

/** Integration and subject. */
export const shownPlaceOf = ({ integration_id, subject }: Json): string =>
  JSON.stringify([integration_id, subject])

const isShared = (place: string): boolean => place.endsWith('"shared"]')

/** Finds the connections that scopes of a file name. */
export class ConnectionIndex {
  readonly #config: Config
  readonly #idOf: (kind: Owner, item: Json) => unknown
  readonly #pairs: Pairs
  readonly #rest: () => readonly Json[]
  readonly #entries: readonly ConfigEntry[]
  #byName: readonly ReadonlyMap<string, readonly FoundOwner[]>[] | null = null

  /**
   * @param idOf what an item refers to
   * @param rest the connections of the deployment that the file does not have; asked when those of the file are matched
   */
  constructor(
    config: Config,
    idOf: (kind: Owner, item: Json) => unknown,
    pairs: Pairs,
    rest: () => readonly Json[],
  ) {
    this.#config = config
    this.#idOf = idOf
    this.#pairs = pairs
    this.#rest = rest
    this.#entries = config.entries.filter(({ kind }) => kind === 'connections')
  }

  /** As `shownPlaceOf`, of an entry. */
  placeOf(connection: Json): string {
    const { agent, user } = connection
    const subject = typeof user === 'string' ? `user:${user}` : 'shared'
    return JSON.stringify([
      this.#idOf('integrations', connection),
      agent === undefined ? subject : `agent:${String(this.#idOf('agents', connection))}`,
    ])
  }

  /** Those that a scope may mean: shared ones, and those of its agent. */
  #find(scope: Json): readonly FoundOwner[] {
    this.#byName ??= [
      groupBy(this.#entries, ({ wanted }) => wanted['name']),
      groupBy(this.#rest(), ({ name }) => name),
    ]
    const integration_id = this.#idOf('integrations', scope)
    const subjects = { shared: 'shared', agent: `agent:${String(this.#idOf('agents', scope))}` }
    const only = scope['connection_subject'] as keyof typeof subjects | undefined
    const places = (only === undefined ? Object.values(subjects) : [subjects[only]]).map(
      (subject) => shownPlaceOf({ integration_id, subject }),
    )
    const [ofFile, others] = this.#byName.map((group) =>
      (group.get(String(scope['connection'])) ?? []).filter((one) =>
        places.includes(isEntry(one) ? this.placeOf(one.wanted) : shownPlaceOf(one)),
      ),
    )
    return ofFile?.length ? ofFile : (others ?? [])
  }

  /** The members of an entry, with the id of the connection that a scope names. */
  wantedOf({ kind, wanted }: ConfigEntry, created?: ReadonlyMap<ConfigEntry, string>): Json {
    const { connection, connection_subject: _, ...settings } = wanted
    if (kind !== 'scopes' || typeof connection !== 'string') return wanted
    const [found = {}] = this.#find(wanted)
    const shown = isEntry(found) ? this.#pairs.get(found) : found
    const made = isEntry(found) ? created?.get(found) : undefined
    return { ...settings, connection_id: shown?.['connection_id'] ?? made ?? `${connection} (new)` }
  }

  /** Connections that cannot be told apart, and names of connections in scopes that lead to none, or to several. */
  problems(prune: boolean): FileProblem[] {
    const { text, entries, sections } = this.#config
    const problems: FileProblem[] = []
    const seen = new Set<string>()
    for (const { at, wanted } of this.#entries) {
      const place = this.placeOf(wanted)
      if (seen.has(place) && !isShared(place))
        problems.push(text.problemAt(`${at}/name`, 'has the agent or user of a connection above'))
      seen.add(place)
    }
    for (const { kind, at, wanted } of entries) {
      if (kind !== 'scopes' || wanted['connection'] === undefined) continue
      const message = this.#refusalOf(wanted, prune && sections.has('connections'))
      if (message !== null) problems.push(text.problemAt(`${at}/connection`, message))
    }
    return problems
  }

  #refusalOf(scope: Json, prunes: boolean): string | null {
    const [found, ...others] = this.#find(scope)
    if (others.length > 0)
      return `matches ${others.length + 1} connections; add connection_subject (shared or agent), or use connection_id`
    if (found === undefined)
      return this.#isFaulty(scope['connection'])
        ? null
        : 'names no connection of the integration that is shared or of the agent, in the file or in the deployment'
    return prunes && !isEntry(found)
      ? 'names a connection that --prune would delete because it is not in the file'
      : null
  }

  /** Whether the file has it with an error of its own; that error is enough. */
  #isFaulty(called: unknown): boolean {
    const written = (this.#config.text.value as Json)['connections']
    return (
      Array.isArray(written) &&
      written.some((item: Json | null) => item?.['name'] === called) &&
      this.#entries.every(({ wanted: { name } }) => name !== called)
    )
  }
}
