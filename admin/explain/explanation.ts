import type { Admission } from '../../core/decision/admission.ts'
import type { CompiledIntegration } from '../../core/policy/compile-integrations.ts'
import type { Reason } from '../../core/reasons.ts'

/** What the gateway would answer, in the order of its checks, up to the scope that governs the call. */
export interface Explanation {
  readonly answer: 'allowed' | 'refused'
  readonly error: Reason | null
  readonly integration: {
    readonly integration_id: string
    readonly name: string
    readonly base_url: string
  } | null
  readonly scope: { readonly scope_id: string; readonly name: string } | null
  /** Position of the deciding rule in its scope, from 0. */
  readonly rule: number | null
  /** All scopes whose settings are in force for the call, the governing one among them. */
  readonly settings_from: readonly string[]
  /** Those of the error that a caller would get. */
  readonly details: Readonly<Record<string, unknown>>
}

/**
 * An admission in the words of the admin API.
 * @throws when a fact is missing: an operator's question comes with all of them
 */
export function explanation(admission: Admission): Explanation {
  switch (admission.kind) {
    case 'missing':
      throw new Error(`the fact ${admission.fact} is missing`)
    case 'not_admitted': {
      const { reason, details, known } = admission
      const { integration } = known
      return {
        answer: 'refused',
        error: reason,
        integration: integration === null ? null : named(integration),
        scope: null,
        rule: null,
        settings_from: [],
        details,
      }
    }
    case 'admitted': {
      const { integration, scope, rule, settings } = admission
      return {
        answer: 'allowed',
        error: null,
        integration: named(integration),
        scope: { scope_id: scope.scope_id, name: scope.name },
        rule,
        settings_from: settings.scope_ids,
        details: {},
      }
    }
  }
}

function named({ integration }: CompiledIntegration): NonNullable<Explanation['integration']> {
  const { integration_id, name, base_url } = integration
  return { integration_id, name, base_url }
}
