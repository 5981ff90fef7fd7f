import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { AdminToken } from '../../core/catalogue/model.ts'
import type { Actor, AdminContext } from '../context/admin-context.ts'
import type { Streamed } from '../http/outcome.ts'
import { parseRecord } from '../../core/store/stored-record.ts'

const LOOK_INTERVAL_MS = 1_000

type Needed = Pick<AdminContext, 'redis' | 'now'>

/** Ends an answer without end when the token or the session that opened it is no longer in force. */
export function whileInForce(context: Needed, actor: Actor, streamed: Streamed): Streamed {
  return {
    ...streamed,
    write: async (out, gone) => {
      const over = new AbortController()
      const timer = setInterval(() => {
        // A store that does not answer says nothing about the token.
        void isInForce(context, actor).then(
          (is) => is || over.abort(new Error('the token or session is no longer in force')),
          () => undefined,
        )
      }, LOOK_INTERVAL_MS)
      try {
        await streamed.write(out, AbortSignal.any([gone, over.signal]))
      } finally {
        clearInterval(timer)
      }
    },
  }
}

async function isInForce({ redis, now }: Needed, actor: Actor): Promise<boolean> {
  const { organization_id, token_id, session } = actor
  const [text, hasSession] = await Promise.all([
    redis.hget(REDIS_KEYS.adminTokens(organization_id), token_id),
    session === undefined ? 1 : redis.exists(REDIS_KEYS.session(session)),
  ])
  if (text === null || hasSession === 0) return false
  const { expires_at } = parseRecord<AdminToken>(text)
  return expires_at === null || Date.parse(expires_at) > now().getTime()
}
