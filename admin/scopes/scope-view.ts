import type { Scope } from '../../core/model.ts'

/** What a reader of the API sees of a scope. */
export function scopeView(scope: Scope): Record<string, unknown> {
  const { organization_id: _, ...view } = scope
  return view
}
