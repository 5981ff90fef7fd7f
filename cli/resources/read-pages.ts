import type { AdminOptions } from '../deployment/admin-access.ts'
import { callAdmin, messageOf } from '../deployment/call-admin.ts'
import type { ListedKind } from './resource-kinds.ts'

export type ShownResource = Readonly<Record<string, unknown>>

/** The largest page that the admin API returns. */
const PAGE = '200'

export interface ListPage<T> {
  readonly data: readonly T[]
  readonly next_cursor: string | null
  /** Ids of those that a newer version has stored. */
  readonly unreadable?: readonly string[]
}

/**
 * All resources of a list, page by page.
 * @param onUnreadable gets the ids of those that the admin service cannot read
 * @throws with the message of the admin API when it refuses
 */
export async function* readPages(
  options: AdminOptions,
  { path, has_pages }: Pick<ListedKind, 'path' | 'has_pages'>,
  filter: Readonly<Record<string, string>> = {},
  onUnreadable: (ids: readonly string[]) => void = () => {},
): AsyncGenerator<ShownResource> {
  for (let cursor: string | null = ''; cursor !== null; ) {
    const query = new URLSearchParams({
      ...filter,
      ...(has_pages && { limit: PAGE }),
      ...(cursor && { cursor }),
    })
    const answer = await callAdmin(options, 'GET', `${path}?${query.toString()}`)
    if (answer.status !== 200) throw new Error(messageOf(answer))
    const page = answer.body as ListPage<ShownResource>
    if (page.unreadable !== undefined) onUnreadable(page.unreadable)
    yield* page.data
    cursor = page.next_cursor
  }
}
