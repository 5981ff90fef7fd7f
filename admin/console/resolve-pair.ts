import type { Problem } from './api.ts'
import { resolveId } from './resolve-id.ts'

export type ResolvedPair =
  | {
      readonly ok: true
      readonly ids: { readonly agent_id: string; readonly integration_id: string }
    }
  | { readonly ok: false; readonly problem: Problem }

/** The ids of the agent and the integration that a form names. */
export async function resolvePair(
  given: Readonly<Record<string, string | undefined>>,
): Promise<ResolvedPair> {
  const [agent, integration] = await Promise.all([
    resolveId('agents', given['agent_id'] ?? ''),
    resolveId('integrations', given['integration_id'] ?? ''),
  ])
  if (!agent.ok) return agent
  if (!integration.ok) return integration
  return { ok: true, ids: { agent_id: agent.id, integration_id: integration.id } }
}
