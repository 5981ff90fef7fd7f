import type { ApiKey } from '../catalogue/model.ts'

export type KeyProblem = 'invalid_api_key' | 'key_not_allowed' | 'revoked_by_kill'

/** Null if the key may currently be used on the proxy. */
export function checkKey(key: ApiKey, now_ms: number): KeyProblem | null {
  if (key.revoked_at !== null)
    return key.revoked_by === 'kill' ? 'revoked_by_kill' : 'invalid_api_key'
  if (key.expires_at !== null && Date.parse(key.expires_at) <= now_ms) return 'invalid_api_key'
  return key.uses.includes('proxy') ? null : 'key_not_allowed'
}
