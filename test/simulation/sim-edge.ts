import { CallStream, type CallStreamParts } from '../../ext-proc/call/call-stream.ts'
import { decideCall, type DecisionServices } from '../../ext-proc/call/decide-call.ts'
import { HeldBytes } from '../../ext-proc/call/held-bytes.ts'
import { CHANNELS } from '../../core/redis/redis-keys.ts'
import { afterPause } from '../../ext-proc/fleet/after-pause.ts'
import type { EdgeConnections } from '../../ext-proc/fleet/connect-edge.ts'
import { joinFleet, type Membership } from '../../ext-proc/fleet/join-fleet.ts'
import { type AutoKiller, makeAutoKiller } from '../../ext-proc/kill/make-auto-killer.ts'
import { accessToken } from '../../core/oauth/access-token.ts'
import type { RefreshParts } from '../../core/oauth/refresh-grant.ts'
import type { Egress } from '../../core/token/post-form.ts'
import type { TokenAnswer } from '../../core/token/read-token-answer.ts'
import { approvalStore } from '../../ext-proc/call/approval-store.ts'
import type { EdgeSettings } from '../../ext-proc/process/read-edge-settings.ts'
import { RateTaker } from '../../ext-proc/rate/rate-taker.ts'
import { ActivityRecorder } from '../../ext-proc/record/activity-recorder.ts'
import { AgentUses } from '../../ext-proc/record/agent-uses.ts'
import { beginRecord } from '../../ext-proc/record/begin-record.ts'
import { EdgeMetrics } from '../../ext-proc/record/edge-metrics.ts'
import { NO_REFERENCES } from '../kit/no-references.ts'
import { connectionOwner, ENCRYPTION_KEY, ORG } from './deployment.ts'
import { type Links, linksOf } from './network.ts'
import { SimClient } from './sim-client.ts'
import type { SimProcess } from './sim-process.ts'
import type { SimStore } from './sim-store.ts'

/** How long a call waits for a decision at most. */
const HOLD_MAX_MS = 2_000

const nowMs = (): number => performance.now()
const isAnswer = (arg: string): boolean => arg.startsWith('{"epoch":')
const nothing = (): never => {
  throw new Error('not simulated')
}

/** One ext-proc process, made of the product's parts as `ext-proc/run-edge.ts` makes it, without its servers. */
export class SimEdge {
  readonly process: SimProcess
  readonly links: Links
  readonly #store: SimStore
  readonly #lease_ms: number
  readonly #log: (message: string, data: object) => void
  readonly #egress: Egress
  fleet: Membership | null = null
  recorder: ActivityRecorder | null = null
  parts: CallStreamParts | null = null
  autoKill: AutoKiller | null = null
  #refresh: RefreshParts | null = null
  /** Called with each acknowledgement when it is sent. */
  onAcknowledge: (text: string) => void = () => undefined
  #starts = 0

  constructor(
    process: SimProcess,
    store: SimStore,
    lease_ms: number,
    log: (message: string, data: object) => void,
    egress: Egress,
  ) {
    this.process = process
    this.links = linksOf(process)
    this.#store = store
    this.#lease_ms = lease_ms
    this.#log = log
    this.#egress = egress
  }

  start(): void {
    const { process } = this
    this.fleet = this.recorder = this.parts = this.autoKill = this.#refresh = null
    process.start()
    this.#starts++
    process.run(() => {
      this.#open().catch((error: unknown) => process.world.fail(error))
    })
  }

