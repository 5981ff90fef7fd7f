import type { AttemptOutcome } from '../../admin/webhooks/attempt-outcome.ts'
import type { Egress } from '../../core/token/post-form.ts'
import type { ApiKey, Integration, Scope } from '../../core/catalogue/model.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import {
  agentId,
  INTEGRATION,
  integrationOf,
  keyId,
  keyOf,
  keyText,
  ORG,
  ORIGIN,
  scopeOf,
  setUp,
  versionOf,
} from './deployment.ts'
import { ApprovalOracle } from './approval-oracle.ts'
import { checkEnd, isSettled } from './check-end.ts'
import { LockOracle } from './lock-oracle.ts'
import { Oracle } from './oracle.ts'
import { type Fault, isFault, type Plan, type Step } from './plan.ts'
import { NORMAL_MS } from './network.ts'
import { RefreshOracle } from './refresh-oracle.ts'
import { ScopeOracle } from './scope-oracle.ts'
import { simulateRuntime } from './runtime.ts'
import { planOf, SimAdmin } from './sim-admin.ts'
import { type CallStep, SimCall } from './sim-call.ts'
import { SimEdge } from './sim-edge.ts'
import { SimProcess } from './sim-process.ts'
import { SimProvider } from './sim-provider.ts'
import { SimStore } from './sim-store.ts'
import { doOfSubject } from './subject-steps.ts'
import { Violation, World } from './world.ts'

export interface Outcome {
  /** What was violated; null: nothing. */
  readonly violation: Violation | null
  readonly events: number
  readonly simulated_ms: number
  readonly faults: number
  /** Of all that happened: the same for the same plan. */
  readonly digest: number
  readonly lines: readonly string[]
  readonly counts: Readonly<Record<string, number>>
}

/** After the faults, at most: kills are completed, deliveries made, leases regained. */
const REST_MS = 2_300
const REST_STEP_MS = 60
/** At least, for connections to be lost and made again. */
const REGAIN_MS = 850
/** Calls of one client may be this much earlier or later. */
const JITTER_MS = 2
const SUCCESS: AttemptOutcome = {
  is_success: true,
  status: 200,
  error: null,
  duration_ms: 1,
  response_excerpt: null,
  sent: null,
}

/** Commands after which an agent may be another. */
const WRITES = /^(EVAL|H[A-Z]*SET|HDEL|DEL|HSET)/

let running: Simulation | null = null
let isInstalled = false

/** Runs a plan to its end, or until something that was promised does not hold. */
export async function simulate(plan: Plan, isTraced = false): Promise<Outcome> {
  if (!isInstalled) {
    simulateRuntime(() => {
      if (running === null) throw new Error('no simulation runs')
      return running.world
    })
    isInstalled = true
  }
  const simulation = new Simulation(plan, isTraced)
  running = simulation
  return await simulation.run()
}

export interface Attempt {
  readonly event_id: string
  readonly text: string
  readonly is_success: boolean
}

/** One deployment in one world. */
export class Simulation {
  readonly plan: Plan
  readonly world: World
  readonly store: SimStore
  readonly provider: SimProvider
  readonly edges: readonly SimEdge[]
  readonly admins: readonly SimAdmin[]
  readonly oracle: Oracle
  readonly attempts: Attempt[] = []
  readonly counts: Record<string, number> = {}
  #keys = 0
  /** Until then a replica lags. */
  #lagging = false

