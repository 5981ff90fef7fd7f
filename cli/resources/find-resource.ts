import type { AdminOptions } from '../deployment/admin-access.ts'
import { callAdmin, messageOf } from '../deployment/call-admin.ts'
import { readPages, type ShownResource } from './read-pages.ts'
import { namingOf, RESOURCE_KINDS, type ListedKind, type ResourceName } from './resource-kinds.ts'

/**
 * The resource with an id or, where none has it as its id, with that name.
 * @throws with a message for the operator when there is none, or more than one has the name
 */
export async function findResource(
  options: AdminOptions,
  resource: ResourceName,
  idOrName: string,
): Promise<ShownResource> {
  const kind = RESOURCE_KINDS[resource]
  if (kind.has_read) {
    const answer = await callAdmin(options, 'GET', `${kind.path}/${encodeURIComponent(idOrName)}`)
    if (answer.status === 200) return answer.body as ShownResource
    if (answer.status !== 404) throw new Error(messageOf(answer))
  }
  const { found, unreadable } = await namedOrWithId(options, kind, idOrName)
  const [first, ...more] = found
  if (first === undefined) throw new Error(noneNamed(kind, idOrName, unreadable))
  if (more.length > 0) throw new Error(severalNamed(kind.name, idOrName, found.map(idIn(kind))))
  return first
}

/**
 * The id that a resource is meant by: of an id, itself, also when the resource was deleted since; else of a name.
 * @throws with a message for the operator when more than one has the name
 */
export async function idOf(
  options: AdminOptions,
  resource: ResourceName,
  idOrName: string,
): Promise<string> {
  const ids = await idsOf(options, resource, idOrName)
  if (ids.length > 1) throw new Error(severalNamed(RESOURCE_KINDS[resource].name, idOrName, ids))
  return ids[0] ?? idOrName
}

/**
 * The ids of all that have this name, or the id itself; none where nothing has the name.
 * @throws with a message for the operator when the name may be that of one that cannot be read
 */
export async function idsOf(
  options: AdminOptions,
  resource: ResourceName,
  idOrName: string,
): Promise<readonly string[]> {
  const kind = RESOURCE_KINDS[resource]
  const { status } = await callAdmin(options, 'GET', `${kind.path}/${encodeURIComponent(idOrName)}`)
  if (status !== 404) return [idOrName]
  const { found, unreadable } = await namedOrWithId(options, kind, idOrName)
  if (found.length > 0) return found.map(idIn(kind))
  if (MADE_ID.test(idOrName)) return [idOrName]
  // As an id, the name of one that cannot be read would select nothing.
  if (unreadable.length > 0) throw new Error(noneNamed(kind, idOrName, unreadable))
  return []
}

const idIn =
  ({ id }: ListedKind) =>
  (resource: ShownResource): string =>
    String(resource[id])

/** As the admin API makes them. */
const MADE_ID = /^[a-z]{3}_\w+$/

/** The operator who kills an agent by its name has to learn that its id is needed. */
const noneNamed = (kind: ListedKind, idOrName: string, unreadable: readonly string[]): string =>
  [
    `No ${kind.name} has the ${namingOf(kind)} "${idOrName}".`,
    ...(unreadable.length > 0
      ? [
          `A newer version has stored these, whose names cannot be read; use an id: ${unreadable.join(', ')}`,
        ]
      : []),
  ].join(' ')

const severalNamed = (kind: string, name: string, ids: readonly string[]): string =>
  `${ids.length} ${kind}s are named "${name}"; use an id: ${ids.join(', ')}`

async function namedOrWithId(
  options: AdminOptions,
  kind: ListedKind,
  idOrName: string,
): Promise<{ readonly found: readonly ShownResource[]; readonly unreadable: readonly string[] }> {
  const { id, named_by, has_search } = kind
  const found: ShownResource[] = []
  const unreadable: string[] = []
  const note = (ids: readonly string[]): void => void unreadable.push(...ids)
  for await (const resource of readPages(options, kind, has_search ? { q: idOrName } : {}, note))
    if ([id, ...named_by].some((member) => resource[member] === idOrName)) found.push(resource)
  return { found, unreadable }
}
