import type { Scope, ScopeSettings } from './api-types.ts'

/** What can be changed of a scope. The API refuses the other members of its view. */
export function settingsOf(scope: Scope): ScopeSettings {
  const { scope_id: _, agent_id: __, integration_id: ___, ...stored } = scope
  const { created_at: ____, affected_agents: _____, origin: ______, ...settings } = stored
  return settings
}
