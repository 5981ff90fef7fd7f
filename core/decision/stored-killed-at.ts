import type { Agent } from '../catalogue/model.ts'

/** When the agent was killed, according to the store; null if it is active. */
export const storedKilledAt = ({ status, killed_at, created_at }: Agent): string | null =>
  status === 'killed' ? (killed_at ?? created_at) : null
