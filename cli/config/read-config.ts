import type { Environment } from '../../core/settings/settings.ts'
import { checkEntry, type EntryIssue } from './check-entry.ts'
import { ConfigText, type FileProblem } from './config-text.ts'
import { nearestName } from './nearest-name.ts'
import {
  isObject,
  type Json,
  type Section,
  SECTIONS,
  type Owner,
  isOwned,
  OWNERS,
  REFERENCE,
} from './section-resources.ts'

/** One resource of the file: complete, with the API's defaults, in the form that is stored. */
export interface ConfigEntry {
  readonly kind: Section
  /** Position in the file, as a JSON pointer. */
  readonly at: string
  readonly wanted: Json
  /** What the file itself says, without defaults. */
  readonly given: Json
}

export interface OwnerReference {
  readonly kind: Owner
  readonly at: string
  readonly reference: string
}

export interface Config {
  readonly text: ConfigText
  /** Entries without errors. */
  readonly entries: readonly ConfigEntry[]
  /** What scopes and connections refer to, including those with errors. */
  readonly references: readonly OwnerReference[]
  /** Sections present in the file. Resources of other sections are not managed by it. */
  readonly sections: ReadonlySet<Section>
  readonly problems: readonly FileProblem[]
}

/** Parses a configuration. Lists all errors that can be found without the deployment, in file order. */
export function readConfig(source: string, env: Environment): Config {
  const text = new ConfigText(source)
  const entries: ConfigEntry[] = []
  const references: OwnerReference[] = []
  const issues: EntryIssue[] = []
  const { value } = text
  const sections = new Set<Section>()
  if (!isObject(value)) {
    if (text.problems.length === 0)
      issues.push({ path: '', message: `must have sections: ${SECTIONS.join(', ')}` })
  } else
    for (const [section, items] of Object.entries(value)) {
      const kind = SECTIONS.find((known) => known === section)
      if (kind === undefined) issues.push(unknownSection(section))
      else if (!Array.isArray(items))
        issues.push({ path: `/${kind}`, message: 'must be a list; write [] for none' })
      else {
        sections.add(kind)
        for (const [i, item] of items.entries()) {
          const at = `/${kind}/${i}`
          const checked = checkEntry(kind, item, env)
          for (const { path, message } of checked.issues) issues.push({ path: at + path, message })
          if (checked.wanted !== null)
            entries.push({ kind, at, wanted: checked.wanted, given: checked.given })
          if (isOwned(kind)) references.push(...referencesOf(item, at))
        }
      }
    }
  issues.push(...findTwins(entries))
  return {
    text,
    entries,
    references,
    sections,
    problems: [
      ...text.problems,
      ...issues.map(({ path, message }) => text.problemAt(path, message)),
    ],
  }
}

function referencesOf(item: unknown, at: string): OwnerReference[] {
  return OWNERS.flatMap((kind) => {
    const reference = isObject(item) ? item[REFERENCE[kind]] : undefined
    return typeof reference === 'string'
      ? [{ kind, at: `${at}/${REFERENCE[kind]}`, reference }]
      : []
  })
}

function unknownSection(section: string): EntryIssue {
  const near = nearestName(section, SECTIONS)
  const hint = near === null ? `the sections are ${SECTIONS.join(', ')}` : `did you mean ${near}?`
  return { path: `/${section}`, message: `is not a known section; ${hint}` }
}

/** Identifying members must be unique. */
function findTwins(entries: readonly ConfigEntry[]): EntryIssue[] {
  const issues: EntryIssue[] = []
  const seen = new Set<string>()
  for (const { kind, at, wanted } of entries) {
    const member =
      kind === 'integrations'
        ? 'base_url'
        : kind === 'agents'
          ? wanted['agent_id'] === undefined
            ? 'agent_name'
            : 'agent_id'
          : null
    if (member === null) continue
    const key = JSON.stringify([kind, member, wanted[member]])
    if (seen.has(key)) issues.push({ path: `${at}/${member}`, message: TWIN[member] })
    seen.add(key)
  }
  return issues
}

const TWIN = {
  base_url: 'is used by an integration above',
  agent_id: 'is used by an agent above',
  agent_name: 'is used by an agent above; add an agent_id to each',
} as const
