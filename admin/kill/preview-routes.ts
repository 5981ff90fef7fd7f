import { Type } from 'typebox'
import type { AdminContext } from '../context/admin-context.ts'
import { liveEdgeRecords } from '../../core/control/live-edge-records.ts'
import { readAgentWithKeys } from '../../core/kill/agent-with-keys.ts'
import { readCallCounts } from '../../core/kill/read-call-counts.ts'
import { readStillUsableKeys } from '../../core/kill/read-still-usable-keys.ts'
import { AgentParams, Count, Nullable, Strict } from '../http/common-schemas.ts'
import { defineRoute, type Route } from '../http/define-route.ts'
import { type Answer, answer, notFound, type Refusal } from '../http/outcome.ts'
import { loadOf } from './edge-load.ts'

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
    handle: ({ context, actor, params }) =>
      previewKill(context, actor.organization_id, params.agent_id),
  }),
]

/** Also the answer to a trial of a kill. */
export async function previewKill(
  { redis, settings, now }: AdminContext,
  organization_id: string,
  agent_id: string,
): Promise<Answer | Refusal> {
  const now_ms = now().getTime()
  const [found, edges, counts, organization_keys] = await Promise.all([
    readAgentWithKeys(redis, organization_id, agent_id),
    liveEdgeRecords(redis, settings.killLease_ms),
    readCallCounts(redis, organization_id, agent_id, now_ms),
    readStillUsableKeys(redis, organization_id, agent_id, now_ms),
  ])
  if (found === null) return notFound()
  const name = `${organization_id} ${agent_id}`
  const records = edges.map(({ record }) => record)
  return answer(200, {
    ...loadOf(records, (one) => one === name, true),
    edges: edges.length,
    requests_last_hour: counts.requests_last_hour,
    last_request: counts.last_request,
    keys: found.keys.filter(({ revoked_at }) => revoked_at === null).length,
    organization_keys: [...organization_keys],
  })
}
