import type { AccessRequestFields } from '../../core/approval/access-request.ts'
import type { Agent } from '../../core/catalogue/model.ts'
import type { ControlTarget } from '../../core/control/control-message.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { ORG } from './deployment.ts'
import type { SimCall } from './sim-call.ts'
import type { SimStore } from './sim-store.ts'
import { Violation, type World } from './world.ts'

interface RequestTruth {
  readonly agent_id: string
  /** How often a person has approved it: more than once only if the store has lost that. */
  approved: number
  /** The call that has taken it, as far as the store knows. */
  taken_by: string | null
  readonly passed: SimCall[]
}

/** Knows what people have approved, and which call has taken it. */
export class ApprovalOracle {
  readonly #world: World
  readonly #store: SimStore
  readonly #requests = new Map<string, RequestTruth>()
  /** By the call that took it, also if the store has lost it. */
  readonly #takenBy = new Map<string, RequestTruth>()

  constructor(world: World, store: SimStore) {
    this.#world = world
    this.#store = store
  }

  get count(): number {
    return this.#takenBy.size
  }

  /** A decision is in the store. */
  published(target: ControlTarget): void {
    if (target.what !== 'access_request') return
    const { request_id } = target
    const { status, agent_id } = this.#read(request_id)
    if (status !== 'approved') return
    const known = this.#requests.get(request_id)
    if (known !== undefined) known.approved++
    else
      this.#requests.set(request_id, {
        agent_id: agent_id ?? '',
        approved: 1,
        taken_by: null,
        passed: [],
      })
  }

  /** The store has done something: it may be that an approval was taken. */
  look(): void {
    for (const [request_id, truth] of this.#requests) {
      const key = REDIS_KEYS.accessRequest(ORG, request_id)
      const by = this.#store.model.run('HGET', [key, 'consumed_by']) as string | null
      if (by === truth.taken_by) continue
      const before = truth.taken_by
      truth.taken_by = by
      if (by === null) continue
      if (before !== null)
        this.#violated('approval: taken twice', `${request_id}: ${before}, ${by}`)
      const call_id = (JSON.parse(by) as { readonly request_id: string }).request_id
      this.#takenBy.set(call_id, truth)
      this.#mayBeTaken(request_id, truth)
    }
  }

  #mayBeTaken(request_id: string, { agent_id }: RequestTruth): void {
    const { status, agent_revision, deadline_ms = '0' } = this.#read(request_id)
    const text = this.#store.model.run('HGET', [REDIS_KEYS.agents(ORG), agent_id])
    const agent = JSON.parse(text as string) as Agent
    if (status !== 'approved') this.#violated('approval: taken though it is not one', request_id)
    if (agent.status !== 'active' || String(agent.revision) !== agent_revision)
      this.#violated('approval: taken after a kill', request_id)
    if (Number(deadline_ms) < this.#store.process.wallMs() - 1)
      this.#violated('approval: taken after its end', request_id)
  }

  /** After the content of the store was replaced: what was taken may be there again. */
  forgot(): void {
    for (const [request_id, truth] of this.#requests)
      truth.taken_by = this.#read(request_id).consumed_by ?? null
  }

  passed(call: SimCall): void {
    const truth = this.#takenBy.get(call.request_id)
    if (truth === undefined) throw new Violation('approval: passed without one', call.request_id)
    truth.passed.push(call)
    if (truth.passed.length > truth.approved)
      throw new Violation(
        'approval: more calls passed than were approved',
        truth.passed.map(({ request_id }) => request_id).join(', '),
      )
  }

  /** What is noted about each is true; if nothing was disturbed, it is noted. */
  checkEnd(calls: readonly SimCall[], isDisturbed: boolean): void {
    for (const [request_id, { taken_by }] of this.#requests) {
      const { forwarded_ms, unsent_ms } = this.#read(request_id)
      const call =
        taken_by === null
          ? undefined
          : calls.find((one) => taken_by.includes(`"${one.request_id}"`))
      if (call === undefined) continue
      const hasPassed = call.state !== 'refused' && call.version > 0
      if (forwarded_ms !== undefined && !hasPassed)
        throw new Violation('approval: noted as sent', call.request_id)
      if (unsent_ms !== undefined && hasPassed)
        throw new Violation('approval: noted as not sent', call.request_id)
      if (!isDisturbed && (forwarded_ms ?? unsent_ms) === undefined)
        throw new Violation('approval: nothing is noted', call.request_id)
    }
  }

  #read(request_id: string): Partial<AccessRequestFields> {
    const words = this.#store.model.run('HGETALL', [REDIS_KEYS.accessRequest(ORG, request_id)])
    const fields: Record<string, string> = {}
    const list = words as readonly string[]
    for (let i = 0; i + 1 < list.length; i += 2) fields[list[i] ?? ''] = list[i + 1] ?? ''
    return fields
  }

  #violated(rule: string, what: string): void {
    this.#world.fail(new Violation(rule, what))
  }
}
