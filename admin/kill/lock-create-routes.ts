import { Type } from 'typebox'
import { createLock } from '../../core/kill/create-lock.ts'
import type { LockOrder, NotLocked, UnsignedLockOrder } from '../../core/kill/publish-lock.ts'
import { withRoom } from '../../core/kill/with-room.ts'
import type { AdminContext } from '../context/admin-context.ts'
import { Strict } from '../http/common-schemas.ts'
import { digestOf, REPLAYED } from '../changes/kept-answers.ts'
import { type AdminCall, defineRoute, type Route } from '../http/define-route.ts'
import { IDEMPOTENCY_KEY } from '../http/idempotency-key.ts'
import { type Answer, answer, conflict, invalid, notFound, type Refusal } from '../http/outcome.ts'
import { CreatedLock, LockBody, LockPreview, viewOfLock } from './lock-schemas.ts'
import { previewLock } from './preview-lock.ts'
import { readLockOrder } from './read-lock-order.ts'
import { isTrial } from './is-trial.ts'
import { UNSIGNED_BODY_LIMIT } from '../http/read-any-body.ts'

type By =
  | Pick<LockOrder, 'organization_id' | 'role' | 'actor' | 'repeats'>
  | Pick<UnsignedLockOrder, 'proof' | 'roles' | 'actor' | 'noteUse' | 'repeats'>

/** Null without a key that can be used: a lock never fails for its headers. Another body is another request. */
function repeatsOf(headers: AdminCall['headers'], by: unknown, body: string): string | null {
  const key = headers['idempotency-key']
  return typeof key === 'string' && IDEMPOTENCY_KEY.test(key) ? digestOf([by, key, body]) : null
}

/** Served where kills are. */
export const lockCreateRoutes: readonly Route[] = [
  defineRoute({
    method: 'POST',
    path: '/admin/locks',
    role: 'operator',
    tag: 'locks',
    summary:
      'Lock an agent, agents by labels, a key, a scope, an integration, an organization or everything',
    forgiving: true,
    repeatable: true,
    query: Strict({
      preview: Type.Optional(
        Type.Boolean({ description: 'Answers what it would concern, and locks nothing' }),
      ),
    }),
    body: LockBody,
    answers: { 200: LockPreview, 201: CreatedLock },
    handle: async (call) => {
      const { actor, context, body, request_id, headers } = call
      if (isTrial(call)) return await previewLock(call)
      const { organization_id, role, email, token_id, source_ip } = actor
      const by = { email, token_id, source_ip, request_id, edge_id: null }
      const text = body as unknown as string
      const repeats = repeatsOf(headers, [organization_id, token_id], text)
      const done = await lock(context, text, { organization_id, role, actor: by, repeats })
      return done ?? notFound()
    },
    handleUnsigned: async (call) => {
      const { proof, source_ip, request_id, context, headers } = call
      const body = call.body as unknown as string
      if (isTrial(call) || body.length > UNSIGNED_BODY_LIMIT) return null
      return await lock(context, body, {
        proof,
        roles: ['operator', 'admin'],
        actor: { source_ip, request_id, edge_id: null },
        repeats: repeatsOf(headers, proof, body),
        noteUse: (organization_id, token_id) => context.tokenUses.note(organization_id, token_id),
      })
    },
  }),
]

/** Null if the caller has to sign in first. */
async function lock(context: AdminContext, body: string, by: By): Promise<Answer | Refusal | null> {
  const { settings, now } = context
  const wishes = readLockOrder(body, now().getTime())
  // Only who may lock is told what is wrong.
  if (!('target' in wishes)) return 'proof' in by ? null : invalid(wishes)
  const { ignored, ...order } = wishes
  const parts = { ...context, lease_ms: settings.killLease_ms }
  const default_organization = settings.organizationId
  const done = await withRoom(context, () =>
    createLock(parts, { ...order, ...by, default_organization }),
  )
  if (typeof done === 'string') return refusalOf(done)
  const body_of_lock = { ...viewOfLock(done.lock, done.receipt, true), ignored }
  return answer(201, body_of_lock, done.is_repeated ? REPLAYED : {})
}

function refusalOf(why: NotLocked): Refusal | null {
  switch (why) {
    case 'not_signed_in':
      return null
    case 'unknown_target':
      return notFound('What target names does not exist in this organization. Nothing is locked.')
    case 'too_many':
      return conflict('too_many_locks', 'There are too many locks. Lift some first.')
    case 'not_allowed':
      return {
        kind: 'refusal',
        error: 'forbidden',
        message: 'Only an admin token of the default organization locks everything.',
        details: { role: 'admin' },
      }
  }
}