  constructor(plan: Plan, isTraced: boolean) {
    this.plan = plan
    const world = (this.world = new World(plan.seed, isTraced))
    const store = (this.store = new SimStore(world))
    const log =
      (name: string) =>
      (message: string, data: object): void => {
        this.count(`log: ${message}`)
        if (world.lines !== null) world.note(`${name} says: ${message} ${textOf(data)}`)
      }
    const process = (name: string, number: number): SimProcess => {
      const made = new SimProcess(world, name, number)
      made.rate = 1 + (plan.drifts[number] ?? 0)
      return made
    }
    const { lease_ms } = plan
    const provider = (this.provider = new SimProvider(world, plan.provider))
    const egressOf = (one: SimProcess): Egress =>
      ({ network: provider.networkOf(one) }) as unknown as Egress
    const isOfTokens = plan.subject === 'refresh'
    this.edges = Array.from({ length: plan.edges }, (_, i) => {
      const own = process(`edge-${i}`, i)
      return new SimEdge(own, store, lease_ms, log(`edge-${i}`), egressOf(own))
    })
    this.admins = Array.from({ length: plan.admins }, (_, i) => {
      const name = `admin-${i}`
      const attempt = (id: string, body: Buffer) => this.#deliver(id, body)
      const own = process(name, plan.edges + i)
      const egress = isOfTokens ? egressOf(own) : null
      return new SimAdmin(own, store, lease_ms, log(name), attempt, egress)
    })
    const isStepped = plan.steps.some((step) => step.kind === 'clock' && step.process === -1)
    this.oracle = new Oracle(world, store, this.edges, plan.agents, lease_ms, {
      locks: new LockOracle(world, store, lease_ms, isStepped),
      approvals: new ApprovalOracle(world, store),
      refresh: isOfTokens ? new RefreshOracle(world, store, provider, plan) : null,
      scopes: plan.subject === 'scopes' ? new ScopeOracle(world, store, plan) : null,
    })
  }

  async run(): Promise<Outcome> {
    const { plan, world, store, oracle } = this
    world.current = store.process
    const tokens = this.provider.consent()
    setUp(store.model, plan, tokens)
    this.provider.stored(tokens)
    world.current = null
    oracle.look()
    store.onCommand = (from, name, args) => this.#onCommand(from, name, args)
    store.onPublish = (channel, text) => oracle.published(channel, text)
    store.onDone = (name) => {
      if (WRITES.test(name)) oracle.look()
    }
    world.check = () => oracle.check()
    for (const edge of this.edges)
      edge.onAcknowledge = (text) => {
        try {
          oracle.acknowledged(edge, text)
        } catch (error) {
          world.fail(error)
        }
      }
    for (const one of [...this.edges, ...this.admins]) {
      one.process.onEnd = () => this.#ended(one)
      one.start()
    }
    for (const step of plan.steps) world.at(step.at_ms, () => this.#do(step))
    world.at(plan.calm_ms, () => this.#calm())
    let violation: Violation | null = null
    try {
      await world.run(plan.calm_ms)
      await this.#rest()
      await checkEnd(this)
    } catch (error) {
      if (!(error instanceof Violation)) throw error
      violation = error
      world.note(error.message)
    }
    return {
      violation,
      events: world.events,
      simulated_ms: world.now_ms,
      faults: plan.steps.filter(isFault).length,
      digest: world.digest,
      lines: world.lines ?? [],
      counts: this.counts,
    }
  }

  /** Until every edge serves, and nothing waits. */
  async #rest(): Promise<void> {
    const { plan, world, store, edges } = this
    const end_ms = world.now_ms + REST_MS + plan.lease_ms
    const isQuiet = (): boolean =>
      store.process.isAlive &&
      world.now_ms > Math.max(plan.calm_ms, store.process.started_ms) + REGAIN_MS &&
      edges.every(({ fleet, recorder }) => {
        const isHeld = fleet?.lease.isHeld === true
        return isHeld && recorder?.metrics.agw_activity_waiting_entries === 0
      }) &&
      isSettled(this)
    do await world.run(world.now_ms + REST_STEP_MS)
    while (world.now_ms < end_ms && !isQuiet())
  }

  count(what: string): void {
    this.counts[what] = (this.counts[what] ?? 0) + 1
  }

  #onCommand(from: SimProcess, name: string, args: readonly string[]): void {
    if (this.world.lines !== null && name !== 'PING')
      this.world.note(
        `${from.name} asks: ${name} ${args
          .slice(name === 'EVALSHA' ? 2 : 0)
          .join(' ')
          .slice(0, 160)}`,
      )
  }

