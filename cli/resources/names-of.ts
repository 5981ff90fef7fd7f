import type { AdminOptions } from '../deployment/admin-access.ts'
import { callAdmin, messageOf } from '../deployment/call-admin.ts'
import type { ShownResource } from './read-pages.ts'
import { type ListedKind, REFERENCES, RESOURCE_KINDS } from './resource-kinds.ts'

/** Requests at a time. A table refers to few of what may be a million agents, so each is read by its id. */
const READS_MAX = 8

/**
 * The names of the agents and integrations that the columns of a table refer to, by their ids. One that is deleted, or that a newer
 * version has stored, has none, and neither have two with the same name: their ids tell them apart.
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
    const { path, named_by } = RESOURCE_KINDS[resource]
    const waiting = [...new Set(rows.map((row) => row[member]))].filter(
      (id) => typeof id === 'string',
    )
    const idsByName = new Map<string, string[]>()
    const read = async (): Promise<void> => {
      for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
        const answer = await callAdmin(options, 'GET', `${path}/${encodeURIComponent(id)}`)
        if (answer.status === 404 || answer.status === 409) continue
        if (answer.status !== 200) throw new Error(messageOf(answer))
        const name = String((answer.body as ShownResource)[named_by[0] ?? ''])
        idsByName.set(name, [...(idsByName.get(name) ?? []), id])
      }
    }
    await Promise.all(Array.from({ length: READS_MAX }, read))
    for (const [name, [id, ...others]] of idsByName)
      if (id !== undefined && others.length === 0) names.set(id, name)
  }
  return names
}
