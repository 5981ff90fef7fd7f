import { writeSelector } from '../../core/catalogue/selector-text.ts'
import type { Selector } from '../../core/catalogue/model.ts'
import { matchesSelector } from '../../core/decision/selector.ts'
import type { Agent, Lock } from './api-types.ts'

export type LockTarget = Lock['target']

type NameOf = (id: string) => string

/** What a lock is about, in words. */
export function targetWords(target: LockTarget, agentName: NameOf, apiName: NameOf): string {
  const { agent_id, agent_selector, key_id, scope_id, integration_id, organization_id } = target
  if (agent_id !== undefined) return `agent ${agentName(agent_id)}`
  if (agent_selector !== undefined)
    return `agents with ${writeSelector(agent_selector as unknown as Selector)}`
  if (integration_id !== undefined) return `integration ${apiName(integration_id)}`
  if (scope_id !== undefined) return `scope ${scope_id}`
  if (key_id !== undefined) return `key ${key_id}`
  return organization_id === undefined ? 'everything' : `organization ${organization_id}`
}

export const MODE_WORDS: Readonly<Record<Lock['mode'], string>> = {
  deny: 'paused',
  read_only: 'read-only',
}

/** Whether a lock concerns all calls of an agent. */
export const concernsAgent = ({ target }: Lock, { agent_id, labels }: Agent): boolean =>
  target.agent_id === agent_id ||
  target.everything === true ||
  target.organization_id !== undefined ||
  matchesSelector(target.agent_selector as Selector | undefined, labels)
