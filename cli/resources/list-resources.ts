import type { Writable } from 'node:stream'
import { unreadableText } from '../../core/system/unreadable-text.ts'
import type { AdminOptions } from '../deployment/admin-access.ts'
import { terminalJson, terminalText } from '../terminal/terminal-text.ts'
import { textTable } from '../terminal/text-table.ts'
import { idOf } from './find-resource.ts'
import { namesOf } from './names-of.ts'
import { readPages, type ShownResource } from './read-pages.ts'
import {
  FILTERS,
  type ListedKind,
  REFERENCES,
  RESOURCE_KINDS,
  type ResourceName,
} from './resource-kinds.ts'

export interface ListOptions extends AdminOptions {
  readonly limit: number
  readonly query?: string
  readonly status?: string
  readonly severity?: string
  readonly agent?: string
  readonly integration?: string
  /** In ms from now, or a time. */
  readonly expiring?: number | string
}

/**
 * `agw agents list` and its relatives: prints the resources of one kind, as a table or as one JSON array.
 * @returns the exit code
 * @throws with a message for the operator when the admin API does not answer or refuses
 */
export async function listResources(
  name: ResourceName,
  options: ListOptions,
  stdout: Writable,
  stderr: Writable,
): Promise<number> {
  const kind = RESOURCE_KINDS[name]
  const { limit, output } = options
  const { path, filter } = await whereToList(name, options)
  const found: ShownResource[] = []
  const unreadable: string[] = []
  const note = (ids: readonly string[]): void => void unreadable.push(...ids)
  for await (const resource of readPages(options, { ...kind, path }, filter, note)) {
    if (found.length === limit) {
      stderr.write(`Only the first ${limit} are shown. Use --limit for more.\n`)
      break
    }
    found.push(resource)
  }
  if (unreadable.length > 0)
    stderr.write(`${terminalText(unreadableText(kind.name, unreadable))}\n`)
  if (output === 'json') stdout.write(`${terminalJson(found, 2)}\n`)
  else if (found.length === 0 && unreadable.length === 0) stderr.write(`No ${kind.name}s found.\n`)
  else if (found.length > 0) stdout.write(await tableOf(kind, found, options))
  return 0
}

async function tableOf(
  { id, columns, named_by, filters }: ListedKind,
  found: readonly ShownResource[],
  options: AdminOptions,
): Promise<string> {
  const others = columns.filter(([, member]) => member !== id)
  const names = await namesOf(options, others, found)
  const shown = (resource: ShownResource, member: string): string => {
    const text = cellOf(resource, member)
    return REFERENCES.has(member) ? (names.get(text) ?? text) : text
  }
  // A filter takes what its column prints.
  const filtered = [...named_by, ...filters.map((filter) => FILTERS[filter].parameter)]
  const whole = columns.filter(([, member]) => filtered.includes(member))
  return textTable(
    columns.map(([heading]) => heading),
    found.map((resource) => columns.map(([, member]) => shown(resource, member))),
    new Set(whole.map(([heading]) => heading)),
  )
}

/** Keys of an agent have a list of their own. */
async function whereToList(
  name: ResourceName,
  options: ListOptions,
): Promise<{ readonly path: `/${string}`; readonly filter: Record<string, string> }> {
  const kind = RESOURCE_KINDS[name]
  const filter: Record<string, string> = {}
  for (const filterName of kind.filters) {
    if (filterName === 'expiring') {
      if (options.expiring !== undefined) Object.assign(filter, endingWithin(options.expiring))
      continue
    }
    const value = options[filterName]
    if (value === undefined) continue
    const isReference = filterName === 'agent' || filterName === 'integration'
    filter[FILTERS[filterName].parameter] = isReference
      ? await idOf(options, `${filterName}s`, value)
      : value
  }
  const { agent_id, ...rest } = filter
  if (name === 'keys' && agent_id !== undefined)
    return { path: `/admin/agents/${encodeURIComponent(agent_id)}/keys`, filter: rest }
  return { path: kind.path, filter }
}

/** What is not set is a dash, as an empty cell looks like a mistake. */
function cellOf(resource: ShownResource, member: string): string {
  const value = member
    .split('.')
    .reduce<unknown>((part, name) => (part as ShownResource | null | undefined)?.[name], resource)
  if (value === null || value === undefined || value === '') return '-'
  return typeof value === 'object'
    ? JSON.stringify(value)
    : String(value as string | number | boolean)
}

/** What ends at a time itself is among them. */
const endingWithin = (end: number | string): Record<string, string> => ({
  ...(typeof end === 'number' ? { expires_after: new Date().toISOString() } : {}),
  [FILTERS.expiring.parameter]: new Date(
    typeof end === 'number' ? Date.now() + end : Date.parse(end) + 1,
  ).toISOString(),
})
