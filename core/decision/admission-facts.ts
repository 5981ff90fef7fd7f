import type { Agent, ApiKey } from '../model.ts'
import type { IntegrationTable } from '../policy/compile-integrations.ts'
import type { AgentScopes } from '../policy/compile-scopes.ts'
import type { Header } from '../policy/header.ts'
import type { ParsedTarget } from '../policy/parse-target.ts'
import type { SaidIdentity } from '../policy/read-body-identity.ts'
import type { KeyPlace } from '../policy/read-key.ts'

/** What admission is decided by. A member that is left out was not looked up yet; `admit` says when it is needed. */
export interface AdmissionFacts {
  readonly request: RequestFacts
  readonly now_ms: number
  /** Who calls, and the integrations of that organization. */
  readonly caller?: Caller
  readonly integrations?: IntegrationTable
  /** The agent's name in the body, which alone may name it. */
  readonly said?: SaidIdentity
  readonly agent?: AgentFacts
}

/** What the headers of a call say. */
export interface RequestFacts {
  readonly method: string
  readonly target: ParsedTarget
  readonly headers: readonly Header[]
  /** Another protocol is asked for. */
  readonly is_upgrade: boolean
  /** The values of `X-Agw-Agent-Id`. */
  readonly named_agents: readonly string[]
  /** This deployment's name in `Via`; empty where the store has none. */
  readonly installation: string
}

/** Whose key a call presents. */
export type Caller =
  | { readonly kind: 'none' }
  | { readonly kind: 'ambiguous'; readonly reason: string }
  | { readonly kind: 'unknown'; readonly place: KeyPlace }
  | { readonly kind: 'known'; readonly key: ApiKey; readonly place: KeyPlace }
  /** No key is looked at: an operator asks what the agent would be answered. */
  | { readonly kind: 'assumed' }

export interface AgentFacts {
  /** Null: no such agent. */
  readonly agent: Agent | null
  /** Null: it may act. */
  readonly killed_at: string | null
  readonly scopes: AgentScopes
}
