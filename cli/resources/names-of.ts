import type { AdminOptions } from '../access/admin-access.ts'
import { readPages, type ShownResource } from './read-pages.ts'
import { type ListedKind, REFERENCES, RESOURCE_KINDS } from './resource-kinds.ts'

/**
 * The names of the agents and integrations that the columns of a table refer to, by their ids. One that is deleted has none, and
 * neither have two with the same name: their ids tell them apart.
 * @throws with the message of the admin API when it refuses
 */
export async function namesOf(
  options: AdminOptions,
  columns: ListedKind['columns'],
  rows: readonly ShownResource[],
): Promise<ReadonlyMap<string, string>> {
  const names = new Map<string, string>()
  for (const [, member] of columns) {
    const resource = REFERENCES.get(member)
    if (resource === undefined) continue
    const kind = RESOURCE_KINDS[resource]
    const wanted = new Set(rows.map((row) => row[member]).filter((id) => typeof id === 'string'))
    const idsByName = new Map<string, string[]>()
    if (wanted.size > 0)
      for await (const { [kind.id]: id, [kind.named_by[0] ?? '']: name } of readPages(
        options,
        kind,
      )) {
        if (!wanted.delete(String(id))) continue
        idsByName.set(String(name), [...(idsByName.get(String(name)) ?? []), String(id)])
        if (wanted.size === 0) break
      }
    for (const [name, [id, ...others]] of idsByName)
      if (id !== undefined && others.length === 0) names.set(id, name)
  }
  return names
}
