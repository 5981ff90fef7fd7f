import type { AdminOptions } from '../deployment/admin-access.ts'
import { callAdmin, messageOf } from '../deployment/call-admin.ts'
import type { ListPage } from '../resources/read-pages.ts'
import { type Json, type Section, SECTIONS, SECTION_RESOURCES } from './section-resources.ts'

/** All resources as the admin API shows them, oldest first. */
export type CurrentConfig = Readonly<Record<Section, readonly Json[]>>

const PAGE = '200'

/**
 * Reads all resources that a configuration can hold.
 * @throws with the message of the admin API when it refuses
 */
export async function readCurrentConfig(options: AdminOptions): Promise<CurrentConfig> {
  const read: Partial<Record<Section, readonly Json[]>> = {}
  for (const kind of SECTIONS) read[kind] = await readAll(options, SECTION_RESOURCES[kind].path)
  return read as CurrentConfig
}

async function readAll(options: AdminOptions, path: string): Promise<readonly Json[]> {
  const found: Json[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const query = new URLSearchParams({ limit: PAGE, ...(cursor ? { cursor } : {}) })
    const answer = await callAdmin(options, 'GET', `${path}?${query.toString()}`)
    if (answer.status !== 200) throw new Error(`${path}: ${messageOf(answer)}`)
    const page = answer.body as ListPage<Json>
    // Without them a dump is incomplete, and a file is compared with less than there is.
    if (page.unreadable !== undefined)
      throw new Error(
        `${path}: a newer version has stored ${page.unreadable.join(', ')}; use an admin service of that version`,
      )
    // What an approval has made ends by itself, and is no configuration.
    found.push(...page.data.filter(({ origin }) => origin == null))
    cursor = page.next_cursor
  }
  return found.reverse()
}
