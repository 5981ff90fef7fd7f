import type { Agent } from '../model.ts'

/** When the agent was killed, as the store has it; null where it is active. */
export const storedKilledAt = ({ status, killed_at, created_at }: Agent): string | null =>
  status === 'killed' ? (killed_at ?? created_at) : null
