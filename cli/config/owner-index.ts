import { readBaseUrl } from '../../admin/integrations/read-base-url.ts'
import type { ConfigEntry } from './read-config.ts'
import { type Json, type Owner, SECTION_RESOURCES } from './section-resources.ts'

/** An entry of the file, or a resource of the deployment that the file does not name. */
export type FoundOwner = ConfigEntry | Json
/** The unique member; names need not be unique. */
export const UNIQUE = { agents: 'agent_id', integrations: 'base_url' } as const

export const isEntry = (target: FoundOwner): target is ConfigEntry => 'wanted' in target
export const membersOf = (target: FoundOwner): Json =>
  isEntry(target) ? (target as ConfigEntry).wanted : (target as Json)

/** Resolves the agent or integration named by a scope: entries of the file come before other resources. */
export class OwnerIndex {
  readonly #kind: Owner
  readonly #tiers: readonly ReadonlyMap<string, readonly FoundOwner[]>[]

  constructor(kind: Owner, entries: readonly ConfigEntry[], unnamed: readonly Json[]) {
    this.#kind = kind
    this.#tiers = [entries, unnamed].flatMap((targets: readonly FoundOwner[]) => [
      groupBy(targets, (target) => membersOf(target)[UNIQUE[kind]]),
      groupBy(targets, (target) => membersOf(target)[SECTION_RESOURCES[kind].named_by]),
    ])
  }

  /** @returns more than one if the name is ambiguous */
  find(reference: string): readonly FoundOwner[] {
    const exact = uniqueOf(this.#kind, reference)
    const found = this.#tiers.map((tier, i) => tier.get(i % 2 === 0 ? exact : reference))
    return found.find((targets) => targets !== undefined) ?? []
  }

  get names(): string[] {
    return [...(this.#tiers[1]?.keys() ?? []), ...(this.#tiers[3]?.keys() ?? [])]
  }
}

/** A reference in the form in which the unique member is stored. */
export function uniqueOf(kind: Owner, reference: string): string {
  const read = kind === 'integrations' ? readBaseUrl(reference) : null
  return read?.ok ? read.base.base_url : reference
}

export function groupBy<T>(all: readonly T[], keyOf: (one: T) => unknown): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const one of all) {
    const key = keyOf(one)
    if (typeof key !== 'string') continue
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [one])
    else group.push(one)
  }
  return groups
}
