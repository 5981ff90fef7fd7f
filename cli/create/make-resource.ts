import type { AdminOptions } from '../deployment/admin-access.ts'
import { callAdmin, messageOf } from '../deployment/call-admin.ts'
import { readPages, type ShownResource } from '../resources/read-pages.ts'
import { RESOURCE_KINDS, type ResourceName } from '../resources/resource-kinds.ts'

/**
 * Creates a resource.
 * @throws with the message of the admin API when it refuses
 */
export async function makeResource(
  options: AdminOptions,
  resource: ResourceName,
  body: object,
): Promise<ShownResource> {
  const answer = await callAdmin(options, 'POST', RESOURCE_KINDS[resource].path, body)
  if (answer.status !== 201) throw new Error(messageOf(answer))
  return answer.body as ShownResource
}

/**
 * The resource with this value; null without one.
 * @throws with a message for the operator when several have it
 */
export async function findBy(
  options: AdminOptions,
  resource: ResourceName,
  member: string,
  value: unknown,
): Promise<ShownResource | null> {
  const kind = RESOURCE_KINDS[resource]
  const filter = kind.named_by.includes(member) && kind.has_search ? { q: String(value) } : {}
  const found: ShownResource[] = []
  for await (const one of readPages(options, kind, filter))
    if (one[member] === value) found.push(one)
  if (found.length > 1) throw new Error(`${found.length} ${kind.name}s have ${String(value)}.`)
  return found[0] ?? null
}
