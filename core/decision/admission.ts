import type { Agent, ApiKey, Scope } from '../model.ts'
import type { CompiledIntegration, IntegrationTable } from '../policy/compile-integrations.ts'
import type { AgentScopes } from '../policy/compile-scopes.ts'
import type { Overrides } from '../policy/overrides.ts'
import type { EffectiveSettings } from '../policy/merge-settings.ts'
import type { OutgoingRequest } from '../policy/outgoing-request.ts'
import type { Target } from '../policy/parse-target.ts'
import type { Reason } from '../reasons.ts'

/** The steps of admission, in their order. */
export const ADMISSION_STEPS = ['target', 'integration', 'agent', 'scope'] as const
export type AdmissionStep = (typeof ADMISSION_STEPS)[number]

export type Admission = Admitted | NotAdmitted | MissingFact

/** A scope of the agent allows the call. */
export interface Admitted {
  readonly kind: 'admitted'
  readonly method: string
  readonly target: Target
  readonly integration: CompiledIntegration
  /** All integrations of the organization. */
  readonly integrations: IntegrationTable
  readonly outgoing: OutgoingRequest
  readonly overrides: Overrides
  /** Null where none was looked at. */
  readonly key: ApiKey | null
  readonly agent: Agent
  readonly agent_scopes: AgentScopes
  readonly scope: Scope
  /** Position of the deciding rule in its scope, from 0. */
  readonly rule: number
  readonly settings: EffectiveSettings
}

export interface NotAdmitted {
  readonly kind: 'not_admitted'
  readonly step: AdmissionStep
  readonly reason: Reason
  readonly details: Readonly<Record<string, unknown>>
  /** What the log holds in addition. */
  readonly data?: Readonly<Record<string, unknown>>
  readonly known: Known
}

/** What is known of a call that is not admitted. */
export interface Known {
  readonly integration: CompiledIntegration | null
  readonly key: ApiKey | null
  readonly agent: Agent | null
}

/** The next step needs a fact that was not looked up. The steps before it have passed. */
export type MissingFact =
  | { readonly kind: 'missing'; readonly fact: 'caller'; readonly target: Target }
  | {
      readonly kind: 'missing'
      readonly fact: 'said'
      readonly integration: CompiledIntegration
      /** A body is read by the headers that go upstream with it. */
      readonly outgoing: OutgoingRequest
    }
  | {
      readonly kind: 'missing'
      readonly fact: 'agent'
      readonly organization_id: string
      readonly agent_id: string
      /** Whether the agent itself calls: its key may have been revoked by a kill. */
      readonly is_calling: boolean
    }
