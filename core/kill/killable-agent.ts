import type { Agent } from '../catalogue/model.ts'

/**
 * What a kill reads and writes of an agent, apart from its name. Members of these names mean the same in every format of stored
 * records, so that a process of an older version can kill an agent.
 */
export type KillableAgent = Pick<
  Agent,
  | 'organization_id'
  | 'agent_id'
  | 'agent_name'
  | 'status'
  | 'revision'
  | 'killed_at'
  | 'kill_reason'
>

/**
 * Of an agent in the format of a newer version. Its name may not be readable, so its id stands for it. A member that is not as
 * expected counts as that of an agent that was never killed, since nothing may stop a kill.
 */
export function newerAgent(text: string, organization_id: string, agent_id: string): KillableAgent {
  const record = JSON.parse(text) as Readonly<Record<string, unknown>>
  const { status, revision, killed_at, kill_reason } = record
  return {
    organization_id,
    agent_id,
    agent_name: agent_id,
    status: status === 'killed' ? 'killed' : 'active',
    revision: Number.isSafeInteger(revision) ? (revision as number) : 0,
    killed_at: textOf(killed_at),
    kill_reason: textOf(kill_reason),
  }
}

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null)
