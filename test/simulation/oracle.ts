import type { ActivityEntry } from '../../core/activity/activity-entry.ts'
import type { Acknowledgement, ControlMessage } from '../../core/control/control-message.ts'
import { LEASE_MARGIN_MS } from '../../core/kill/lease-margin.ts'
import type { KillReceipt } from '../../core/kill/kill-agent.ts'
import type { LockReceipt } from '../../core/kill/lock-record.ts'
import type { Agent, Integration, Lock } from '../../core/catalogue/model.ts'
import { CHANNELS, REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { agentId, INTEGRATION, ORG, versionOf } from './deployment.ts'
import type { ApprovalOracle } from './approval-oracle.ts'
import type { LockOracle } from './lock-oracle.ts'
import type { RefreshOracle } from './refresh-oracle.ts'
import type { ScopeOracle } from './scope-oracle.ts'
import type { SimCall } from './sim-call.ts'
import type { SimEdge } from './sim-edge.ts'
import type { SimStore } from './sim-store.ts'
import { Violation, type World } from './world.ts'

/** For what an edge has heard to be written, and for drifting clocks. */
const SLACK_MS = 60
/** As in `ext-proc/record/activity-recorder.ts`: further ones of a kind are counted. */
const RECORDED_MAX = 120
/** For a kill to reach the edges: it also cuts what is refused for it already. */
const CUT_MS = 1_000
/** Until the first beacon, an edge does not serve. */
const STARTED_MS = 600
/** After a pause, running calls are looked at again. */
const LONG_MS = 5_000
/** For drifting clocks alone. */
const DRIFT_MS = 8

interface AgentTruth {
  text: string
  status: Agent['status']
  revision: number
  since_ms: number
  /** Since when a receipt says that the kill is in force everywhere; null if none does. */
  complete_ms: number | null
  /** Since when a reactivation is answered. */
  reactivated_ms: number | null
}

/** A value that changes, and since when a change of it is answered. */
interface Answered {
  readonly value: number | boolean
  readonly at_ms: number
}

export interface SubjectOracles {
  readonly locks: LockOracle
  readonly approvals: ApprovalOracle
  readonly refresh: RefreshOracle | null
  readonly scopes: ScopeOracle | null
}

/** Knows what was promised to whom, and says at each moment whether it holds (the invariants of ARCHITECTURE.md). */
export class Oracle {
  readonly #world: World
  readonly #store: SimStore
  readonly #edges: readonly SimEdge[]
  readonly #lease_ms: number
  readonly subjects: SubjectOracles
  readonly #agents = new Map<string, AgentTruth>()
  readonly calls: SimCall[] = []
  readonly #open = new Set<SimCall>()
  readonly #refusals = new Map<string, number>()
  /** Of each agent: refusals that are counted and have no entry. */
  readonly #counted = new Map<string, number>()
  /** What was asked for, as `kill agt_0`: nothing else explains a refusal. */
  readonly asked = new Set<string>()
  /** By edge process: the newest kill of an agent that it has acknowledged. */
  readonly #acknowledged = new Map<string, { revision: number; at_ms: number }>()
  /** Of all changes, also those that the store has lost: an acknowledgement may be late. */
  readonly #epochs = new Set<number>()
  /** By epoch: which kill a message is about. */
  readonly #killOf = new Map<number, { readonly agent_id: string; readonly revision: number }>()
  /** Kills that were written and not lost: agent and revision, with what must follow. */
  readonly kills = new Map<string, { readonly agent_id: string; isLost: boolean }>()
  /** Highest revision at which an agent was reactivated. */
  readonly #reactivated = new Map<string, number>()
  readonly #rotated = new Map<number, string | null>()
  version: Answered = { value: 1, at_ms: 0 }
  readonly scopes = new Map<string, Answered & { readonly isChanging: number }>()
  readonly revoked = new Map<string, number>()
  /** A store that forgets takes changes back: what was answered before counts no more. */
  failovers = 0
  #failedOver_ms = Number.NEGATIVE_INFINITY
  #lastSweep_ms = 0

  constructor(
    world: World,
    store: SimStore,
    edges: readonly SimEdge[],
    agents: number,
    lease_ms: number,
    subjects: SubjectOracles,
  ) {
    this.#world = world
    this.#store = store
    this.#edges = edges
    this.#lease_ms = lease_ms
    this.subjects = subjects
    for (let agent = 0; agent < agents; agent++)
      this.#agents.set(agentId(agent), {
        text: '',
        status: 'active',
        revision: 0,
        since_ms: 0,
        complete_ms: null,
        reactivated_ms: null,
      })
  }

  truth(agent_id: string): AgentTruth {
    const truth = this.#agents.get(agent_id)
    if (truth === undefined) throw new Error(agent_id)
    return truth
  }

  /** Looks at what the store has now; called when it has done something. */
  look(isForgetful = false): void {
    for (const [agent_id, truth] of this.#agents) {
      const text = this.stored(REDIS_KEYS.agents(ORG), agent_id)
      if (text === truth.text || text === null) continue
      const { status, revision } = JSON.parse(text) as Agent
      truth.text = text
      if (status !== truth.status || isForgetful) {
        truth.since_ms = this.#world.now_ms
        truth.complete_ms = null
        truth.reactivated_ms = null
      }
      if (!isForgetful && truth.revision !== revision) {
        if (status === 'killed')
          this.kills.set(`${agent_id} ${revision}`, { agent_id, isLost: false })
        else
          this.#reactivated.set(agent_id, Math.max(revision, this.#reactivated.get(agent_id) ?? 0))
      }
      truth.status = status
      truth.revision = revision
    }
    this.subjects.approvals.look()
    this.subjects.refresh?.look()
    this.subjects.scopes?.look()
  }

  stored(key: string, field: string): string | null {
    return this.#store.model.run('HGET', [key, field]) as string | null
  }

  storedVersion(): number {
    const text = this.stored(REDIS_KEYS.integrations(ORG), INTEGRATION)
    return versionOf(JSON.parse(text ?? '{}') as Integration)
  }

  published(channel: string, text: string): void {
    if (channel === CHANNELS.acknowledgements) return
    const message = JSON.parse(text) as ControlMessage
    if (message.kind !== 'control') return
    if (this.#epochs.has(message.epoch))
      this.#world.fail(new Violation('change: two have one number', String(message.epoch)))
    this.#epochs.add(message.epoch)
    const { locks, approvals } = this.subjects
    for (const target of message.targets) {
      locks.published(message.epoch, target)
      approvals.published(target)
      if (target.what === 'kill') {
        const kill = { agent_id: target.agent_id, revision: target.revision }
        this.#killOf.set(message.epoch, kill)
        if (target.again_of !== undefined) this.#killOf.set(target.again_of, kill)
      }
    }
  }

  /** An edge says that something is in force there. */
  acknowledged(edge: SimEdge, text: string): void {
    const { epoch, unconfirmed } = JSON.parse(text) as Acknowledgement
    this.subjects.locks.acknowledged(edge, epoch, unconfirmed, this.#passedCalls())
    const kill = this.#killOf.get(epoch)
    if (kill === undefined) return
    const { agent_id, revision } = kill
    const key = `${edge.process.name} ${edge.process.incarnation} ${agent_id}`
    const known = this.#acknowledged.get(key)
    if ((known?.revision ?? 0) >= revision) return
    this.#acknowledged.set(key, { revision, at_ms: this.#world.now_ms })
    if (unconfirmed > 0 || (this.#reactivated.get(agent_id) ?? 0) > revision) return
    const open = this.#openCalls(agent_id).find((call) => call.edge === edge)
    if (open !== undefined)
      throw new Violation(
        'kill: acknowledged while a call goes on',
        `${edge.process.name}, ${agent_id}, ${open.request_id}`,
      )
  }

  /** Before the content of the store is replaced by an older one. */
  forgets(): () => void {
    const confirmed = new Map<SimEdge, Map<string, number>>()
    for (const edge of this.#edges) {
      const known = new Map<string, number>()
      for (const agent_id of this.#agents.keys()) {
        const state = edge.fleet?.killBoard.known(ORG, agent_id)
        if (edge.process.isAlive && state?.is_confirmed) known.set(agent_id, state.revision)
      }
      confirmed.set(edge, known)
    }
    const locksForgot = this.subjects.locks.forgets(this.#edges)
    return () => {
      locksForgot()
      this.subjects.approvals.forgot()
      this.subjects.refresh?.forgot()
      this.failovers++
      this.#failedOver_ms = this.#world.now_ms
      // Those that are lost promise nothing.
      this.#killOf.clear()
      this.look(true)
      // A change that is not answered yet promises nothing.
      const value = Math.min(this.storedVersion(), Number(this.version.value))
      this.version = { value, at_ms: this.#world.now_ms }
      this.#rotated.clear()
      this.scopes.clear()
      this.revoked.clear()
      for (const [name, kill] of this.kills) {
        const [agent_id = '', revision] = name.split(' ')
        if (this.truth(agent_id).revision < Number(revision)) kill.isLost = true
      }
      // What an edge knew only from a message, the store may take back.
      for (const [edge, known] of confirmed)
        for (const agent_id of this.#agents.keys()) {
          const key = `${edge.process.name} ${edge.process.incarnation} ${agent_id}`
          const acknowledged = this.#acknowledged.get(key)
          const { revision } = this.truth(agent_id)
          if (acknowledged === undefined || revision >= acknowledged.revision) continue
          if ((known.get(agent_id) ?? -1) < acknowledged.revision) this.#acknowledged.delete(key)
        }
    }
  }

  killAnswered(agent_id: string, receipt: KillReceipt | null): void {
    const truth = this.truth(agent_id)
    if (receipt === null) throw new Violation('kill: not found', agent_id)
    if (!receipt.complete || truth.status !== 'killed' || !truth.text.includes(receipt.killed_at))
      return
    truth.complete_ms ??= this.#world.now_ms
    for (const call of this.#openCalls(agent_id)) {
      const { process } = call.edge
      if (!process.isPaused && process.resumed_ms < this.#world.now_ms - SLACK_MS)
        throw new Violation(
          'kill: complete while a call goes on',
          `${agent_id}, ${call.request_id}`,
        )
    }
  }

  lockAnswered({ lock, receipt }: { readonly lock: Lock; readonly receipt: LockReceipt }): void {
    this.subjects.locks.answered(lock, receipt, this.#passedCalls())
  }

  reactivationAnswered(agent_id: string, was_killed: boolean): void {
    const truth = this.truth(agent_id)
    if (was_killed && truth.status === 'active') truth.reactivated_ms ??= this.#world.now_ms
  }

  /** A change to this version is answered; with the key, other requests get the same answer. */
  rotated(version: number, key: string | null): void {
    const other = this.#rotated.get(version)
    if (other !== undefined && (key === null || other !== key))
      throw new Violation('change: two requests have made one version', String(version))
    this.#rotated.set(version, key)
    if (version > Number(this.version.value))
      this.version = { value: version, at_ms: this.#world.now_ms }
  }

  #openCalls(agent_id: string): readonly SimCall[] {
    return this.#passedCalls().filter((call) => agentId(call.step.agent) === agent_id)
  }

  #passedCalls(): readonly SimCall[] {
    for (const call of this.#open) if (call.state !== 'passed') this.#open.delete(call)
    return [...this.#open]
  }

  /** Since when an edge can have proved nothing: a connection of its is held, or the store stands; null if that is not so. */
  #cutOff_ms({ links }: SimEdge): number | null {
    const { commands, subscription } = links
    const since = [commands.held_since_ms, subscription.held_since_ms]
    const known = [...since, this.#store.process.idle_since_ms].filter((one) => one !== null)
    return known.length === 0 ? null : Math.min(...known)
  }

  /** A call was passed, refused or cut by its edge. */
  decided(call: SimCall): void {
    const agent_id = agentId(call.step.agent)
    if (call.state === 'passed') this.#passed(call, agent_id)
    else {
      this.#isExplained(call, agent_id)
      const isCounted = this.#isCounted(call, agent_id)
      if (call.state === 'refused' && !isCounted) this.#refused(call, agent_id)
    }
  }

  /** No call is refused or cut but for a reason that is there. */
  #isExplained(call: SimCall, agent_id: string) {
    const { state, reason, step, request_id, arrived_ms, edge } = call
    const what = `${edge.process.name}, ${agent_id}, ${request_id}: ${reason}`
    const wasAsked = (...kinds: readonly string[]): boolean =>
      kinds.some((kind) => this.asked.has(`${kind} ${agent_id}`))
    const isExplained: Readonly<Record<string, () => boolean>> = {
      agw_agent_killed: () => wasAsked('kill', 'automatic kill'),
      agw_invalid_api_key: () =>
        step.key === 1
          ? wasAsked('revoke', 'kill', 'automatic kill')
          : wasAsked('kill', 'automatic kill'),
      agw_permission_denied: () =>
        this.subjects.scopes?.explains(call) ?? (step.path === 'data' && wasAsked('scope')),
      agw_gateway_unavailable: () =>
        this.asked.has('fault') ||
        arrived_ms < STARTED_MS ||
        // An approval is not taken for an agent that is no more what the edge knows of it.
        (step.path === 'asked' && wasAsked('kill', 'automatic kill')),
      agw_locked: () => this.subjects.locks.explains(call),
      agw_approval_required: () => step.path === 'asked',
      agw_approval_expired: () => step.path === 'asked',
      agw_approval_denied: () => wasAsked('deny'),
    }
    if (isExplained[reason]?.() !== true)
      throw new Violation('call: refused without a reason', what)
    const truth = this.truth(agent_id)
    if (
      reason === 'agw_agent_killed' &&
      truth.status === 'active' &&
      truth.reactivated_ms !== null &&
      truth.reactivated_ms <= arrived_ms
    )
      throw new Violation(`change: ${state} after the reactivation`, what)
  }

  #passed(call: SimCall, agent_id: string): void {
    this.#open.add(call)
    const { process } = call.edge
    const now_ms = this.#world.now_ms
    const truth = this.truth(agent_id)
    const cutOff_ms = this.#cutOff_ms(call.edge)
    if (cutOff_ms !== null && now_ms > cutOff_ms + this.#lease_ms + DRIFT_MS)
      throw new Violation('lease: passed while cut off', call.request_id)
    const what = `${process.name}, ${agent_id}, ${call.request_id}`
    const acknowledged = this.#acknowledged.get(
      `${process.name} ${process.incarnation} ${agent_id}`,
    )
    if (acknowledged && (this.#reactivated.get(agent_id) ?? 0) < acknowledged.revision)
      throw new Violation('kill: passed after the acknowledgement', what)
    if (call.edge.fleet?.killBoard.killedAt(ORG, agent_id) != null)
      throw new Violation('kill: passed though the edge knows it', what)
    if (truth.status === 'killed') {
      if (truth.complete_ms !== null) throw new Violation('kill: passed after complete', what)
      if (now_ms > truth.since_ms + this.#lease_ms + LEASE_MARGIN_MS + SLACK_MS)
        throw new Violation('kill: passed after the lease', what)
    }
    if (call.step.path === 'data') {
      const scope = this.scopes.get(agent_id)
      if (scope?.value === false && scope.isChanging === 0 && scope.at_ms <= call.arrived_ms)
        throw new Violation('change: a scope that was narrowed before allowed a call', what)
    }
    const revoked_ms = this.revoked.get(agent_id)
    if (call.step.key === 1 && revoked_ms !== undefined && revoked_ms <= call.arrived_ms)
      throw new Violation('change: a key that was revoked before was accepted', what)
    this.subjects.locks.passed(call)
    this.subjects.scopes?.passed(call)
    if (call.step.path === 'asked') this.subjects.approvals.passed(call)
    const { value, at_ms } = this.version
    if (at_ms <= call.arrived_ms && call.version < Number(value))
      throw new Violation('change: an old credential', `${what}: ${call.version}, not ${value}`)
  }

  #refused(call: SimCall, agent_id: string): void {
    const what = `${call.edge.process.name}, ${agent_id}, ${call.request_id}`
    // The entry of a call that a kill cuts follows it.
    const truth = this.truth(agent_id)
    const isRecent = this.#world.now_ms < truth.since_ms + CUT_MS
    const isCut =
      call.reason === 'agw_locked' ||
      (call.reason === 'agw_agent_killed' && (isRecent || !call.is_known_killed))
    const isKept = this.#failedOver_ms < call.arrived_ms
    if (!isCut && isKept && !this.#isLogged(call.request_id, 20) && !this.isOnlyCounted(call)) {
      const waiting = call.edge.recorder?.metrics.agw_activity_waiting_entries ?? 0
      if (waiting === 0 && call.reason !== 'agw_gateway_unavailable')
        throw new Violation('log: refused before it was logged', `${what} ${call.reason}`)
    }
  }

  /** Further refusals of one kind are counted. */
  #isCounted(call: SimCall, agent_id: string): boolean {
    const { process } = call.edge
    const kind = `${process.name} ${process.incarnation} ${agent_id} ${call.reason}`
    const count = (this.#refusals.get(kind) ?? 0) + 1
    this.#refusals.set(kind, count)
    call.isCounted = count > RECORDED_MAX
    if (call.isCounted) this.#counted.set(agent_id, (this.#counted.get(agent_id) ?? 0) + 1)
    return call.isCounted
  }

  /**
   * A call that a kill cuts after its first refusal was counted, or one after it, has no entry: the counts of the store say how many
   * there are beyond those that are known.
   */
  isOnlyCounted(call: SimCall): boolean {
    const { model } = this.#store
    const agent_id = agentId(call.step.agent)
    const prefix = REDIS_KEYS.refusalCounts(ORG, 0).slice(0, -1)
    const words = model
      .keys()
      .filter((key) => key.startsWith(prefix))
      .flatMap((key) => model.run('HGETALL', [key]) as readonly string[])
    let stored = 0
    for (let i = 0; i < words.length; i += 2)
      if (words[i]?.startsWith(`${agent_id} `)) stored += Number(words[i + 1])
    const known = this.#counted.get(agent_id) ?? 0
    if (stored <= known) return false
    this.#counted.set(agent_id, known + 1)
    call.isCounted = true
    return true
  }

  entries(): ActivityEntry[] {
    const rows = this.#store.model.run('XRANGE', [REDIS_KEYS.activity(ORG), '-', '+'])
    return (rows as [string, string[]][]).flatMap(([, [kind, text = '']]) =>
      kind === 'e' ? [JSON.parse(text) as ActivityEntry] : [],
    )
  }

  /** Whether an entry about the request is among the newest. */
  #isLogged(request_id: string, newest: number): boolean {
    const args = [REDIS_KEYS.activity(ORG), '+', '-', 'COUNT', String(newest)]
    const rows = this.#store.model.run('XREVRANGE', args) as [string, string[]][]
    const isFound = rows.some(([, [, text = '']]) => text.includes(`"${request_id}"`))
    return isFound || (rows.length === newest && this.#isLogged(request_id, newest * 8))
  }

  /** What must hold at every moment, looked at some times a second. */
  check(): void {
    const now_ms = this.#world.now_ms
    if (now_ms - this.#lastSweep_ms < 25) return
    this.#lastSweep_ms = now_ms
    for (const call of this.#passedCalls()) {
      const { process } = call.edge
      if (process.isPaused || now_ms - process.resumed_ms < SLACK_MS) continue
      const truth = this.truth(agentId(call.step.agent))
      const limit_ms = truth.since_ms + this.#lease_ms + LEASE_MARGIN_MS + SLACK_MS
      if (truth.status === 'killed' && now_ms > limit_ms)
        throw new Violation('kill: a call goes on after the lease', call.request_id)
      const cutOff_ms = this.#cutOff_ms(call.edge)
      if (cutOff_ms !== null && now_ms > cutOff_ms + this.#lease_ms + SLACK_MS)
        throw new Violation('lease: a call goes on while cut off', call.request_id)
      this.subjects.locks.goesOn(call)
      const { scopes } = this.subjects
      if (now_ms - process.resumed_ms > LONG_MS) scopes?.goesOn(call)
    }
  }
}
