import { scopesForListing } from './also-hosts.ts'
import type { CompiledIntegration } from './compile-integrations.ts'
import type { AgentScopes } from './compile-scopes.ts'
import { UNLISTED_SCOPES } from './unlisted-hosts.ts'

/** The scopes by which a call of an agent is decided: its own, or those that stand for them at a host of no integration. */
export const scopesFor = (agent: AgentScopes, target: CompiledIntegration): AgentScopes =>
  target.is_unlisted ? { ...UNLISTED_SCOPES, names: agent.names } : scopesForListing(agent, target)
