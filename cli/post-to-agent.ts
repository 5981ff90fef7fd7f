import { agentsCalled } from './agents-called.ts'
import { type AdminAnswer, type AdminOptions, callAdmin } from './call-admin.ts'

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
  return first.status === 404 ? post(await findByName(options, agent)) : first
}

async function findByName(options: AdminOptions, name: string): Promise<string> {
  const found = await agentsCalled(options, name)
  const [agent_id, ...more] = found
  if (agent_id === undefined) throw new Error(`No agent has the id or name "${name}".`)
  if (more.length > 0)
    throw new Error(`${found.length} agents are named "${name}"; use an id: ${found.join(', ')}`)
  return agent_id
}
