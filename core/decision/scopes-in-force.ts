import type { AgentScopes, CompiledScope, IntegrationScopes } from './compile-scopes.ts'

interface View {
  /** How many times at which a scope begins or ends have passed. */
  readonly phase: number
  readonly scopes: AgentScopes
}

/** The view of now of each agent that has scopes with a beginning or an end. */
const views = new WeakMap<AgentScopes, View>()

/** The scopes of an agent that are in force at a time; the same object if none of them begins or ends. */
export function scopesInForce(all: AgentScopes, at_ms: number): AgentScopes {
  if (all.bounds_ms.length === 0) return all
  const phase = phaseAt(all, at_ms)
  const known = views.get(all)
  if (known?.phase === phase) return known.scopes
  const scopes = {
    ...keep(all, (one) => isInForce(one, at_ms)),
    others: {
      not_yet: keep(all, ({ from_ms }) => from_ms > at_ms),
      expired: keep(all, ({ from_ms, until_ms }) => from_ms <= at_ms && until_ms <= at_ms),
    },
  }
  views.set(all, { phase, scopes })
  return scopes
}

/** At two times with the same phase, the same scopes are in force. */
export const phaseAt = ({ bounds_ms }: AgentScopes, at_ms: number): number =>
  bounds_ms.filter((bound_ms) => bound_ms <= at_ms).length

const isInForce = ({ from_ms, until_ms }: CompiledScope, at_ms: number): boolean =>
  from_ms <= at_ms && at_ms < until_ms

/** An integration all of whose scopes are kept stays as it is, with the settings that are merged already. */
function keep(all: AgentScopes, isKept: (scope: CompiledScope) => boolean): AgentScopes {
  const by_integration = new Map<string, IntegrationScopes>()
  for (const [integration_id, there] of all.by_integration) {
    const scopes = there.scopes.filter(isKept)
    if (scopes.length === there.scopes.length) by_integration.set(integration_id, there)
    else if (scopes.length > 0) by_integration.set(integration_id, { scopes, merged: new Map() })
  }
  const selecting = all.selecting.filter(isKept)
  return { ...all, by_integration, selecting, bounds_ms: [], others: null }
}
