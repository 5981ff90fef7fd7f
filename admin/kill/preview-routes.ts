import { Type } from 'typebox'
import { liveEdgeRecords } from '../../core/control/live-edge-records.ts'
import type { EdgeRecord } from '../../core/control/control-message.ts'
import { readAgentWithKeys } from '../../core/kill/agent-with-keys.ts'
import { readCallCounts } from '../../core/kill/read-call-counts.ts'
import { readStillUsableKeys } from '../../core/kill/read-still-usable-keys.ts'
import { AgentParams, Count, Nullable, Strict } from '../http/common-schemas.ts'
import { defineRoute, type Route } from '../http/define-route.ts'
import { answer, notFound } from '../http/outcome.ts'

/** What a kill would end. */
export const KillPreviewView = Strict({
  in_flight: Nullable(
    Type.Integer({
      description:
        'Calls in flight at the last heartbeats; null if an edge has more busy agents than it reports, and not this one',
    }),
  ),
  tunnels: Nullable(
    Type.Integer({ description: 'The same for open tunnels of the forward proxy' }),
  ),
  edges: Type.Integer({ description: 'Live edges' }),
  requests_last_hour: Count,
  last_request: Nullable(Type.String({ description: 'Path of the last call' })),
  keys: Type.Integer({ description: 'Keys of the agent that would be revoked' }),
  organization_keys: Type.Array(Type.String(), {
    description:
      'Ids of organization keys that it used in the last day; a kill does not revoke them',
  }),
})

export const killPreviewRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: '/admin/agents/:agent_id/kill-preview',
    role: 'viewer',
    tag: 'kill',
    summary: 'Read what a kill would end: calls in flight, tunnels, rate and keys',
    params: AgentParams,
    answers: { 200: KillPreviewView },
    handle: async ({ context, actor: { organization_id }, params: { agent_id } }) => {
      const { redis, settings, now } = context
      const now_ms = now().getTime()
      const [found, edges, counts, organization_keys] = await Promise.all([
        readAgentWithKeys(redis, organization_id, agent_id),
        liveEdgeRecords(redis, settings.killLease_ms),
        readCallCounts(redis, organization_id, agent_id, now_ms),
        readStillUsableKeys(redis, organization_id, agent_id, now_ms),
      ])
      if (found === null) return notFound()
      const loads = edges.map(({ record }) => loadOn(record, organization_id, agent_id))
      return answer(200, {
        in_flight: sumOf(loads, 'calls'),
        tunnels: sumOf(loads, 'tunnels'),
        edges: edges.length,
        requests_last_hour: counts.requests_last_hour,
        last_request: counts.last_request,
        keys: found.keys.filter(({ revoked_at }) => revoked_at === null).length,
        organization_keys: [...organization_keys],
      })
    },
  }),
]

/** What an agent has in flight on an edge. */
interface AgentLoad {
  readonly calls: number
  readonly tunnels: number
}

/** Null if the edge does not say: it is of version 0.2, or reports only its busiest agents. */
function loadOn(
  { in_flight, tunnels = 0, busiest }: EdgeRecord,
  organization_id: string,
  agent_id: string,
): AgentLoad | null {
  if (in_flight + tunnels === 0) return { calls: 0, tunnels: 0 }
  const key = `${organization_id} ${agent_id}`
  const calls = busiest?.calls[key]
  if (calls !== undefined) return { calls, tunnels: busiest?.tunnels?.[key] ?? 0 }
  return busiest?.is_whole === true ? { calls: 0, tunnels: 0 } : null
}

/** Null if an edge does not say. */
function sumOf(loads: readonly (AgentLoad | null)[], member: keyof AgentLoad): number | null {
  let sum = 0
  for (const one of loads) {
    if (one === null) return null
    sum += one[member]
  }
  return sum
}
