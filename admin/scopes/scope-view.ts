import { SCOPE_DEFAULTS, type Scope } from '../../core/model.ts'

/** What a reader of the API sees of a scope. */
export function scopeView(scope: Scope): Record<string, unknown> {
  const { organization_id: _, ...view } = scope
  const { max_response_bytes, over_limit, allow_batches } = SCOPE_DEFAULTS
  const { not_before, expires_at, end_streams } = SCOPE_DEFAULTS
  const limits = { max_response_bytes, over_limit, allow_batches }
  return { ...limits, not_before, expires_at, end_streams, ...view }
}
