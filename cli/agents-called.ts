import { type AdminOptions, callAdmin, messageOf } from './call-admin.ts'

interface Listed {
  readonly data: readonly { readonly agent_id: string; readonly agent_name: string }[]
  readonly next_cursor: string | null
}

/**
 * The ids of the agents that have a name.
 * @throws with the message of the admin API when it refuses
 */
export async function agentsCalled(options: AdminOptions, name: string): Promise<string[]> {
  const found: string[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const query = new URLSearchParams({ q: name, limit: '200', ...(cursor ? { cursor } : {}) })
    const answer = await callAdmin(options, 'GET', `/admin/agents?${query.toString()}`)
    if (answer.status !== 200) throw new Error(messageOf(answer))
    const { data, next_cursor }: Listed = answer.body as Listed
    for (const { agent_id, agent_name } of data) if (agent_name === name) found.push(agent_id)
    cursor = next_cursor
  }
  return found
}
