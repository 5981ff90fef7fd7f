import { Type } from 'typebox'
import type { LockReceipt } from '../../core/kill/lock-record.ts'
import { type Agent, EVERYWHERE, type Lock } from '../../core/catalogue/model.ts'
import { endOfLock } from '../../core/decision/locks.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { planLift } from './plan-lift.ts'
import { REASON_LENGTH_LIMIT, readReason } from './read-reason.ts'
import { Empty, Id, ListOf, Nullable, Strict } from '../http/common-schemas.ts'
import { checkPrecondition, entityTag } from '../http/entity-tag.ts'
import { DRY_RUN } from '../resources/dry-run.ts'
import { listRecords } from '../resources/records.ts'
import { type AdminCall, defineRoute, type Route } from '../http/define-route.ts'
import { answer, notFound } from '../http/outcome.ts'
import { isDeploymentAdmin } from '../access/sign-in.ts'
import { lockCreateRoutes } from './lock-create-routes.ts'
import { LockView, viewOfLock } from './lock-schemas.ts'

const tag = 'locks'
const LockParams = Strict({ lock_id: Id('Of a lock') })

export const lockRoutes: readonly Route[] = [
  ...lockCreateRoutes,
  defineRoute({
    method: 'GET',
    path: '/admin/locks',
    role: 'viewer',
    tag,
    summary: 'List the locks that are in force, newest first',
    query: Strict({
      organization_id: Type.Optional(
        Type.String({
          maxLength: 128,
          description: 'Of another organization; only with an admin token of the default one',
        }),
      ),
    }),
    answers: { 200: ListOf(LockView) },
    handle: async (call) => {
      const { organization_id = call.actor.organization_id } = call.query
      if (!mayRead(call, organization_id)) return notFound()
      const found = await Promise.all([readAll(call, organization_id), readAll(call, EVERYWHERE)])
      const data = found.flat().sort((a, b) => (a.created_at < b.created_at ? 1 : -1))
      return answer(200, { data, next_cursor: null })
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/admin/locks/:lock_id',
    role: 'viewer',
    tag,
    summary: 'Read a lock with its receipt. It is updated when an edge acknowledges late',
    params: LockParams,
    answers: { 200: LockView },
    handle: async (call) => {
      const found = await findLock(call)
      if (found === null) return notFound()
      const { lock } = found
      const text = await call.context.redis.hget(
        REDIS_KEYS.lockReceipts(lock.organization_id),
        lock.lock_id,
      )
      const receipt = text === null ? null : (JSON.parse(text) as LockReceipt)
      const etag = entityTag(found.text)
      return answer(200, viewOfLock(lock, receipt, isOwn(call, lock)), { etag })
    },
  }),
  defineRoute({
    method: 'DELETE',
    path: '/admin/locks/:lock_id',
    role: 'admin',
    tag,
    summary: 'Lift a lock',
    conditional: true,
    params: LockParams,
    query: Strict(DRY_RUN),
    body: Type.Object({
      reason: Type.Optional(Nullable(Type.String({ maxLength: REASON_LENGTH_LIMIT }))),
    }),
    answers: { 204: Empty },
    handle: async (call) => {
      const found = await findLock(call)
      if (found === null) return notFound()
      const { context, actor } = call
      const { lock } = found
      const isOthers = lock.organization_id === EVERYWHERE || !isOwn(call, lock)
      if (isOthers && !isDeploymentAdmin(actor, context.settings.organizationId))
        return {
          kind: 'refusal',
          error: 'forbidden',
          message: 'Only an admin token of the default organization lifts this lock.',
          details: { role: 'admin' },
        }
      const refused = checkPrecondition(call.headers, found.text)
      const { body, request_id } = call
      const reason = typeof body?.reason === 'string' ? readReason(body.reason) : null
      const by = { actor, request_id, at: context.now() }
      return refused ?? planLift({ ...found, agent_name: await nameOf(call, lock), reason }, by)
    },
  }),
]

interface Found {
  readonly lock: Lock
  readonly text: string
}

/** Null if there is none, or if the caller may not know of it. */
async function findLock(call: AdminCall<{ readonly lock_id: string }>): Promise<Found | null> {
  const { redis } = call.context
  const { lock_id } = call.params
  const organization_id = await redis.hget(REDIS_KEYS.lockPlaces, lock_id)
  if (organization_id === null) return null
  if (organization_id !== EVERYWHERE && !mayRead(call, organization_id)) return null
  const text = await redis.hget(REDIS_KEYS.locks(organization_id), lock_id)
  return text === null ? null : { lock: JSON.parse(text) as Lock, text }
}

/** Of the agent that a lock names. */
async function nameOf({ context }: AdminCall, { organization_id, target }: Lock) {
  if (!('agent_id' in target)) return null
  const agents = REDIS_KEYS.agents(organization_id)
  const [agent] = await listRecords<Agent>(context.redis, agents, [target.agent_id])
  return typeof agent === 'object' && agent !== null ? agent.agent_name : null
}

const mayRead = ({ actor, context }: AdminCall, organization_id: string): boolean =>
  actor.organization_id === organization_id ||
  isDeploymentAdmin(actor, context.settings.organizationId)

const isOwn = ({ actor }: AdminCall, { created_in }: Lock): boolean =>
  actor.organization_id === created_in

/** Those that are over are left out, and removed when there are many. */
async function readAll(call: AdminCall, organization_id: string) {
  const { redis, now } = call.context
  const [texts, receipts] = await Promise.all([
    redis.hvals(REDIS_KEYS.locks(organization_id)),
    redis.hgetall(REDIS_KEYS.lockReceipts(organization_id)),
  ])
  const now_ms = now().getTime()
  return texts
    .map((text) => JSON.parse(text) as Lock)
    .filter((lock) => endOfLock(lock) > now_ms)
    .map((lock) => {
      const receipt = receipts[lock.lock_id]
      const counted = receipt === undefined ? null : (JSON.parse(receipt) as LockReceipt)
      return viewOfLock(lock, counted, isOwn(call, lock))
    })
}
