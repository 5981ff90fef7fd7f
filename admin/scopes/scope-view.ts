import { namedId, SCOPE_DEFAULTS, type Scope } from '../../core/catalogue/model.ts'

/** What a reader of the API sees of a scope. */
export function scopeView(scope: Scope): Record<string, unknown> {
  const {
    organization_id: _,
    agent_id,
    integration_id,
    rate_limiting: rate,
    grant: __,
    ...view
  } = scope
  const owners = { agent_id: namedId(agent_id), integration_id: namedId(integration_id) }
  const { agent_selector, integration_selector } = SCOPE_DEFAULTS
  const { max_response_bytes, over_limit, allow_batches } = SCOPE_DEFAULTS
  const { not_before, expires_at, end_streams } = SCOPE_DEFAULTS
  const { read_tools, token_narrowing, connection_id, users } = SCOPE_DEFAULTS
  const limits = { max_response_bytes, over_limit, allow_batches, read_tools, token_narrowing }
  const times = { not_before, expires_at, end_streams, connection_id, users }
  const rate_limiting = { ...rate, per: rate.per ?? SCOPE_DEFAULTS.rate_limiting.per }
  const defaults = { agent_selector, integration_selector, ...limits, ...times }
  return { ...owners, origin: null, ...defaults, ...view, rate_limiting }
}
