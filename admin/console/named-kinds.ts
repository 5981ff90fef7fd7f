/** Resources that a form takes by name or id, and the members that hold both. */
export const NAMED_KINDS = {
  agents: { label: 'Agent', word: 'agent', id: 'agent_id', name: 'agent_name' },
  integrations: { label: 'Integration', word: 'API', id: 'integration_id', name: 'name' },
  scopes: { label: 'Scope', word: 'scope', id: 'scope_id', name: 'name' },
} as const
export type NamedKind = keyof typeof NAMED_KINDS