  #ended(one: SimEdge | SimAdmin): void {
    for (const call of this.oracle.calls) if (call.edge === one && call.isOpen) call.state = 'ended'
  }

  // What a plan does.

  #do(step: Step): void {
    this.world.note(`--- ${JSON.stringify(step)}`)
    this.count(step.kind)
    const { asked } = this.oracle
    asked.add(
      isFault(step) ? 'fault' : 'agent' in step ? `${step.kind} ${agentId(step.agent)}` : step.kind,
    )
    if (isFault(step)) return this.#disturb(step)
    switch (step.kind) {
      case 'calls': {
        const { random } = this.world
        for (let i = 0; i < step.count; i++)
          this.world.after(i * step.every_ms + random.between(0, JITTER_MS), () => {
            if (this.world.now_ms < this.plan.calm_ms) this.call(step)
          })
        return
      }
      case 'kill':
        return this.ask(step.admin, (admin) => this.#kill(admin, agentId(step.agent)))
      case 'reactivate':
        return this.ask(step.admin, (admin) => this.#reactivate(admin, agentId(step.agent)))
      case 'automatic kill':
        return this.#killAutomatically(step.edge, step.agent)
      case 'rotate':
        return this.ask(step.admin, (admin) => this.#rotate(admin, null))
      case 'rotate twice': {
        const key = `key-${++this.#keys}`
        for (const number of this.admins.keys())
          this.ask(number, (admin) => this.#rotate(admin, key))
        return
      }
      case 'scope':
        return this.ask(step.admin, (admin) => this.#changeScope(admin, step.agent))
      case 'revoke':
        return this.ask(step.admin, (admin) => this.#revoke(admin, step.agent))
      case 'lock':
      case 'unlock':
      case 'window':
      case 'label':
      case 'select':
      case 'approve':
      case 'deny':
      case 'cancel':
      case 'tokens':
      case 'consent':
        return doOfSubject(this, step)
    }
  }

  #disturb(step: Fault): void {
    const { world, store } = this
    const one = 'process' in step ? [...this.edges, ...this.admins][step.process] : undefined
    switch (step.kind) {
      case 'cut off':
        for (const role of step.roles) for (const way of step.ways) one?.links[role].hold(way)
        world.after(step.lasts_ms, () => {
          for (const role of step.roles) one?.links[role].release()
        })
        return
      case 'messages': {
        const { lost, doubled, delayed } = step
        if (one === undefined) return
        Object.assign(one.links.subscription, { lost, doubled, delayed })
        world.after(step.lasts_ms, () =>
          Object.assign(one.links.subscription, { lost: 0, doubled: 0, delayed: 0 }),
        )
        return
      }
      case 'slow':
        if (one === undefined) return
        for (const role of step.roles) one.links[role].latency_ms = [step.to_ms / 4, step.to_ms]
        world.after(step.lasts_ms, () => {
          for (const role of step.roles) one.links[role].latency_ms = NORMAL_MS
        })
        return
      case 'errors':
        for (const role of step.roles) if (one !== undefined) one.links[role].fails = true
        world.after(step.lasts_ms, () => {
          for (const role of step.roles) if (one !== undefined) one.links[role].fails = false
        })
        return
      case 'pause': {
        const process = one?.process ?? store.process
        process.pause()
        world.after(step.lasts_ms, () => process.resume())
        return
      }
      case 'crash':
        if (one === undefined || !one.process.isAlive) return
        one.process.endsAfter = step.steps
        world.after(step.down_ms, () => {
          if (world.now_ms >= this.plan.calm_ms) return
          one.process.end()
          world.after(step.down_ms, () => {
            if (!one.process.isAlive) one.start()
          })
        })
        return
      case 'failover':
        return this.#failOver(step)
      case 'clock':
        ;(one?.process ?? store.process).ahead_ms += step.by_ms
        return
      case 'upgrade':
        if (one instanceof SimAdmin) one.process.isNewer = true
        return
      case 'provider':
        this.provider.fault = step.fails
        world.after(step.lasts_ms, () => {
          this.provider.fault = null
        })
    }
  }

  /** First the other node lags, as long as what it will not have; then it takes over. */
  #failOver({ lost_ms, down_ms, has_replica }: Extract<Step, { kind: 'failover' }>): void {
    const { world, store, oracle } = this
    if (!store.process.isAlive || this.#lagging) return
    this.#lagging = true
    const { replicas } = store.model
    if (has_replica) Object.assign(replicas, { connected: 1, acknowledged: lost_ms === 0 ? 1 : 0 })
    const kept = store.model.content()
    world.after(Math.min(lost_ms, this.plan.calm_ms - 1 - world.now_ms), () => {
      this.#lagging = false
      Object.assign(replicas, { connected: 0, acknowledged: 0 })
      if (!store.process.isAlive) return
      const done = oracle.forgets()
      store.restart(lost_ms === 0 ? store.model.content() : kept, down_ms)
      done()
    })
  }

  #calm(): void {
    const { world, store } = this
    world.note('--- the faults end')
    store.process.resume()
    this.provider.fault = null
    for (const one of [...this.edges, ...this.admins]) {
      for (const link of Object.values(one.links)) link.calm()
      one.process.resume()
      one.process.endsAfter = null
      world.after(100, () => {
        if (!one.process.isAlive) one.start()
      })
    }
  }

  call(step: CallStep): SimCall | null {
    const { world, oracle } = this
    const edge = this.edges[step.edge]
    if (edge === undefined || !edge.process.isAlive || edge.parts === null) return null
    const call = new SimCall(edge, step, oracle.calls.length)
    oracle.calls.push(call)
    call.onDecided = () => {
      world.note(
        `${call.request_id} of ${agentId(step.agent)} at ${edge.process.name}: ${call.state} ${call.reason}`,
      )
      this.count(`call: ${call.state} ${call.reason}`)
      try {
        oracle.decided(call)
      } catch (error) {
        world.fail(error)
      }
      const { state } = call
      // Envoy takes a moment; a busy one takes longer.
      const ends_ms =
        state === 'passed'
          ? step.lasts_ms
          : world.random.chance(0.05)
            ? 700
            : world.random.between(0.05, 2)
      world.after(ends_ms, () => {
        if (call.state !== state) return
        if (state === 'passed') call.state = 'ended'
        end()
      })
    }
    const end = (): void =>
      void world.after(
        0,
        () => {
          call.hasEnded = true
          call.emit('end')
        },
        edge.process,
        call,
      )
    world.after(
      0.05,
      () => {
        edge.receive(call.stream)
        call.requestHeaders(true, {
          ':method': step.method ?? 'GET',
          ':scheme': 'https',
          ':authority': 'gateway',
          ':path': `/${ORIGIN}/v1/${step.path}/${step.item ?? 'x'}`,
          ...(step.wait_s ? { prefer: `wait=${step.wait_s}` } : {}),
          authorization: `Bearer ${keyText(step.agent, step.key)}`,
          'x-request-id': call.request_id,
          'x-envoy-external-address': '192.0.2.1',
        })
      },
      edge.process,
      call,
    )
    call.is_known_killed = edge.fleet?.killBoard.killedAt(ORG, agentId(step.agent)) != null
    return call
  }

  ask(number: number, work: (admin: SimAdmin) => Promise<void>): void {
    const admin = this.admins[number]
    if (admin === undefined || !admin.process.isAlive || admin.context === null) return
    admin.process.run(() => {
      work(admin).catch((error: unknown) => {
        // What is thrown by the program itself is a fault of it, or of what it is simulated with.
        if (error instanceof Violation || error instanceof TypeError) this.world.fail(error)
        else {
          this.count('request: failed')
          this.world.note(`${admin.process.name} fails: ${String(error)}`)
        }
      })
    })
  }

  async #kill(admin: SimAdmin, agent_id: string): Promise<void> {
    const receipt = await admin.kill(agent_id)
    this.count(`kill: ${receipt?.complete ? 'complete' : 'incomplete'}`)
    this.world.note(`${admin.process.name}: ${agent_id} killed, complete: ${receipt?.complete}`)
    this.oracle.killAnswered(agent_id, receipt)
  }

  async #reactivate(admin: SimAdmin, agent_id: string): Promise<void> {
    const done = await admin.reactivate(agent_id)
    this.world.note(`${admin.process.name}: ${agent_id} reactivated ${done?.was_killed}`)
    this.oracle.reactivationAnswered(agent_id, done?.was_killed ?? false)
  }

  #killAutomatically(edgeNumber: number, agent: number): void {
    const edge = this.edges[edgeNumber]
    if (edge === undefined || !edge.process.isAlive || edge.autoKill === null) return
    const { autoKill } = edge
    const text = this.store.model.run('HGET', [REDIS_KEYS.agents(ORG), agentId(agent)]) as string
    const order = { kill_method: 'auto_injection', reason: 'simulated' } as const
    edge.process.run(() => void autoKill(JSON.parse(text), order))
  }

  async #rotate(admin: SimAdmin, key: string | null): Promise<void> {
    const place = { key: REDIS_KEYS.integrations(ORG), field: INTEGRATION }
    const targets = [{ what: 'integrations', organization_id: ORG }] as const
    const { oracle } = this
    const { failovers } = oracle
    const version = await admin.change({
      idempotency_key: key,
      decide: async () => {
        const text = (await admin.context?.redis.hget(place.key, place.field)) ?? ''
        const next = versionOf(JSON.parse(text) as Integration) + 1
        return planOf(place, text, JSON.stringify(integrationOf(next)), targets, next)
      },
    })
    if (typeof version === 'number' && failovers === oracle.failovers) oracle.rotated(version, key)
  }

  async #changeScope(admin: SimAdmin, agent: number): Promise<void> {
    const place = { key: REDIS_KEYS.agentScopes(ORG, agentId(agent)), field: `scp_${agent}` }
    const targets = [{ what: 'agent', organization_id: ORG, agent_id: agentId(agent) }] as const
    const { scopes, failovers } = this.oracle
    const changing = (by: number): number => (scopes.get(agentId(agent))?.isChanging ?? 0) + by
    const known = scopes.get(agentId(agent)) ?? { value: true, at_ms: 0 }
    scopes.set(agentId(agent), { ...known, isChanging: changing(1) })
    const made = await admin.change({
      idempotency_key: null,
      decide: async () => {
        const text = (await admin.context?.redis.hget(place.key, place.field)) ?? ''
        const isWide = !isWideScope(JSON.parse(text) as Scope)
        return planOf(place, text, JSON.stringify(scopeOf(agent, isWide)), targets, isWide)
      },
    })
    if (failovers !== this.oracle.failovers) return
    const isChanging = changing(-1)
    // Of changes at one time, the store knows which was the last. One without an answer promises nothing.
    const stored = JSON.parse(this.oracle.stored(place.key, place.field) ?? '') as Scope
    const value = typeof made !== 'boolean' || isChanging > 0 || isWideScope(stored)
    scopes.set(agentId(agent), { value, at_ms: this.world.now_ms, isChanging })
  }

  async #revoke(admin: SimAdmin, agent: number): Promise<void> {
    const place = { key: REDIS_KEYS.apiKeys(ORG), field: keyId(agent, 1) }
    const { failovers } = this.oracle
    const { hash } = keyOf(agent, 1, null)
    const made = await admin.change({
      idempotency_key: null,
      decide: async () => {
        const text = (await admin.context?.redis.hget(place.key, place.field)) ?? ''
        const key = JSON.parse(text) as ApiKey
        const revoked_at = new Date().toISOString()
        const revoked = { ...key, revoked_at, revoked_by: 'operator' }
        return planOf(place, text, JSON.stringify(revoked), [{ what: 'key', hash }], true)
      },
    })
    if (
      made === true &&
      failovers === this.oracle.failovers &&
      !this.oracle.revoked.has(agentId(agent))
    )
      this.oracle.revoked.set(agentId(agent), this.world.now_ms)
  }

  /** One attempt at the receiver: it fails, or its answer is lost, or it succeeds. */
  #deliver(event_id: string, body: Buffer): Promise<AttemptOutcome> {
    const { world } = this
    const process = world.current
    const kind = world.random.pick([
      'success',
      'success',
      'success',
      'refused',
      'unanswered',
    ] as const)
    return new Promise((resolve) => {
      world.after(world.random.between(1, 60), () => {
        this.attempts.push({ event_id, text: body.toString(), is_success: kind !== 'refused' })
        const outcome: AttemptOutcome =
          kind === 'success'
            ? SUCCESS
            : { ...SUCCESS, is_success: false, status: null, error: 'connection_reset' }
        world.after(world.random.between(1, 60), () => resolve(outcome), process)
      })
    })
  }
}

const isWideScope = ({ rules }: Scope): boolean => rules.some(({ paths }) => paths.includes('/**'))

const textOf = (data: object): string => {
  const { error, err } = data as { error?: unknown; err?: unknown }
  return JSON.stringify({
    ...data,
    err: undefined,
    error: (error ?? err) ? String(error ?? err) : undefined,
  })
}
