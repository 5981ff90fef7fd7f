import type { Scope } from '../../core/catalogue/model.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { conflict, type Refusal } from '../http/outcome.ts'
import { pathsOf } from './check-scope-settings.ts'
import {
  AGENT_PATHS_LIMIT,
  AGENT_SCOPES_LIMIT,
  AGENT_SCOPES_LIMIT_BYTES,
  AGENT_SEGMENTS_LIMIT,
  INTEGRATION_SCOPES_LIMIT,
} from './scope-schemas.ts'
import { segmentsOf } from '../../core/store/segments-of.ts'
import { parseRecord } from '../../core/store/stored-record.ts'

/**
 * Whether an agent may have these scopes in addition to its others. Every edge that the agent calls holds all of its scopes, so
 * together they have limits too. A change that makes a stored scope no larger is always allowed.
 * @param before the stored scope that is changed; null for a new one
 */
export async function checkAgentTotal(
  redis: RedisClient,
  { organization_id, agent_id }: Pick<Scope, 'organization_id' | 'agent_id'>,
  next: readonly Pick<Scope, 'rules' | 'integration_id'>[],
  before: Scope | null,
): Promise<Refusal | null> {
  const own_bytes = next.reduce((sum, scope) => sum + sizeOf(scope), 0)
  const own_paths = next.reduce((sum, scope) => sum + pathsOf(scope), 0)
  const own_segments = next.reduce((sum, scope) => sum + segmentsOf(scope), 0)
  if (
    before !== null &&
    own_bytes <= sizeOf(before) &&
    own_paths <= pathsOf(before) &&
    own_segments <= segmentsOf(before)
  )
    return null
  const stored = await redis.hgetall(REDIS_KEYS.agentScopes(organization_id, agent_id))
  if (before === null && Object.keys(stored).length + next.length > AGENT_SCOPES_LIMIT)
    return conflict('too_many_scopes', `An agent has at most ${AGENT_SCOPES_LIMIT} scopes.`)
  const counts = new Map<string, number>()
  const count = ({ integration_id }: Pick<Scope, 'integration_id'>): void =>
    void counts.set(integration_id, (counts.get(integration_id) ?? 0) + 1)
  for (const scope of next) count(scope)
  let bytes = own_bytes
  let paths = own_paths
  let segments = own_segments
  for (const [scope_id, text] of Object.entries(stored)) {
    if (scope_id === before?.scope_id) continue
    bytes += Buffer.byteLength(text)
    // The others alone are too large; what they contain makes no difference.
    if (bytes > AGENT_SCOPES_LIMIT_BYTES) break
    const scope = parseRecord<Scope>(text)
    paths += pathsOf(scope)
    segments += segmentsOf(scope)
    count(scope)
  }
  if (before === null && next.some(({ integration_id }) => over(counts.get(integration_id))))
    return conflict(
      'too_many_scopes',
      `An agent has at most ${INTEGRATION_SCOPES_LIMIT} scopes for one integration. Combine their rules.`,
    )
  if (bytes > AGENT_SCOPES_LIMIT_BYTES)
    return conflict(
      'scopes_too_large',
      `The scopes of an agent have at most ${AGENT_SCOPES_LIMIT_BYTES} bytes of JSON in all. Remove rules or patterns, or use several agents.`,
    )
  if (paths > AGENT_PATHS_LIMIT)
    return conflict(
      'too_many_paths',
      `The rules of all scopes of an agent have at most ${AGENT_PATHS_LIMIT} paths. Combine paths with * or **, or use several agents.`,
    )
  if (segments > AGENT_SEGMENTS_LIMIT)
    return conflict(
      'too_many_paths',
      `The paths of all scopes of an agent have at most ${AGENT_SEGMENTS_LIMIT} segments. Combine paths with * or **, or use several agents.`,
    )
  return null
}

const over = (count = 0): boolean => count > INTEGRATION_SCOPES_LIMIT

const sizeOf = (scope: object): number => Buffer.byteLength(JSON.stringify(scope))
