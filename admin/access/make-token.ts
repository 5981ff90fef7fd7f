import type { Static } from 'typebox'
import type { AdminToken } from '../../core/catalogue/model.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { AdminCall } from '../http/define-route.ts'
import { type Refusal, conflict, invalid } from '../http/outcome.ts'
import { readFutureTime } from '../http/read-future-time.ts'
import type { Made } from '../resources/resource.ts'
import { planKeyNotice } from '../keys/key-ends.ts'
import { newToken } from './new-token.ts'
import { type NewToken, TOKENS_LIMIT } from './token-schemas.ts'

/** A token of the actor's organization, or, by the default one, of another. */
export async function makeToken(
  call: AdminCall<unknown, unknown, Static<typeof NewToken>>,
): Promise<Made<AdminToken> | Refusal> {
  const { context, actor, body } = call
  const { redis, settings } = context
  const org = body.organization_id ?? actor.organization_id
  if (org !== actor.organization_id && actor.organization_id !== settings.organizationId)
    return {
      kind: 'refusal',
      error: 'forbidden',
      message: 'Only tokens of the default organization can create tokens for other organizations.',
      details: { role: 'admin' },
    }
  const now = context.now()
  const expiry = body.expires_at ? readFutureTime(body.expires_at, now, '/expires_at') : null
  if (expiry !== null && !expiry.ok) return invalid([expiry.issue])
  const [exists, count] = await Promise.all([
    redis.hexists(REDIS_KEYS.organizations, org),
    redis.zcard(REDIS_KEYS.adminTokenIndex(org)),
  ])
  if (exists === 0)
    return invalid([{ path: '/organization_id', message: 'no organization has this id' }])
  if (count >= TOKENS_LIMIT)
    return conflict('too_many_tokens', `An organization has at most ${TOKENS_LIMIT} tokens.`)
  const made = newToken({
    organization_id: org,
    email: body.email,
    role: body.role,
    name: body.name ?? 'token',
    created_at: now.toISOString(),
    expires_at: expiry?.time ?? null,
  })
  return {
    kind: 'made',
    record: made.record,
    guards: [['HGET', REDIS_KEYS.organizations, org, true]],
    writes: [made.link, ...planKeyNotice(made.record.token_id, made.record)],
    shown_once: { token: made.token },
  }
}
