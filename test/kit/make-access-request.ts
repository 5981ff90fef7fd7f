import { composeRequest } from '../../core/approval/compose-request.ts'
import {
  type NewRequest,
  takeApproval,
  type WantedApproval,
} from '../../core/approval/take-approval.ts'
import { sealedExcerpt } from '../../core/approval/sealed-excerpt.ts'
import type { KeyRing } from '../../core/keys/seal.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'

/** What an edge tells the store of a call of this agent that needs an approval. */
export async function wantedApproval(
  redis: RedisClient,
  organization_id: string,
  agent_id: string,
  digest = `sha256:${agent_id}`,
): Promise<WantedApproval> {
  const agent = JSON.parse((await redis.hget(REDIS_KEYS.agents(organization_id), agent_id)) ?? '{}')
  const by = { request_id: 'req_1', edge_id: 'edge-1' }
  const revision = agent.revision
  return { organization_id, agent_id, revision, digest, grant_digest: null, by, now: new Date() }
}

let count = 0

export function newRequest(
  wanted: WantedApproval,
  { mark = 'mark', needed = 1, valid_ms = 600_000, approvers = 'operator' as const } = {},
): NewRequest {
  const request_id = `arq_${++count}`
  const call = {
    agent_name: mark,
    integration_id: 'int_1',
    integration_name: mark,
    scope_id: 'scp_1',
    scope_name: mark,
    rule: 0,
    method: 'POST',
    url: `https://${mark}.example.com/`,
    policy_sha256: '',
    integration_sha256: '',
    body_sha256: '',
    body_bytes: 0,
    evaluation_id: 'req_1',
    source_ip: null,
  }
  const more = { request_id, kind: 'call', excerpt: '', reuse: 'once', approvers } as const
  return composeRequest(wanted, call, { ...more, needed: String(needed) }, valid_ms)
}

/** A request in the store; answers its id. */
export async function makeAccessRequest(
  redis: RedisClient,
  organization_id: string,
  agent_id: string,
  mark: string,
  ring: KeyRing | null = null,
): Promise<string> {
  const wanted = await wantedApproval(redis, organization_id, agent_id)
  const ask = newRequest(wanted, { mark })
  const owner = { organization_id, request_id: ask.fields.request_id }
  const shown = { headers: [], body: mark, is_cut: false }
  const excerpt = ring === null ? '' : sealedExcerpt.seal(ring, owner, shown)
  const state = await takeApproval(redis, wanted, { ...ask, fields: { ...ask.fields, excerpt } })
  if (state.kind !== 'pending') throw new Error(`the request is ${state.kind}`)
  return state.request_id
}
