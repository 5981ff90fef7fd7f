import type { Agent, ApiKey } from '../catalogue/model.ts'
import type { IntegrationTable } from './compile-integrations.ts'
import type { AgentScopes } from './compile-scopes.ts'
import type { Header } from '../request/header.ts'
import type { LockTable } from './locks.ts'
import type { ParsedTarget } from '../request/parse-target.ts'
import type { SaidIdentity } from '../request/read-body-identity.ts'
import type { UnlistedFacts } from './unlisted-hosts.ts'
import type { KeyPlace } from '../request/read-key.ts'

/** The facts that admission depends on. An undefined member has not been looked up yet; `admit` reports when it needs it. */
export interface AdmissionFacts {
  readonly request: RequestFacts
  readonly now_ms: number
  /** The time at which scopes have to be in force, if it is another one. */
  readonly scopes_at_ms?: number
  /** The caller, and the integrations of its organization. */
  readonly caller?: Caller
  readonly integrations?: IntegrationTable
  /** The agent named in the body, needed if nothing else names it. */
  readonly said?: SaidIdentity
  readonly agent?: AgentFacts
  /** Null or absent: there are none for the organization. */
  readonly locks?: LockFacts | null
  /** Only of a call through the forward proxy. */
  readonly unlisted?: UnlistedFacts
}

/** The locks of the organization, and the time at which they have to be in force. */
export interface LockFacts {
  readonly table: LockTable
  readonly at_ms: number
}

/** `other`: another protocol, or a request for a WebSocket that is no handshake. */
export type Upgrade = 'websocket' | 'other'

/** What the headers of a call contain. */
export interface RequestFacts {
  readonly method: string
  readonly target: ParsedTarget
  readonly headers: readonly Header[]
  /** The protocol that the request asks for in place of HTTP; null for an ordinary request. */
  readonly upgrade: Upgrade | null
  /** The values of `X-Agw-Agent-Id`. */
  readonly named_agents: readonly string[]
  /** The values of `X-Agw-User`. */
  readonly named_users: readonly string[]
  /** The name of this deployment in `Via`; empty if the store has none. */
  readonly installation: string
  /** Whether it came through the forward proxy, whose own header has the gateway key. */
  readonly is_proxied: boolean
}

/** The owner of the key that a call presents. */
export type Caller =
  | { readonly kind: 'none' }
  | { readonly kind: 'ambiguous'; readonly reason: string }
  | { readonly kind: 'unknown'; readonly place: KeyPlace }
  | { readonly kind: 'known'; readonly key: ApiKey; readonly place: KeyPlace }
  /** No key is checked: somebody asks how a call of the agent would be decided, an operator or, with its key, the agent. */
  | { readonly kind: 'assumed'; readonly key?: ApiKey | null }

export interface AgentFacts {
  /** Null: no such agent. */
  readonly agent: Agent | null
  /** Null: it may act. */
  readonly killed_at: string | null
  readonly scopes: AgentScopes
}
