import type { AdminOptions } from '../access/admin-access.ts'
import { callAdmin, messageOf } from '../call-admin.ts'
import type { ListedKind } from './resource-kinds.ts'

export type ShownResource = Readonly<Record<string, unknown>>

/** The largest page that the admin API returns. */
const PAGE = '200'

/**
 * All resources of a list, page by page.
 * @throws with the message of the admin API when it refuses
 */
export async function* readPages(
  options: AdminOptions,
  { path, has_pages }: Pick<ListedKind, 'path' | 'has_pages'>,
  filter: Readonly<Record<string, string>> = {},
): AsyncGenerator<ShownResource> {
  for (let cursor: string | null = ''; cursor !== null; ) {
    const query = new URLSearchParams({
      ...filter,
      ...(has_pages && { limit: PAGE }),
      ...(cursor && { cursor }),
    })
    const answer = await callAdmin(options, 'GET', `${path}?${query.toString()}`)
    if (answer.status !== 200) throw new Error(messageOf(answer))
    const page = answer.body as { data: readonly ShownResource[]; next_cursor: string | null }
    yield* page.data
    cursor = page.next_cursor
  }
}
