import type { LockTarget } from '../../core/catalogue/model.ts'
import { agentId, INTEGRATION, keyId, ORG, teamOf } from './deployment.ts'
import type { LockKind, Step } from './plan.ts'
import type { Simulation } from './simulate.ts'

type SubjectStep = Extract<
  Step,
  { kind: 'lock' | 'unlock' | 'approve' | 'deny' | 'cancel' | 'tokens' | 'consent' }
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
