import { Type } from 'typebox'
import type { LockReceipt } from '../../core/kill/lock-record.ts'
import { type Agent, EVERYWHERE, type Lock } from '../../core/catalogue/model.ts'
import { endOfLock } from '../../core/decision/locks.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { planLift } from './plan-lift.ts'
import { REASON_LENGTH_LIMIT, readReason } from './read-reason.ts'
import {
  Empty,
  Id,
  LIST_LIMIT,
  ListOf,
  Nullable,
  PageQuery,
  Strict,
} from '../http/common-schemas.ts'
import { checkPrecondition, entityTag } from '../http/entity-tag.ts'
import { DRY_RUN } from '../resources/dry-run.ts'
import {
  compareListPlaces,
  type ListPlace,
  NO_CURSOR,
  readCursor,
  writeCursor,
} from '../resources/cursor.ts'
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
      ...PageQuery,
      limit: Type.Optional(
        Type.Integer({ minimum: 1, maximum: LIST_LIMIT, description: 'Default: all of them' }),
      ),
      organization_id: Type.Optional(
        Type.String({
          maxLength: 128,
          description: 'Of another organization; only with an admin token of the default one',
        }),
      ),
    }),
    answers: { 200: ListOf(LockView) },
    handle: async (call) => {
      const { organization_id = call.actor.organization_id, cursor, limit = Infinity } = call.query
      if (!mayRead(call, organization_id)) return notFound()
      const after = cursor === undefined ? null : readCursor(cursor)
      if (cursor !== undefined && after === null) return NO_CURSOR
      const found = await Promise.all([readAll(call, organization_id), readAll(call, EVERYWHERE)])
      const rest = found
        .flat()
        .map((lock) => ({ lock, place: placeOf(lock) }))
        .filter(({ place }) => after === null || compareListPlaces(place, after) > 0)
        .sort((a, b) => compareListPlaces(a.place, b.place))
      const page = rest.slice(0, limit)
      const last = rest.length > page.length ? page.at(-1) : undefined
      return answer(200, {
        data: await viewsOf(
          call,
          page.map(({ lock }) => lock),
        ),
        next_cursor: last === undefined ? null : writeCursor(last.place),
      })
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
      const [view] = await viewsOf(call, [found.lock])
      return answer(200, view, { etag: entityTag(found.text) })
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

const placeOf = ({ created_at, lock_id }: Lock): ListPlace => ({
  score: String(Date.parse(created_at)),
  member: lock_id,
})

/** Those that are over are left out, and removed when there are many. */
async function readAll(
  { context: { redis, now } }: AdminCall,
  organization_id: string,
): Promise<readonly Lock[]> {
  const texts = await redis.hvals(REDIS_KEYS.locks(organization_id))
  const now_ms = now().getTime()
  return texts.map((text) => JSON.parse(text) as Lock).filter((lock) => endOfLock(lock) > now_ms)
}

/** With their receipts, in the same order. */
async function viewsOf(call: AdminCall, locks: readonly Lock[]) {
  const { redis } = call.context
  const receipts = await Promise.all(
    locks.map(({ organization_id, lock_id }) =>
      redis.hget(REDIS_KEYS.lockReceipts(organization_id), lock_id),
    ),
  )
  return locks.map((lock, i) => {
    const text = receipts[i] ?? null
    const receipt = text === null ? null : (JSON.parse(text) as LockReceipt)
    return viewOfLock(lock, receipt, isOwn(call, lock))
  })
}
