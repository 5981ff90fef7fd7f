import { keepSchedules } from '../../admin/activity/keep-schedules.ts'
import { carryOut } from '../../admin/changes/carry-out.ts'
import { KeptAnswers, requestIdentity } from '../../admin/changes/kept-answers.ts'
import { watchLostChanges } from '../../admin/changes/watch-lost-changes.ts'
import type { AdminContext } from '../../admin/context/admin-context.ts'
import { RecentChanges } from '../../admin/context/recent-changes.ts'
import { answer, type Outcome, type Plan } from '../../admin/http/outcome.ts'
import { planLift } from '../../admin/kill/plan-lift.ts'
import { startKillSweeper } from '../../admin/kill/start-kill-sweeper.ts'
import { connectionOwner } from '../../admin/oauth/connection-owner.ts'
import { keepGrant } from '../../admin/oauth/finish-consent.ts'
import { refreshGrants } from '../../admin/oauth/refresh-grants.ts'
import { type Decide, decideRequest } from '../../admin/requests/decide-request.ts'
import type { AttemptOutcome } from '../../admin/webhooks/attempt-outcome.ts'
import { DeliveryQueue } from '../../admin/webhooks/delivery-queue.ts'
import { DeliveryWorker } from '../../admin/webhooks/delivery-worker.ts'
import { OutboxRelay } from '../../admin/webhooks/outbox-relay.ts'
import { Acknowledgements } from '../../core/control/acknowledgements.ts'
import { startBeacon } from '../../core/control/beacon.ts'
import { followStore } from '../../core/control/store-clock.ts'
import type { ControlTarget } from '../../core/control/control-message.ts'
import type { Lock, LockMode, LockTarget } from '../../core/catalogue/model.ts'
import { createLock } from '../../core/kill/create-lock.ts'
import type { LockReceipt } from '../../core/kill/lock-record.ts'
import { killAgent, type KillReceipt } from '../../core/kill/kill-agent.ts'
import { type Reactivated, reactivateAgent } from '../../core/kill/reactivate-agent.ts'
import type { Egress } from '../../core/token/post-form.ts'
import { CHANNELS, REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { CONNECTION, grantFor, ORG, ring, TOKEN } from './deployment.ts'
import { type Links, linksOf } from './network.ts'
import { SimClient } from './sim-client.ts'
import type { SimProcess } from './sim-process.ts'
import type { IssuedTokens } from './sim-provider.ts'
import type { SimStore } from './sim-store.ts'
import { NO_REFERENCES } from '../kit/no-references.ts'

const ACTOR = {
  token_id: TOKEN,
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
  readonly decide: (admin: SimAdmin) => Promise<Outcome>
}

export interface SimLock {
  readonly target: LockTarget
  readonly mode: LockMode
  readonly for_ms: number | null
}

/** One admin process, made of the product's parts as `admin/start-admin.ts` makes it, without HTTP. */
export class SimAdmin {
  readonly process: SimProcess
  readonly links: Links
  readonly #store: SimStore
  readonly #lease_ms: number
  readonly #log: (message: string, data: object) => void
  readonly #attempt: (event_id: string, body: Buffer) => Promise<AttemptOutcome>
  /** Null: it renews no tokens. */
  readonly #egress: Egress | null
  context: AdminContext | null = null
  #starts = 0
  #requests = 0

  constructor(
    process: SimProcess,
    store: SimStore,
    lease_ms: number,
    log: (message: string, data: object) => void,
    attempt: (event_id: string, body: Buffer) => Promise<AttemptOutcome>,
    egress: Egress | null,
  ) {
    this.process = process
    this.links = linksOf(process)
    this.#store = store
    this.#lease_ms = lease_ms
    this.#log = log
    this.#attempt = attempt
    this.#egress = egress
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
    const tokenEgress = this.#egress
    if (tokenEgress !== null)
      refreshGrants({ ...NO_REFERENCES, redis, ring, tokenEgress, lease_ms, now, log })
    const settings = { killLease_ms: lease_ms, organizationId: ORG, adminEmail: '' }
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

  /** Null if it was refused. */
  async lock({ target, mode, for_ms }: SimLock): Promise<{
    readonly lock: Lock
    readonly receipt: LockReceipt
  } | null> {
    const context = this.#need()
    const ends_ms = for_ms === null ? null : context.clock.nowMs() + for_ms
    const order = {
      organization_id: ORG,
      role: 'admin',
      target,
      mode,
      message: null,
      reference: null,
      expires_at: ends_ms === null ? null : new Date(ends_ms).toISOString(),
      default_organization: ORG,
      actor: this.#actor(),
    } as const
    const made = await createLock({ ...context, lease_ms: context.settings.killLease_ms }, order)
    return typeof made === 'string' ? null : made
  }

  /** @param find the lock to lift of those that there are; returns it when its end is answered */
  async unlock(find: (locks: readonly Lock[]) => Lock | undefined): Promise<Lock | null> {
    const { redis, now } = this.#need()
    const places = await Promise.all([ORG, '*'].map((org) => redis.hvals(REDIS_KEYS.locks(org))))
    const texts = new Map(
      places.flat().map((text) => {
        const lock = JSON.parse(text) as Lock
        return [lock.lock_id, { lock, text }] as const
      }),
    )
    const found = find([...texts.values()].map(({ lock }) => lock))
    const known = found === undefined ? undefined : texts.get(found.lock_id)
    if (known === undefined) return null
    const by = { actor: ACTOR, request_id: this.#actor().request_id }
    const done = await this.change({
      idempotency_key: null,
      decide: () =>
        Promise.resolve(
          planLift({ ...known, agent_name: null, reason: null }, { ...by, at: now() }),
        ),
    })
    return done === null ? null : known.lock
  }

  /** Decides the open requests of an agent, one after the other. */
  async decide(agent_id: string, what: Decide): Promise<void> {
    const { redis } = this.#need()
    const open = await redis.zrange(REDIS_KEYS.accessRequestsOf(ORG, agent_id), '0', '-1')
    for (const request_id of open) {
      const context = this.#need()
      const by = { actor: ACTOR, request_id: this.#actor().request_id }
      const call = { context, params: { request_id }, query: {}, body: null, headers: {}, ...by }
      await this.change({ idempotency_key: null, decide: () => decideRequest(call, what) })
    }
  }

  /** A consent is given again: the provider has issued these tokens. */
  async consent(tokens: IssuedTokens): Promise<boolean> {
    const context = this.#need()
    const owned = await connectionOwner(context.redis, ORG, CONNECTION)
    if (owned === null) return false
    const grant = grantFor(tokens, context.clock.nowMs())
    const by = { actor: ACTOR, request_id: this.#actor().request_id }
    return (await keepGrant(context, by, owned, grant)).kind === 'answer'
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
    return done.kind === 'answer' ? (done.body ?? {}) : null
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