  async #open(): Promise<void> {
    const { name } = this.process
    const client = (role: 'commands' | 'urgent' | 'subscription') => {
      const made = new SimClient(this.#store, this.links[role], role)
      made.onSend = (args) => {
        if (args.includes(CHANNELS.acknowledgements)) this.onAcknowledge(args.find(isAnswer) ?? '')
      }
      return made.client
    }
    const connections: EdgeConnections = {
      commands: client('commands'),
      subscription: client('subscription'),
      urgent: client('urgent'),
      rates: client('urgent'),
      kills: client('commands'),
      disconnect: nothing,
    }
    const log = {
      warn: (data: object, message: string) => this.#log(message, data),
      info: (data: object, message: string) => this.#log(message, data),
      error: (data: object, message: string) => this.#log(message, data),
    }
    const settings = {
      edgeId: name,
      processId: `${name}-${this.#starts}`,
      region: 'r',
      killLease_ms: this.#lease_ms,
      encryptionKey: ENCRYPTION_KEY,
      encryptionKeyFile: null,
    } as EdgeSettings
    const { commands, kills } = connections
    const rates = new RateTaker(connections.rates, null, commands)
    const recorder = new ActivityRecorder({ redis: commands, nowMs: Date.now, log })
    commands.on('ready', () => recorder.storeMayHaveChanged())
    const uses = new AgentUses(commands, Date.now)
    const fleet = await joinFleet({ settings, connections, uses, log })
    const { inFlight, killBoard, policy, lease, stall } = fleet
    const now = (): Date => new Date(fleet.clock.now().ms)
    const lease_ms = this.#lease_ms
    const autoKill = makeAutoKiller({
      redis: kills,
      killBoard,
      lease_ms,
      edge_id: name,
      nowMs,
      log,
      now,
    })
    const services: DecisionServices = {
      policy,
      killBoard,
      uses,
      tokens: { get: nothing, rejected: () => undefined },
      ...NO_REFERENCES,
      mayServe: () => lease.isHeld,
      whyUnavailable: () => null,
      caughtUp: () => stall.caughtUp(),
      connectUrl: () => 'http://admin/#/connect/token',
      mayAttach: () => true,
      egress: { wayTo: () => ({ kind: 'direct' }) },
      pool: {} as DecisionServices['pool'],
      autoKill,
      keyedHash: (_, hash) => hash,
      holds: { calls: fleet.held, limit_ms: HOLD_MAX_MS, margin_ms: 0 },
      approvals: approvalStore({
        redis: commands,
        ring: fleet.keyRing,
        edge_id: name,
        place: { apiUrl: 'http://admin', apiHost: '', apiPort: 0 },
        log,
      }),
      takeRate: (counter) => rates.take(counter),
      nowMs: fleet.clock.nowMs,
      settings: {
        organization_id: ORG,
        max_body_bytes: 1_000_000,
        verdict_secret: 'pass',
        echo_origin: null,
        gateway: { hosts: ['gateway'], ports: [443], proxy_url: null },
      },
      installation: () => 'ins_simulated',
    }
    this.#refresh = {
      ...NO_REFERENCES,
      redis: commands,
      ring: fleet.keyRing,
      egress: this.#egress,
      lease_ms,
    }
    this.fleet = fleet
    this.recorder = recorder
    this.autoKill = autoKill
    this.parts = {
      inFlight,
      heldBytes: new HeldBytes({
        per_agent: 1_000_000,
        per_organization: 1_000_000,
        timeout_ms: 30_000,
      }),
      recorder,
      metrics: new EdgeMetrics(),
      traces: null,
      log,
      is_strict: false,
      reviews: fleet.reviews,
      watchOf: () => ({ begin: () => null }),
      whyUnavailable: () => null,
      isProbe: () => Promise.resolve(false),
      begin: (headers) => beginRecord(headers, name, nowMs, 0, fleet.clock.now()),
      afterPause: () => afterPause(fleet),
      decide: (headers, io, record) => decideCall(services, headers, io, record),
    }
  }

  /** A message of Envoy arrives: the first of a call. */
  receive(stream: ConstructorParameters<typeof CallStream>[0]): void {
    if (this.parts !== null) new CallStream(stream, this.parts)
  }

  /** For a call with the connection; null if it has not started. */
  token(): Promise<TokenAnswer> | null {
    return this.#refresh === null ? null : accessToken(this.#refresh, connectionOwner(), null)
  }
}
