import type { ControlTarget } from '../../core/control/control-message.ts'
import { type Scope, SELECTED } from '../../core/catalogue/model.ts'

/** What edges must drop when a scope changes: its agent, or all of the organization where a scope selects them. */
export const scopeTarget = ({
  organization_id,
  agent_id,
}: Pick<Scope, 'organization_id' | 'agent_id'>): ControlTarget =>
  agent_id === SELECTED
    ? { what: 'scopes', organization_id }
    : { what: 'agent', organization_id, agent_id }
