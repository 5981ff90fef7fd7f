import { isWellFormedKey, KEY_PREFIX } from '../../core/keys/api-key.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { runScript } from '../../core/redis/run-script.ts'
import type { Actor, AdminContext } from '../context/admin-context.ts'
import type { Refusal } from '../http/outcome.ts'
import { findKey } from './find-key.ts'
import { readBearer } from './read-bearer.ts'

/**
 * Who calls the webhooks API with an API key: a key of the organization whose uses have `webhooks`.
 * Null where the token is not an API key that is in force, and then it is judged as an admin token. An agent's key
 * opens nothing but the proxy; one that is limited to some agents would see the events of all.
 */
export async function signInWithKey(
  context: AdminContext,
  request: { readonly authorization: string | undefined; readonly source_ip: string | null },
): Promise<Actor | Refusal | null> {
  const { redis, now } = context
  const text = readBearer(request.authorization)
  if (text === null || !text.startsWith(KEY_PREFIX.live) || !isWellFormedKey(text)) return null
  const key = await findKey(redis, text)
  if (key === null) return null
  const { key_id, organization_id, expires_at } = key
  if (key.revoked_at !== null) return null
  if (expires_at !== null && Date.parse(expires_at) <= now().getTime()) return null
  if (key.agent_id !== null || !key.uses.includes('webhooks')) return NOT_FOR_THIS
  if (key.agent_ids !== null) return LIMITED
  const used = runScript(
    redis,
    'note-use',
    [REDIS_KEYS.apiKeys(organization_id), REDIS_KEYS.apiKeyLastUsed(organization_id)],
    [key_id, now().getTime()],
  )
  used.catch(() => undefined)
  return {
    token_id: key_id,
    organization_id,
    email: `key:${key_id}`,
    role: 'admin',
    source_ip: request.source_ip,
  }
}

const NOT_FOR_THIS: Refusal = {
  kind: 'refusal',
  error: 'forbidden',
  message: 'This key is not allowed here. Use an organization key whose uses include "webhooks".',
  details: { uses: ['webhooks'] },
}

const LIMITED: Refusal = {
  kind: 'refusal',
  error: 'forbidden',
  message:
    'This key is limited to some agents, but a webhook receives the events of all agents. Use a key without agent_ids.',
  details: { uses: ['webhooks'] },
}
