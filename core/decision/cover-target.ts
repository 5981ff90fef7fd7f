import { baseUrlOfTarget } from '../request/base-url-of-target.ts'
import type { CompiledIntegration, IntegrationTable } from './compile-integrations.ts'
import { matchIntegration } from './match-integration.ts'
import type { Target } from '../request/parse-target.ts'

export type Coverage =
  | { readonly kind: 'covered'; readonly integration: CompiledIntegration }
  | {
      readonly kind: 'refused'
      readonly reason: 'invalid_target_url' | 'integration_not_found' | 'ambiguous_target'
      readonly details: Readonly<Record<string, unknown>>
      /** The integration of the target as it is written. */
      readonly integration: CompiledIntegration | null
    }

/** The integration that matches the target under every reading of its path, or why there is none. */
export function coverTarget(table: IntegrationTable, target: Target): Coverage {
  const { integration, is_ambiguous } = matchIntegration(table, target)
  if (target.has_empty_segment && integration?.integration.allow_empty_segments !== true)
    return {
      kind: 'refused',
      reason: 'invalid_target_url',
      details: { reason: 'empty_segment' },
      integration,
    }
  if (integration !== null && !is_ambiguous) return { kind: 'covered', integration }
  return {
    kind: 'refused',
    reason: is_ambiguous ? 'ambiguous_target' : 'integration_not_found',
    details: { base_url: baseUrlOfTarget(target) },
    integration,
  }
}
