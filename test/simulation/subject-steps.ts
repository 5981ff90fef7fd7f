import { scopeTarget } from '../../admin/scopes/scope-target.ts'
import { type Agent, type LockTarget, type Scope, SELECTED } from '../../core/catalogue/model.ts'
import type { ControlTarget } from '../../core/control/control-message.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import {
  agentId,
  INTEGRATION,
  keyId,
  ORG,
  ownScopeId,
  TEAM_SCOPE,
  teamOf,
  teamScope,
} from './deployment.ts'
import type { LockKind, Step } from './plan.ts'
import { planOf, type SimAdmin } from './sim-admin.ts'
import type { Simulation } from './simulate.ts'

type SubjectStep = Extract<
  Step,
  {
    kind:
      | 'lock'
      | 'unlock'
      | 'window'
      | 'label'
      | 'select'
      | 'approve'
      | 'deny'
      | 'cancel'
      | 'tokens'
      | 'consent'
  }
>

/** What a plan does with locks, approvals and tokens. */
export function doOfSubject(simulation: Simulation, step: SubjectStep): void {
  const { oracle, world } = simulation
  switch (step.kind) {
    case 'lock': {
      const order = { ...step, target: targetOf(step.target, step.agent) }
      return simulation.ask(step.admin, async (admin) => {
        const made = await admin.lock(order)
        if (made === null) return
        const { lock, receipt } = made
        simulation.count(`lock: ${receipt.complete ? 'complete' : 'incomplete'}`)
        world.note(`${admin.process.name}: ${lock.lock_id} complete: ${receipt.complete}`)
        oracle.lockAnswered(made)
      })
    }
    case 'unlock':
      return simulation.ask(step.admin, async (admin) => {
        const lifted = await admin.unlock((locks) => locks[step.which % locks.length])
        if (lifted === null) return
        simulation.count('unlock: done')
        oracle.subjects.locks.liftAnswered(lifted)
      })
    case 'window':
      return simulation.ask(step.admin, async (admin) => {
        const owner = step.scope === 'own' ? agentId(step.agent) : SELECTED
        const field = step.scope === 'own' ? ownScopeId(step.agent) : TEAM_SCOPE
        const after = (ms: number | null): string | null =>
          ms === null ? null : new Date((admin.context?.clock.nowMs() ?? 0) + ms).toISOString()
        await rewrite<Scope>(simulation, admin, REDIS_KEYS.agentScopes(ORG, owner), field, {
          edit: (scope) => ({
            ...scope,
            not_before: after(step.from_ms),
            expires_at: after(step.until_ms),
            end_streams: step.end_streams,
          }),
          target: scopeTarget,
        })
      })
    case 'label':
      return simulation.ask(step.admin, (admin) =>
        rewrite<Agent>(simulation, admin, REDIS_KEYS.agents(ORG), agentId(step.agent), {
          edit: (agent) => ({ ...agent, labels: step.team === null ? {} : { team: step.team } }),
          target: ({ agent_id }) => ({ what: 'agent', organization_id: ORG, agent_id }),
        }),
      )
    case 'select':
      return simulation.ask(step.admin, (admin) =>
        rewrite<Scope>(simulation, admin, REDIS_KEYS.agentScopes(ORG, SELECTED), TEAM_SCOPE, {
          edit: (scope) => ({
            ...scope,
            agent_selector: teamScope(step.team).agent_selector ?? null,
          }),
          target: scopeTarget,
        }),
      )
    case 'approve':
    case 'deny':
    case 'cancel':
      return simulation.ask(step.admin, (admin) => admin.decide(agentId(step.agent), step.kind))
    case 'consent':
      return simulation.ask(step.admin, async (admin) => {
        const tokens = simulation.provider.consent()
        if (await admin.consent(tokens)) simulation.provider.stored(tokens)
      })
    case 'tokens':
      for (let i = 0; i < step.count; i++)
        world.after(i * step.every_ms, () => {
          if (world.now_ms < simulation.plan.calm_ms) useToken(simulation, step.edge)
        })
  }
}

/** Changes what is stored in one place, and tells the oracle when that is answered. */
async function rewrite<T extends object>(
  { oracle }: Simulation,
  admin: SimAdmin,
  key: string,
  field: string,
  change: { readonly edit: (record: T) => T; readonly target: (record: T) => ControlTarget },
): Promise<void> {
  const { failovers } = oracle
  const made = await admin.change({
    idempotency_key: null,
    decide: async () => {
      const text = (await admin.context?.redis.hget(key, field)) ?? ''
      const record = JSON.parse(text) as T
      const after = JSON.stringify(change.edit(record))
      return planOf({ key, field }, text, after, [change.target(record)], after)
    },
  })
  if (typeof made === 'string' && failovers === oracle.failovers)
    oracle.subjects.scopes?.answered(field, made)
}

/** A call at an edge needs the access token of the connection. */
export function useToken(simulation: Simulation, number: number): void {
  const { world, oracle, edges } = simulation
  const edge = edges[number]
  if (edge === undefined || !edge.process.isAlive) return
  edge.process.run(() => {
    edge.token()?.then(
      (answer) => {
        const got = answer.kind === 'token' ? 'token' : answer.failure.cause
        simulation.count(`token: ${got}`)
        world.note(`${edge.process.name} uses a token: ${got}`)
        if (answer.kind !== 'token') return
        try {
          oracle.subjects.refresh?.used(answer.token.reveal(), edge)
        } catch (error) {
          world.fail(error)
        }
      },
      (error: unknown) => world.fail(error),
    )
  })
}

function targetOf(kind: LockKind, agent: number): LockTarget {
  switch (kind) {
    case 'agent_id':
      return { agent_id: agentId(agent) }
    case 'agent_selector':
      return { agent_selector: { match_labels: { team: teamOf(agent) }, match_expressions: [] } }
    case 'key_id':
      return { key_id: keyId(agent, 0) }
    case 'scope_id':
      return { scope_id: `scp_${agent}` }
    case 'integration_id':
      return { integration_id: INTEGRATION }
    case 'organization_id':
      return { organization_id: ORG }
    case 'everything':
      return { everything: true }
  }
}
