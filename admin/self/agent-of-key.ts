import { isWellFormedKey } from '../../core/keys/api-key.ts'
import { checkKey } from '../../core/decision/check-key.ts'
import type { ApiKey } from '../../core/catalogue/model.ts'
import type { Header } from '../../core/request/header.ts'
import { readKey } from '../../core/request/read-key.ts'
import type { Reason } from '../../core/catalogue/reasons.ts'
import { findKey } from '../access/find-key.ts'
import type { AdminContext } from '../context/admin-context.ts'
import { readPolicy, type StoredPolicy } from '../try/read-policy.ts'

/** The agent that asks, with what decides its calls. */
export interface AskingAgent {
  readonly kind: 'agent'
  readonly organization_id: string
  readonly key: ApiKey
  readonly policy: StoredPolicy & { readonly agent: NonNullable<StoredPolicy['agent']> }
}

/** A key of an agent that may ask now. What decides its calls is not read yet. */
export interface AskingKey {
  readonly kind: 'key'
  readonly key: ApiKey & { readonly agent_id: string }
}

export interface NoAgent {
  readonly kind: 'refused'
  readonly reason: Reason
  readonly details: Readonly<Record<string, unknown>>
  /** In how many seconds it may ask again. */
  readonly wait_s?: number
  /** Default: that of the reason. */
  readonly message?: string
}

/** Headers in which SDKs send a key beside `Authorization`. */
const PLACES = [
  { kind: 'header', name: 'x-api-key' },
  { kind: 'header', name: 'x-goog-api-key' },
] as const

/**
 * The agent's own key: a key of the organization names no agent. The refusals are those that a call would get.
 * @param waitOf for how many seconds an agent must not ask
 */
export async function keyOfAgent(
  { redis, now }: Pick<AdminContext, 'redis' | 'now'>,
  headers: readonly Header[],
  waitOf: (key: AskingKey['key']) => number,
): Promise<AskingKey | NoAgent> {
  const presented = readKey(headers, null, PLACES)
  if (presented.kind === 'none') return no('authentication_required')
  if (presented.kind === 'ambiguous') return no('ambiguous_request', { reason: presented.reason })
  if (!isWellFormedKey(presented.key)) return no('invalid_api_key')
  const key = await findKey(redis, presented.key)
  if (key === null) return no('invalid_api_key')
  const { agent_id } = key
  const problem = checkKey(key, now().getTime())
  if (problem === 'revoked_by_kill') return no('agent_killed', { killed_at: key.revoked_at })
  if (problem !== null) return no(problem)
  if (agent_id === null) return no('key_not_allowed')
  const asking = { ...key, agent_id }
  const wait_s = waitOf(asking)
  return wait_s > 0 ? tooMany(wait_s) : { kind: 'key', key: asking }
}

export const tooMany = (wait_s: number): NoAgent => ({ ...no('rate_limit_exceeded'), wait_s })

/** Who asks. */
export async function agentOfKey(
  { redis, now }: Pick<AdminContext, 'redis' | 'now'>,
  { key }: AskingKey,
): Promise<AskingAgent | NoAgent> {
  const { organization_id, agent_id } = key
  const policy = await readPolicy(redis, organization_id, agent_id, now())
  const { agent, killed_at } = policy
  if (agent === null) return no('invalid_api_key')
  if (killed_at !== null) return no('agent_killed', { killed_at })
  if (agent.restore_gap !== undefined) return no('gateway_unavailable', { cause: 'restored' })
  return { kind: 'agent', organization_id, key, policy: { ...policy, agent } }
}

const no = (reason: Reason, details: NoAgent['details'] = {}): NoAgent => ({
  kind: 'refused',
  reason,
  details,
})
