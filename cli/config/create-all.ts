import type { AdminOptions } from '../deployment/admin-access.ts'
import { type AdminAnswer, callAdmin } from '../deployment/call-admin.ts'
import { BULK } from './group-changes.ts'
import { type Json, pathOf, type Section } from './section-resources.ts'

/** All were created, in the order of the request, or none. */
export type Creation =
  | { readonly kind: 'created'; readonly created: readonly Json[] }
  | { readonly kind: 'refused'; readonly answer: AdminAnswer }

/** Creates resources of a section with one request. */
export async function createAll(
  options: AdminOptions,
  section: Section,
  bodies: readonly Json[],
  headers: Readonly<Record<string, string>> = {},
): Promise<Creation> {
  const [only, ...others] = bodies
  const bulk = others.length === 0 ? undefined : BULK[section]
  const { integration_id, ...connection } = only ?? {}
  const body = section === 'connections' ? connection : only
  const answer =
    bulk === undefined
      ? await callAdmin(options, 'POST', pathOf(section, { integration_id }), body, headers)
      : await callAdmin(options, 'POST', bulk.path, { data: bodies }, headers)
  if (answer.status !== 201) return { kind: 'refused', answer }
  const created = bulk === undefined ? [answer.body] : (answer.body as { data: unknown }).data
  return { kind: 'created', created: created as readonly Json[] }
}
