import { SCOPE_DEFAULTS, type Scope } from '../../core/model.ts'

/** What a reader of the API sees of a scope. */
export function scopeView(scope: Scope): Record<string, unknown> {
  const { organization_id: _, ...view } = scope
  const { max_response_bytes, over_limit, allow_batches } = SCOPE_DEFAULTS
  return { max_response_bytes, over_limit, allow_batches, ...view }
}
