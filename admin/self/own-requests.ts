import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { runScript } from '../../core/redis/run-script.ts'
import type { AdminContext } from '../context/admin-context.ts'
import { callOf, type KnownRequest, readRequests } from '../requests/read-requests.ts'
import type { AskingAgent } from './agent-of-key.ts'
import { readWords } from './read-words.ts'

type Asked = Pick<AdminContext, 'redis' | 'clock'>

/** Of the open requests of an agent, the latest to expire. */
const LISTED_MAX = 100
const REQUEST_ID = /^arq_[\w-]{1,64}$/
export const REQUEST_MESSAGE =
  'request_id must be that of one of your requests, which are kept for an hour after their end.'

/** The open requests of the agent. */
export async function listOwnRequests(
  context: Asked,
  { organization_id, policy }: AskingAgent,
): Promise<object> {
  const open = REDIS_KEYS.accessRequestsOf(organization_id, policy.agent.agent_id)
  const ids = await context.redis.zrevrange(open, 0, LISTED_MAX - 1)
  const found = await readRequests(context, organization_id, ids)
  return { data: found.flatMap((known) => (known === null ? [] : [shown(known)])) }
}

/** Null if the agent has no such request. */
export async function readOwnRequest(
  context: Asked,
  { organization_id, policy }: AskingAgent,
  request_id: unknown,
): Promise<object | null> {
  if (typeof request_id !== 'string' || !REQUEST_ID.test(request_id)) return null
  const [known = null] = await readRequests(context, organization_id, [request_id])
  return known?.fields.agent_id === policy.agent.agent_id ? shown(known) : null
}

/**
 * Adds the agent's own words to a pending request, once: approvers must not see other words than those that they decide about.
 * @returns null if that is not possible
 */
export async function justifyRequest(
  context: Asked & Pick<AdminContext, 'scans'>,
  agent: AskingAgent,
  { request_id, justification }: Readonly<Record<string, unknown>>,
): Promise<object | null> {
  if ((await readOwnRequest(context, agent, request_id)) === null) return null
  const words = await readWords(context, agent, justification)
  if (words === null) return null
  const { organization_id, policy } = agent
  const { agent_id, revision } = policy.agent
  const key = REDIS_KEYS.accessRequest(organization_id, String(request_id))
  const args = [agent_id, String(revision), words.justification, words.justification_findings]
  const isNoted = (await runScript(context.redis, 'justify-request', [key], args)) === 1
  return isNoted ? await readOwnRequest(context, agent, request_id) : null
}

/** As its agent may see it: who decides is none of its business. */
function shown({ fields, status }: KnownRequest): object {
  const { request_id, kind, comment = null, justification = null } = fields
  const { method, url } = callOf(fields)
  return {
    request_id,
    kind,
    status,
    method,
    url,
    justification,
    comment: status === 'denied' ? comment : null,
    expires_at: new Date(Number(fields.deadline_ms)).toISOString(),
    next:
      fields.scope_id !== undefined && status === 'approved'
        ? 'Make the call. It is allowed until expires_at.'
        : NEXT[status],
  }
}

const NEXT: Readonly<Record<KnownRequest['status'], string>> = {
  pending: 'Wait for a person to decide, then make exactly the same call again.',
  approved: 'Make exactly the same call again. It passes once.',
  denied: 'Do not make the call again. Tell your user.',
  expired: 'It was not decided in time. Make the call again to ask again.',
  cancelled: 'The request was withdrawn. Make the call again to ask again.',
  failed: 'The approval was used, but the call was not sent. Make the call again to ask again.',
}
