import type { Connection, Scope } from '../../core/catalogue/model.ts'
import type { Guard, Write } from '../../core/change/commit.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { forgetScopeConnection } from '../changes/connection-writes.ts'
import { invalid, type Refusal } from '../http/outcome.ts'
import { readRecord } from '../resources/records.ts'

type Naming = Pick<
  Scope,
  'organization_id' | 'scope_id' | 'agent_id' | 'integration_id' | 'connection_id'
>

/** What a scope may name: a connection of its own integration, which is shared or belongs to its own agent. */
export async function checkScopeConnection(
  redis: RedisClient,
  scope: Naming,
  before: Naming | null,
): Promise<
  | Refusal
  | {
      readonly kind: 'checked'
      readonly guards: readonly Guard[]
      readonly writes: readonly Write[]
    }
> {
  const { organization_id: org, connection_id = null, integration_id, agent_id } = scope
  if (connection_id === (before?.connection_id ?? null))
    return { kind: 'checked', guards: [], writes: [] }
  const writes = before === null ? [] : forgetScopeConnection(before)
  if (connection_id === null) return { kind: 'checked', guards: [], writes }
  const hash = REDIS_KEYS.connections(org)
  const found = await readRecord<Connection>(redis, hash, connection_id)
  const subjects: readonly string[] = ['shared', `agent:${agent_id}`]
  const problem =
    found?.record.integration_id !== integration_id
      ? 'no connection of the integration that the scope names has this id'
      : subjects.includes(found.record.subject)
        ? null
        : found.record.subject.startsWith('user:')
          ? 'belongs to a user; list the user in users'
          : 'belongs to another agent'
  if (problem !== null) return invalid([{ path: '/connection_id', message: problem }])
  return {
    kind: 'checked',
    guards: [['HGET', hash, connection_id, true]],
    writes: [
      ...writes,
      ['HSET', REDIS_KEYS.connectionScopes(org, connection_id), scope.scope_id, agent_id],
    ],
  }
}
