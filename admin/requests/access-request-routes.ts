import type { Static } from 'typebox'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { Id, ListOf, Strict } from '../http/common-schemas.ts'
import { type AdminCall, defineRoute, type Route } from '../http/define-route.ts'
import { entityTag } from '../http/entity-tag.ts'
import { answer, notFound } from '../http/outcome.ts'
import { listPage } from '../resources/list-page.ts'
import {
  AccessRequestView,
  ApprovalBody,
  DecisionBody,
  RequestQuery,
} from './access-request-schemas.ts'
import { type Decide, decideRequest, tagOf } from './decide-request.ts'
import { readLastHours } from './last-hour.ts'
import { type KnownRequest, readRequests, viewOf } from './read-requests.ts'

const tag = 'access requests'
const RequestParams = Strict({ request_id: Id('Of an access request') })

const decideRoute = (what: Decide, summary: string): Route =>
  defineRoute({
    method: 'POST',
    path: `/admin/access-requests/:request_id/${what}`,
    role: 'operator',
    tag,
    summary,
    conditional: true,
    params: RequestParams,
    body: what === 'approve' ? ApprovalBody : DecisionBody,
    answers: { 200: AccessRequestView },
    handle: (call) => decideRequest(call, what),
  })

export const accessRequestRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: '/admin/access-requests',
    role: 'viewer',
    tag,
    summary: 'List requests for approvals, newest first. They are kept for an hour after their end',
    query: RequestQuery,
    answers: { 200: ListOf(AccessRequestView) },
    handle: listRequests,
  }),
  defineRoute({
    method: 'GET',
    path: '/admin/access-requests/:request_id',
    role: 'viewer',
    tag,
    summary: 'Read a request for an approval',
    params: RequestParams,
    answers: { 200: AccessRequestView },
    handle: async ({ context, actor, params }) => {
      const [known] = await readRequests(context, actor.organization_id, [params.request_id])
      if (known == null) return notFound()
      const { redis, clock } = context
      const hours = await readLastHours(redis, actor.organization_id, clock.now().ms)
      return answer(200, viewOf(context, actor, known, hours), { etag: entityTag(tagOf(known)) })
    },
  }),
  decideRoute('approve', 'Allow exactly this call, once, or all calls by its rule for a time'),
  decideRoute('deny', 'Deny the call. The agent is shown the comment'),
  decideRoute('cancel', 'Withdraw a request or an approval that was not used'),
]

async function listRequests({
  context,
  actor,
  query,
}: AdminCall<unknown, Static<typeof RequestQuery>>) {
  const { organization_id } = actor
  const { status, agent_id, per_agent = Infinity } = query
  const open =
    agent_id === undefined
      ? REDIS_KEYS.accessRequestsOpen(organization_id)
      : REDIS_KEYS.accessRequestsOf(organization_id, agent_id)
  const counts = new Map<string, number>()
  const hours = await readLastHours(context.redis, organization_id, context.clock.now().ms)
  return await listPage<KnownRequest>(
    {
      redis: context.redis,
      index: REDIS_KEYS.accessRequestIndex(organization_id),
      ...(status === 'pending' && { among: await context.redis.zrange(open, '0', '-1') }),
      read: (ids) => readRequests(context, organization_id, ids),
      matches: (known) => {
        const of = known.fields.agent_id
        if (status !== undefined && known.status !== status) return false
        if (agent_id !== undefined && of !== agent_id) return false
        const count = (counts.get(of) ?? 0) + 1
        counts.set(of, count)
        return count <= per_agent
      },
    },
    query,
    (records) => records.map((known) => viewOf(context, actor, known, hours)),
  )
}
