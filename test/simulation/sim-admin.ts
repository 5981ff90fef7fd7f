import { keepSchedules } from '../../admin/activity/keep-schedules.ts'
import { carryOut } from '../../admin/changes/carry-out.ts'
import { KeptAnswers, requestIdentity } from '../../admin/changes/kept-answers.ts'
import { watchLostChanges } from '../../admin/changes/watch-lost-changes.ts'
import type { AdminContext } from '../../admin/context/admin-context.ts'
import { RecentChanges } from '../../admin/context/recent-changes.ts'
import { answer, type Outcome, type Plan } from '../../admin/http/outcome.ts'
import { startKillSweeper } from '../../admin/kill/start-kill-sweeper.ts'
import type { AttemptOutcome } from '../../admin/webhooks/attempt-outcome.ts'
import { DeliveryQueue } from '../../admin/webhooks/delivery-queue.ts'
import { DeliveryWorker } from '../../admin/webhooks/delivery-worker.ts'
import { OutboxRelay } from '../../admin/webhooks/outbox-relay.ts'
import { Acknowledgements } from '../../core/control/acknowledgements.ts'
import { startBeacon } from '../../core/control/beacon.ts'
import { followStore } from '../../core/control/store-clock.ts'
import type { ControlTarget } from '../../core/control/control-message.ts'
import { killAgent, type KillReceipt } from '../../core/kill/kill-agent.ts'
import { type Reactivated, reactivateAgent } from '../../core/kill/reactivate-agent.ts'
import { CHANNELS } from '../../core/redis/redis-keys.ts'
import { ORG, ring } from './deployment.ts'
import { type Links, linksOf } from './network.ts'
import { SimClient } from './sim-client.ts'
import type { SimProcess } from './sim-process.ts'
import type { SimStore } from './sim-store.ts'

const ACTOR = {
  token_id: 'tok_1',
  organization_id: ORG,
  email: 'ops@example.com',
  role: 'admin',
  source_ip: null,
} as const
/** The waits before the attempts of a delivery. */
const DELAYS_MS = [0, 100, 300, 600]

/** As the activity worker does with each turn. */
const SCHEDULES_INTERVAL_MS = 1_000

/** A change that an operator requests. */
export interface Edit {
  readonly idempotency_key: string | null
  /** Reads what is there, and plans. */
  readonly decide: (admin: SimAdmin) => Promise<Plan>
}

/** One admin process, made of the product's parts as `admin/start-admin.ts` makes it, without HTTP. */
export class SimAdmin {
  readonly process: SimProcess
  readonly links: Links
  readonly #store: SimStore
  readonly #lease_ms: number
  readonly #log: (message: string, data: object) => void
  readonly #attempt: (event_id: string, body: Buffer) => Promise<AttemptOutcome>
  context: AdminContext | null = null
  #starts = 0
  #requests = 0

  constructor(
    process: SimProcess,
    store: SimStore,
    lease_ms: number,
    log: (message: string, data: object) => void,
    attempt: (event_id: string, body: Buffer) => Promise<AttemptOutcome>,
  ) {
    this.process = process
    this.links = linksOf(process)
    this.#store = store
    this.#lease_ms = lease_ms
    this.#log = log
    this.#attempt = attempt
  }

  start(): void {
    const { process } = this
    this.context = null
    process.start()
    this.#starts++
    process.run(() => {
      this.#open().catch((error: unknown) => process.world.fail(error))
    })
  }

  async #open(): Promise<void> {
    const name = `${this.process.name}-${this.#starts}`
    const client = (role: 'commands' | 'queue' | 'subscription') =>
      new SimClient(this.#store, this.links[role], role).client
    const redis = client('commands')
    const subscription = client('subscription')
    const say = (data: object, message: string): void => this.#log(message, data)
    const log = { warn: say, info: say, error: say, debug: say } as never
    const lease_ms = this.#lease_ms
    const nowMs = (): number => performance.now()
    const now = (): Date => new Date()
    const clock = followStore(redis)
    const acknowledgements = new Acknowledgements(redis, nowMs)
    subscription.on('message', (_channel: string, text: string) => acknowledgements.hear(text))
    await subscription.subscribe(CHANNELS.acknowledgements)
    startBeacon(redis, name, lease_ms)
    startKillSweeper({ redis, subscription, lease_ms, log })
    const keep = (): void =>
      void keepSchedules({ redis, log }).catch((error: unknown) => say({ error }, 'schedules'))
    keep()
    setInterval(keep, SCHEDULES_INTERVAL_MS)
    const recentChanges = new RecentChanges(nowMs)
    watchLostChanges({ redis, recentChanges, lease_ms, log, now })
    const queue = new DeliveryQueue(redis, DELAYS_MS, { lease_ms: 1500 })
    const worker = new DeliveryWorker({
      queue,
      redis,
      now,
      log,
      attempt: (_webhook, { event_id, body }) => this.#attempt(event_id, body),
      onFailing: () => undefined,
    })
    const blocking = client('queue')
    new OutboxRelay({ redis, blocking, queue, now, log, onDeliveries: () => worker.wake() }).start()
    worker.start()
    const settings = { killLease_ms: lease_ms }
    this.context = {
      settings,
      redis,
      ring,
      acknowledgements,
      recentChanges,
      log,
      nowMs,
      // As `admin/kill/kill-routes.ts` makes it of the clock.
      now: () => new Date(clock.now().ms),
      clock,
    } as unknown as AdminContext
  }

  #need(): AdminContext {
    if (this.context === null) throw new Error('not started')
    return this.context
  }

  #actor() {
    const request_id = `req-${this.process.name}-${++this.#requests}`
    return { ...ACTOR, request_id, edge_id: null }
  }

  kill(agent_id: string): Promise<KillReceipt | null> {
    const context = this.#need()
    const order = {
      organization_id: ORG,
      agent_id,
      reason: 'simulated',
      kill_method: 'api',
      notify: [],
      actor: this.#actor(),
    } as const
    return killAgent({ ...context, lease_ms: context.settings.killLease_ms }, order)
  }

  reactivate(agent_id: string): Promise<Reactivated | null> {
    const context = this.#need()
    const order = {
      organization_id: ORG,
      agent_id,
      reason: 'simulated',
      actor: this.#actor(),
      replacement: null,
    }
    return reactivateAgent({ ...context, lease_ms: context.settings.killLease_ms }, order)
  }

  /** What the answer says was made; null if it was refused. */
  async change({ idempotency_key, decide }: Edit): Promise<unknown> {
    const context = this.#need()
    const { token_id, organization_id } = ACTOR
    const identity =
      idempotency_key === null
        ? null
        : requestIdentity({
            idempotency_key,
            token_id,
            organization_id,
            method: 'PATCH',
            url: '/admin/simulated',
            body: null,
          })
    const request = { actor: ACTOR, request_id: this.#actor().request_id, identity }
    const plan = (): Promise<Outcome> => decide(this)
    const done = await carryOut(context, new KeptAnswers(context), request, plan)
    return done.kind === 'answer' ? done.body : null
  }
}

/** The plan of an update that replaces one text of a hash by another. */
export const planOf = (
  place: { readonly key: string; readonly field: string },
  before: string,
  after: string,
  targets: readonly ControlTarget[],
  made: unknown,
): Plan => ({
  kind: 'plan',
  guards: [['HGET', place.key, place.field, before]],
  writes: [['HSET', place.key, place.field, after]],
  targets,
  audits: [{ action: 'integration.update', target: place.field, before: null, after: null }],
  answer: answer(200, made),
})
