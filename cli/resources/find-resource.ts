import type { AdminOptions } from '../access/admin-access.ts'
import { callAdmin, messageOf } from '../call-admin.ts'
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
  const unreadable: string[] = []
  const found = await namedOrWithId(options, kind, idOrName, unreadable)
  const [first, ...more] = found
  if (first === undefined)
    throw new Error(
      `No ${kind.name} has the ${namingOf(kind)} "${idOrName}".${newerOnes(unreadable)}`,
    )
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
  const kind = RESOURCE_KINDS[resource]
  const { status } = await callAdmin(options, 'GET', `${kind.path}/${encodeURIComponent(idOrName)}`)
  if (status !== 404) return idOrName
  const found = (await namedOrWithId(options, kind, idOrName)).map(idIn(kind))
  if (found.length > 1) throw new Error(severalNamed(kind.name, idOrName, found))
  return found[0] ?? idOrName
}

const idIn =
  ({ id }: ListedKind) =>
  (resource: ShownResource): string =>
    String(resource[id])

const severalNamed = (kind: string, name: string, ids: readonly string[]): string =>
  `${ids.length} ${kind}s are named "${name}"; use an id: ${ids.join(', ')}`

/** One of them may be meant: whoever kills an agent by its name has to learn that its id is needed. */
const newerOnes = (ids: readonly string[]): string =>
  ids.length === 0
    ? ''
    : ` A newer version has stored these, whose names cannot be read; use an id: ${ids.join(', ')}`

/** @param unreadable gets the ids of those that the admin service cannot read */
async function namedOrWithId(
  options: AdminOptions,
  kind: ListedKind,
  idOrName: string,
  unreadable: string[] = [],
): Promise<ShownResource[]> {
  const { id, named_by, has_search } = kind
  const found: ShownResource[] = []
  const filter = has_search ? { q: idOrName } : {}
  for await (const resource of readPages(
    options,
    kind,
    filter,
    (ids) => void unreadable.push(...ids),
  ))
    if ([id, ...named_by].some((member) => resource[member] === idOrName)) found.push(resource)
  return found
}
