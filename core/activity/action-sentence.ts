import type { ActivityEntry } from './activity-entry.ts'
import { wordsOfAction } from './words-of-action.ts'

const text = (value: unknown): string => (typeof value === 'string' ? value : '')

/** Who did what to what, of an `admin_action` entry. */
export function actionSentence({
  agent_id,
  agent_name,
  data,
}: Pick<ActivityEntry, 'agent_id' | 'agent_name' | 'data'>): string {
  const target = text(data['target'])
  const named = target !== '' && target === agent_id ? (agent_name ?? target) : target
  // A sign-in with an unknown token has neither.
  return `${text(data['actor']) || 'Somebody'} ${wordsOfAction(text(data['action']))} ${named || 'an unknown token'}`
}
