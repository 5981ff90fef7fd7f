import { findResource } from './find-resource.ts'
import type { AdminOptions } from '../deployment/admin-access.ts'
import { type AdminAnswer, callAdmin } from '../deployment/call-admin.ts'

/**
 * Sends a POST about an agent, named by its id or, where no agent has that id, by its name.
 * @throws with a sentence when no agent, or more than one, has the name
 */
export async function postToAgent(
  options: AdminOptions,
  agent: string,
  verb: 'kill' | 'reactivate',
  body: object,
): Promise<AdminAnswer> {
  const post = (agent_id: string): Promise<AdminAnswer> =>
    callAdmin(options, 'POST', `/admin/agents/${encodeURIComponent(agent_id)}/${verb}`, body)
  const first = await post(agent)
  if (first.status !== 404) return first
  const { agent_id } = await findResource(options, 'agents', agent)
  return post(String(agent_id))
}
