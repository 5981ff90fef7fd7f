import type { AdminOptions } from '../access/admin-access.ts'
import { callAdmin, messageOf } from '../call-admin.ts'
import type { AgentWithKey } from './key-book.ts'
import type { Json } from './section-resources.ts'

/**
 * Creates an agent and shows its key before anything else is done.
 * @throws with the message of the gateway when it refuses
 */
export async function createWithKeyShown(
  options: AdminOptions,
  wanted: Json,
  show: (key: AgentWithKey) => void,
): Promise<AgentWithKey> {
  const answer = await callAdmin(options, 'POST', '/admin/agents', wanted)
  if (answer.status !== 201) throw new Error(messageOf(answer))
  const { agent_name, agent_id, api_key, api_key_id } = answer.body as AgentWithKey
  const key = { agent_name, agent_id, api_key, api_key_id }
  show(key)
  return key
}
