import type { Access, Operator } from './operator.ts'
import { triesAll } from './repetitions.ts'
import { until } from './until.ts'

/** A kill, or a lock of one target and mode: what stops an agent until it is lifted. */
export interface Restriction {
  readonly name: string
  /** What a refused call says. */
  readonly reason: 'agent_killed' | 'locked'
  /** Whether agents of the same organization are stopped too. */
  readonly is_wide: boolean
  /** What has to be done before, if anything: a change of labels waits for each edge that does not answer. */
  readonly prepare: (operator: Operator, access: Access) => Promise<unknown>
  /** Answers the receipt. */
  readonly impose: (operator: Operator, access: Access) => Promise<any>
  readonly lift: (operator: Operator, access: Access) => Promise<unknown>
}

/** On a busy machine an edge may acknowledge after the answer; the kept receipt is completed then. */
export async function completed(operator: Operator, receipt: any): Promise<any> {
  const { kill_id, lock_id } = receipt
  const path = kill_id === undefined ? `locks/${lock_id}` : `kills/${kill_id}`
  if (receipt.complete === true) return receipt
  return await until('all edges have acknowledged', async () => {
    const kept = await operator.send('GET', `/admin/${path}`)
    return kept.complete === true && kept
  })
}

export const KILL: Restriction = {
  name: 'a kill',
  reason: 'agent_killed',
  is_wide: false,
  prepare: () => Promise.resolve(),
  impose: (operator, { agent }) =>
    operator.send('POST', `/admin/agents/${agent.agent_id}/kill`, {}),
  lift: (operator, { agent }) =>
    operator.send('POST', `/admin/agents/${agent.agent_id}/reactivate`, { reason: 'test' }),
}

type TargetOf = (operator: Operator, access: Access) => Promise<object>

const TARGETS: Readonly<Record<string, TargetOf>> = {
  agent: async (_, { agent }) => ({ agent_id: agent.agent_id }),
  selector: async (operator, { agent }) => {
    const labels = { own: agent.agent_id }
    await operator.send('PATCH', `/admin/agents/${agent.agent_id}`, { labels })
    return { agent_selector: { match_labels: labels } }
  },
  key: async (operator, { agent }) => {
    const { data } = await operator.send('GET', `/admin/agents/${agent.agent_id}/keys`)
    return { key_id: data[0].key_id }
  },
  scope: async (_, { scope_id }) => ({ scope_id }),
  integration: async (_, { integration }) => ({ integration_id: integration.integration_id }),
  organization: async (operator) => ({
    organization_id: (await operator.send('GET', '/admin/whoami')).organization_id,
  }),
  everything: async () => ({ everything: true }),
}

/** Every lock: each target in each mode. With `read_only` only calls are stopped that may do more than read. */
export const LOCKS: readonly Restriction[] = (['deny', 'read_only'] as const).flatMap((mode) =>
  Object.entries(TARGETS).map(([target, targetOf]): Restriction => {
    const ids = new Map<string, string>()
    const targets = new Map<string, object>()
    return {
      name: `a lock of the ${target}, ${mode}`,
      reason: 'locked',
      is_wide: target === 'organization' || target === 'everything',
      prepare: async (operator, access) => {
        targets.set(access.agent.agent_id, await targetOf(operator, access))
      },
      impose: async (operator, access) => {
        const named = targets.get(access.agent.agent_id) ?? (await targetOf(operator, access))
        const receipt = await operator.send('POST', '/admin/locks', { target: named, mode })
        ids.set(access.agent.agent_id, receipt.lock_id)
        return receipt
      },
      lift: (operator, access) =>
        operator.send('DELETE', `/admin/locks/${ids.get(access.agent.agent_id)}`, {
          reason: 'test',
        }),
    }
  }),
)

/** All of them with TEST_REPETITIONS=all, and else these. */
export const restrictionsOf = (
  few: readonly Restriction[],
  all: readonly Restriction[] = [KILL, ...LOCKS],
): readonly Restriction[] => (triesAll ? all : few)

export const lockOf = (target: string, mode: 'deny' | 'read_only'): Restriction => {
  const found = LOCKS.find(({ name }) => name === `a lock of the ${target}, ${mode}`)
  if (found === undefined) throw new Error(`there is no lock of ${target}`)
  return found
}
