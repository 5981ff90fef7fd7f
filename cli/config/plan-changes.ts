import type { FileProblem } from './config-text.ts'
import { writeSelector } from '../../core/catalogue/selector-text.ts'
import type { Selector } from '../../core/catalogue/model.ts'
import { differences, type MemberChange } from './differences.ts'
import { type Match, matchEntries } from './match-entries.ts'
import { membersOf } from './owner-index.ts'
import type { Config, ConfigEntry } from './read-config.ts'
import type { CurrentConfig } from './read-current-config.ts'
import {
  type Json,
  type Section,
  SECTIONS,
  type Owner,
  isOwned,
  REFERENCE,
  SECTION_RESOURCES,
} from './section-resources.ts'

/** What `agw apply` does to one resource. */
export type ConfigChange =
  | { readonly action: 'create'; readonly entry: ConfigEntry; readonly title: string }
  | {
      readonly action: 'update'
      readonly entry: ConfigEntry
      readonly title: string
      readonly shown: Json
      readonly members: readonly MemberChange[]
    }
  | {
      readonly action: 'delete'
      readonly kind: Section
      readonly title: string
      readonly shown: Json
    }

export interface ConfigPlan {
  /** In dependency order: creations first, deletions last and in reverse. */
  readonly changes: readonly ConfigChange[]
  readonly problems: readonly FileProblem[]
  readonly match: Match
  readonly unchanged: number
  /** Resources that the sections of the file do not name; they stay without `--prune`. */
  readonly unnamed: number
  /** Killed agents that the file names; they stay killed. */
  readonly killed: readonly string[]
}

export interface PlanOptions {
  readonly prune: boolean
  readonly all_secrets: boolean
}

/** Compares the file with the deployment. Nothing may be changed when the plan has errors. */
export function planChanges(
  config: Config,
  deployment: CurrentConfig,
  options: PlanOptions,
): ConfigPlan {
  const match = matchEntries(config, deployment, options.prune)
  const changes: ConfigChange[] = []
  let unchanged = 0
  for (const kind of SECTIONS)
    for (const entry of config.entries) {
      if (entry.kind !== kind) continue
      const shown = match.shownOf(entry)
      const title = titleOf(entry, match)
      const members =
        shown === null ? [] : differences(kind, match.wantedOf(entry), shown, options.all_secrets)
      if (shown === null) changes.push({ action: 'create', entry, title })
      else if (members.length > 0) changes.push({ action: 'update', entry, title, shown, members })
      else unchanged++
    }
  const unnamed = SECTIONS.filter((kind) => config.sections.has(kind)).flatMap((kind) =>
    match.unnamed[kind].map((shown) => ({ kind, shown })),
  )
  if (options.prune) changes.push(...deletions(unnamed, deployment))
  return {
    changes,
    problems: [...config.problems, ...match.problems].sort((a, b) => a.line - b.line),
    match,
    unchanged,
    unnamed: options.prune ? 0 : unnamed.length,
    killed: config.entries.flatMap((entry) =>
      match.shownOf(entry)?.['status'] === 'killed' ? [titleOf(entry, match)] : [],
    ),
  }
}

function titleOf({ kind, wanted }: ConfigEntry, match: Match): string {
  const name = String(wanted[SECTION_RESOURCES[kind].named_by])
  if (!isOwned(kind)) return name
  const integration = nameOfTarget(match, 'integrations', wanted)
  const isForAll = kind === 'connections' && wanted['agent'] === undefined
  const agent = isForAll ? undefined : nameOfTarget(match, 'agents', wanted)
  return kind === 'scopes'
    ? scopeTitle(name, agent, integration)
    : connectionTitle(name, integration, agent, wanted['user'])
}

/** The name of the resource that a scope or connection of the file refers to. */
function nameOfTarget(match: Match, kind: Owner, scope: Json): unknown {
  const found = match.target(kind, scope)
  return found === null
    ? (scope[REFERENCE[kind]] ?? selectorText(scope[`${REFERENCE[kind]}_selector`]))
    : membersOf(found)[SECTION_RESOURCES[kind].named_by]
}

const connectionTitle = (name: string, integration: unknown, agent: unknown, user: unknown) => {
  const of = [
    ...(typeof agent === 'string' ? [`, agent ${agent}`] : []),
    ...(typeof user === 'string' ? [`, user ${user}`] : []),
  ]
  return `${name} (${String(integration)}${of.join('')})`
}

const scopeTitle = (name: string, agent: unknown, integration: unknown): string =>
  `${name} (${String(agent)} → ${String(integration)})`

/** Scopes and connections are deleted with their agent or integration, even if the file has no section of them. */
function deletions(
  unnamed: readonly { readonly kind: Section; readonly shown: Json }[],
  deployment: CurrentConfig,
): ConfigChange[] {
  const gone = new Set(
    unnamed.map(({ kind, shown }) => `${kind} ${String(shown[SECTION_RESOURCES[kind].id])}`),
  )
  const orphans = (['connections', 'scopes'] as const).flatMap((kind) =>
    deployment[kind]
      .filter(
        (shown) =>
          !gone.has(`${kind} ${String(shown[SECTION_RESOURCES[kind].id])}`) &&
          (gone.has(`agents ${String(agentOf(shown))}`) ||
            gone.has(`integrations ${String(shown['integration_id'])}`)),
      )
      .map((shown) => ({ kind, shown })),
  )
  const order = SECTIONS.toReversed()
  return [...unnamed, ...orphans]
    .sort((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind))
    .map(({ kind, shown }) => ({
      action: 'delete',
      kind,
      shown,
      title: titleOfShown(kind, shown, deployment),
    }))
}

/** Of a scope or a connection. */
export const agentOf = ({ agent_id, subject }: Json): unknown =>
  agent_id ?? /^agent:(.*)$/s.exec(String(subject))?.[1]

function titleOfShown(kind: Section, shown: Json, { agents, integrations }: CurrentConfig): string {
  const name = String(shown[SECTION_RESOURCES[kind].named_by])
  if (!isOwned(kind)) return name
  const agent_id = agentOf(shown)
  const agent = agents.find((one) => one['agent_id'] === agent_id)?.['agent_name'] ?? agent_id
  const found = integrations.find((one) => one['integration_id'] === shown['integration_id'])
  const integration = found?.['name'] ?? shown['integration_id']
  if (kind === 'connections')
    return connectionTitle(
      name,
      integration,
      agent,
      /^user:(.*)$/s.exec(String(shown['subject']))?.[1],
    )
  return scopeTitle(
    name,
    agent ?? selectorText(shown['agent_selector']),
    integration ?? selectorText(shown['integration_selector']),
  )
}

const selectorText = (selector: unknown): string => writeSelector(selector as Selector)
