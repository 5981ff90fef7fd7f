import type { Agent, ApiKey, Lock, Scope } from '../catalogue/model.ts'
import type { ChosenCredential } from './choose-credential.ts'
import type { CompiledIntegration, IntegrationTable } from './compile-integrations.ts'
import type { AgentScopes } from './compile-scopes.ts'
import type { NearestRule } from './choose-scope.ts'
import type { Overrides } from '../request/overrides.ts'
import type { EffectiveSettings } from './merge-settings.ts'
import type { NeededApproval } from './needed-approval.ts'
import type { OutgoingRequest } from './outgoing-request.ts'
import type { Target } from '../request/parse-target.ts'
import type { Reason } from '../catalogue/reasons.ts'

/**
 * The steps of admission, in their order:
 * 1. `target`: the URL is valid.
 * 2. `integration`: an integration matches it.
 * 3. `agent`: the caller is known, and neither killed nor locked.
 * 4. `scope`: a scope of the agent allows the method and the path, and no lock forbids them.
 */
export const ADMISSION_STEPS = ['target', 'integration', 'agent', 'scope'] as const
export type AdmissionStep = (typeof ADMISSION_STEPS)[number]

export type Admission = Admitted | NotAdmitted | MissingFact

/** A scope of the agent allows the call. */
export interface Admitted {
  readonly kind: 'admitted'
  readonly method: string
  /** Whether it is the handshake of a WebSocket, which the scope allows. */
  readonly is_socket: boolean
  readonly target: Target
  readonly integration: CompiledIntegration
  /** All integrations of the organization. */
  readonly integrations: IntegrationTable
  readonly outgoing: OutgoingRequest
  readonly overrides: Overrides
  /** Null if none was checked. */
  readonly key: ApiKey | null
  readonly agent: Agent
  /** Those in force. */
  readonly agent_scopes: AgentScopes
  readonly scope: Scope
  /** Position of the deciding rule in its scope, from 0. */
  readonly rule: number
  readonly settings: EffectiveSettings
  /** What a person has to allow before the call is made; null for most calls. */
  readonly approval: NeededApproval | null
  readonly credential: ChosenCredential
  /** The lock because of which it must only read; null if there is none. What its body says has yet to be looked at. */
  readonly reading_lock: Lock | null
}

export interface NotAdmitted {
  readonly kind: 'not_admitted'
  readonly step: AdmissionStep
  readonly reason: Reason
  readonly details: Readonly<Record<string, unknown>>
  /** Overrides the status of the catalogue. */
  readonly status?: number
  /** In ms, after which the same call may pass. */
  readonly retry_after_ms?: number
  /** Additional members of the log entry. */
  readonly data?: Readonly<Record<string, unknown>>
  readonly known: Known
  /** For operators only: at the step `scope`, the rule that came nearest to allowing the call. */
  readonly nearest?: NearestRule | null
}

/** What is known about a call that is not admitted. */
export interface Known {
  readonly integration: CompiledIntegration | null
  readonly key: ApiKey | null
  readonly agent: Agent | null
  /** Whether the agent, whose key was presented, has a scope for the integration: only then is a refusal in the format of its API. */
  readonly has_scope?: boolean
}

/** The next step needs a fact that has not been looked up. The preceding steps have passed. */
export type MissingFact =
  | { readonly kind: 'missing'; readonly fact: 'caller'; readonly target: Target }
  | {
      readonly kind: 'missing'
      readonly fact: 'said'
      readonly integration: CompiledIntegration
      /** The body is interpreted according to the headers that are sent upstream with it. */
      readonly outgoing: OutgoingRequest
    }
  | {
      readonly kind: 'missing'
      readonly fact: 'agent'
      readonly organization_id: string
      readonly agent_id: string
      /** Whether the caller uses the agent's own key, which a kill may have revoked. */
      readonly is_calling: boolean
    }
