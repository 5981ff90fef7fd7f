import { type AdminOptions, callAdmin, messageOf } from '../call-admin.ts'
import { type Json, type Kind, KINDS, RESOURCE_KINDS } from './resource-kinds.ts'

/** What the admin API shows of all resources, the oldest of each kind first. */
export type Installation = Readonly<Record<Kind, readonly Json[]>>

const PAGE = '200'

/**
 * Reads everything that a configuration is about.
 * @throws with the sentence of the admin API when it refuses
 */
export async function readInstallation(options: AdminOptions): Promise<Installation> {
  const read: Partial<Record<Kind, readonly Json[]>> = {}
  for (const kind of KINDS) read[kind] = await readAll(options, RESOURCE_KINDS[kind].path)
  return read as Installation
}

async function readAll(options: AdminOptions, path: string): Promise<readonly Json[]> {
  const found: Json[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const query = new URLSearchParams({ limit: PAGE, ...(cursor ? { cursor } : {}) })
    const answer = await callAdmin(options, 'GET', `${path}?${query.toString()}`)
    if (answer.status !== 200) throw new Error(`${path}: ${messageOf(answer)}`)
    const page = answer.body as {
      readonly data: readonly Json[]
      readonly next_cursor: string | null
    }
    found.push(...page.data)
    cursor = page.next_cursor
  }
  return found.reverse()
}
