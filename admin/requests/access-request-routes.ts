import type { Static } from 'typebox'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { Id, ListOf, Strict } from '../http/common-schemas.ts'
import { type AdminCall, defineRoute, type Route } from '../http/define-route.ts'
import { entityTag } from '../http/entity-tag.ts'
import { answer, notFound } from '../http/outcome.ts'
import { listPage } from '../resources/list-page.ts'
import { AccessRequestView, DecisionBody, RequestQuery } from './access-request-schemas.ts'
import { type Decide, decideRequest, tagOf } from './decide-request.ts'
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
    body: DecisionBody,
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
      return answer(200, viewOf(context, actor, known), { etag: entityTag(tagOf(known)) })
    },
  }),
  decideRoute('approve', 'Allow exactly this call, once'),
  decideRoute('deny', 'Deny the call. The agent is shown the comment'),
  decideRoute('cancel', 'Withdraw a request or an approval that was not used'),
]

async function listRequests({
  context,
  actor,
  query,
}: AdminCall<unknown, Static<typeof RequestQuery>>) {
  const { organization_id } = actor
  const { status, agent_id } = query
  return await listPage<KnownRequest>(
    {
      redis: context.redis,
      index: REDIS_KEYS.accessRequestIndex(organization_id),
      read: (ids) => readRequests(context, organization_id, ids),
      ...(status === undefined && agent_id === undefined
        ? {}
        : {
            matches: (known) =>
              (status === undefined || known.status === status) &&
              (agent_id === undefined || known.fields.agent_id === agent_id),
          }),
    },
    query,
    (records) => records.map((known) => viewOf(context, actor, known)),
  )
}
