import type { AdminOptions } from '../deployment/admin-access.ts'
import { type Creation, createAll } from './create-all.ts'
import { type AgentWithKey, agentWithKey } from './key-book.ts'
import type { Json } from './section-resources.ts'

/** Creates agents and shows their keys before anything else is done. */
export async function createWithKeysShown(
  options: AdminOptions,
  wanted: readonly Json[],
  show: (key: AgentWithKey) => void,
): Promise<Creation> {
  const creation = await createAll(options, 'agents', wanted)
  if (creation.kind === 'created') for (const agent of creation.created) show(agentWithKey(agent))
  return creation
}
