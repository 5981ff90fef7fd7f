import type { ScanJob, ScanReply } from './answer-job.ts'
import { CpuDebt } from './cpu-debt.ts'
import { jobLimitMs } from './job-limit.ts'
import type { JobOwner } from './job-owner.ts'
import { ScanProcess } from './scan-process.ts'

/** How many times its CPU time a job may take where other processes have the cores. */
const BUSY_PATIENCE = 6
/** Starting a process and building its tables takes 0.2 s, but far longer where all cores are busy. It needs no body of a caller. */
const START_TIMEOUT_MS = 60_000
/** CPU time of a start. */
const START_CPU_MS = 2_000
/** Jobs of more bytes leave one process free, so that a small one does not wait behind them. */
const LARGE_BYTES = 262_144
/** A process that needs more memory for one body is replaced; the bytes of bodies do not count. */
const HEAP_MB = 512

/** One agent may have a quarter, and one organization half, of the waiting jobs and of their bytes. */
const AGENT_SHARE = 1 / 4
const ORGANIZATION_SHARE = 1 / 2
/** The last turn is remembered for as many owners as may wait at a time. */
const TURNS_MAX = 1_000

/** Whether a job would be accepted: `owner_full` if its owner has too much waiting, `full` if all owners together have. */
export type Room = 'yes' | 'owner_full' | 'full'

type Waiting = {
  readonly job: ScanJob
  /** Memory that is not used any more once the job is sent. */
  readonly freed: ArrayBuffer | null
  readonly owner: JobOwner | null
  readonly bytes: number
  /** CPU time that the job may take. */
  readonly limit_ms: number
  readonly resolve: (reply: ScanReply | null) => void
  readonly reject: (error: Error) => void
}
type Slot = {
  worker: ScanProcess | null
  waiting: Waiting | null
  timer: NodeJS.Timeout | null
  started_ms: number
}

export type SlotLimits = {
  readonly workers: number
  /** Jobs that wait, and the bytes of their bodies. */
  readonly queue_limit: number
  readonly queue_bytes: number
  /** The worker's file, and its bounds; others in tests. */
  readonly worker_url?: URL
  readonly timeout_ms?: number
  readonly heap_mb?: number
}

/**
 * Guarantees that each accepted job is answered once, that no slot has two jobs, and that the jobs of one organization leave one
 * slot to the others, if there are several.
 */
export class WorkerSlots {
  readonly #slots: Slot[]
  readonly #queue: Waiting[] = []
  readonly #limits: SlotLimits
  #queuedBytes = 0
  #isClosed = false
  #turn = 0
  readonly #turns = new Map<string, number>()
  readonly #debt = new CpuDebt()

  constructor(limits: SlotLimits) {
    this.#limits = limits
    this.#slots = Array.from({ length: limits.workers }, () => ({
      worker: null,
      waiting: null,
      timer: null,
      started_ms: 0,
    }))
  }

  /** Whether a job of this size would be accepted; its bytes must not be transferred before. */
  room(bytes: number, owner: JobOwner | null): Room {
    if (this.#isClosed) return 'full'
    if (this.#freeSlot(bytes, owner) !== undefined) return 'yes'
    this.#dropGone()
    if (owner !== null && (this.#mustWait(owner) || !this.#hasShare(bytes, owner)))
      return 'owner_full'
    const { queue_limit, queue_bytes } = this.#limits
    const fits = this.#queue.length < queue_limit && this.#queuedBytes + bytes <= queue_bytes
    return fits ? 'yes' : 'full'
  }

  /** It has used more than its part while others wait. */
  #mustWait({ organization_id }: JobOwner): boolean {
    return (
      this.#debt.isSpent(organization_id, performance.now()) &&
      this.#queue.some((one) => organizationOf(one) !== organization_id)
    )
  }

  /** One job may always wait, whatever its size. */
  #hasShare(bytes: number, owner: JobOwner): boolean {
    const { queue_limit, queue_bytes } = this.#limits
    const isWithin = (jobs: readonly Waiting[], share: number): boolean =>
      jobs.length === 0 ||
      (jobs.length < Math.max(1, queue_limit * share) &&
        jobs.reduce((sum, job) => sum + job.bytes, bytes) <= queue_bytes * share)
    const ofOrganization = this.#queue.filter(
      (one) => organizationOf(one) === owner.organization_id,
    )
    const ofAgent = ofOrganization.filter((one) => one.owner?.agent_id === owner.agent_id)
    return isWithin(ofAgent, AGENT_SHARE) && isWithin(ofOrganization, ORGANIZATION_SHARE)
  }

  /** Nobody waits for their results. */
  #dropGone(): void {
    for (let i = this.#queue.length - 1; i >= 0; i--) {
      const waiting = this.#queue[i]
      if (waiting?.owner?.isGone() !== true) continue
      this.#queue.splice(i, 1)
      this.#queuedBytes -= waiting.bytes
      waiting.resolve(null)
    }
  }

  /** Null: the pool was closed in the meantime, or the caller has left. A promise that rejects is an error in the worker. */
  run(
    job: ScanJob,
    bytes: number,
    owner: JobOwner | null = null,
    freed: ArrayBuffer | null = null,
    limit_ms = jobLimitMs(job, bytes),
  ): Promise<ScanReply | null> {
    return new Promise((resolve, reject) => {
      const waiting = { job, freed, bytes, owner, limit_ms, resolve, reject }
      const slot = this.#freeSlot(bytes, owner)
      if (slot !== undefined) {
        this.#start(slot, waiting)
        return
      }
      this.#queue.push(waiting)
      this.#queuedBytes += bytes
    })
  }

  /** Starts all processes with the same small job, before other jobs arrive. */
  async runInEach(job: ScanJob): Promise<void> {
    await Promise.all(this.#slots.map(() => this.run(job, 0, null, null, START_TIMEOUT_MS)))
  }

  async close(): Promise<void> {
    this.#isClosed = true
    for (const waiting of this.#queue.splice(0)) waiting.resolve(null)
    await Promise.all(
      this.#slots.map(async (slot) => {
        finish(slot)?.resolve(null)
        await slot.worker?.kill()
      }),
    )
  }

  /**
   * One of two processes is reserved for jobs that are not large, and one for the jobs of others. A running one is preferred.
   */
  #freeSlot(bytes: number, owner: JobOwner | null): Slot | undefined {
    if (owner !== null && this.#heldBy(owner) >= Math.max(1, this.#slots.length - 1))
      return undefined
    const isLarge = bytes > LARGE_BYTES
    const free = this.#slots.filter((slot) => slot.waiting === null)
    if (isLarge && this.#slots.length > 1 && free.length <= 1) return undefined
    return free.find((slot) => slot.worker !== null) ?? free[0]
  }

  #heldBy({ organization_id }: JobOwner): number {
    return this.#slots.filter(
      ({ waiting }) => waiting !== null && organizationOf(waiting) === organization_id,
    ).length
  }

  /** Organizations that have used less come first; they take turns, and within one its agents. */
  #startNext(): void {
    this.#dropGone()
    const next = this.#queue
      .filter(({ bytes, owner }) => this.#freeSlot(bytes, owner) !== undefined)
      .reduce<Waiting | null>(
        (first, one) => (first === null || this.#isBefore(one, first) ? one : first),
        null,
      )
    const slot = next === null ? undefined : this.#freeSlot(next.bytes, next.owner)
    if (next === null || slot === undefined) return
    this.#queue.splice(this.#queue.indexOf(next), 1)
    this.#queuedBytes -= next.bytes
    this.#start(slot, next)
    // What this one leaves free may be for a job of somebody else.
    if (slot.waiting === next) this.#startNext()
  }

  #isBefore(one: Waiting, other: Waiting): boolean {
    const now_ms = performance.now()
    const byDebt =
      this.#debt.rank(organizationOf(one), now_ms) - this.#debt.rank(organizationOf(other), now_ms)
    if (byDebt !== 0) return byDebt < 0
    const byOrganization = this.#turnOf(organizationOf(one)) - this.#turnOf(organizationOf(other))
    if (byOrganization !== 0) return byOrganization < 0
    return this.#turnOf(agentOf(one)) < this.#turnOf(agentOf(other))
  }

  /** When an owner last had a thread; those that never had one come first. */
  #turnOf(owner: string): number {
    return this.#turns.get(owner) ?? 0
  }

  #takeTurn(waiting: Waiting): void {
    if (this.#turns.size > TURNS_MAX) this.#turns.clear()
    this.#turn++
    this.#turns.set(organizationOf(waiting), this.#turn)
    this.#turns.set(agentOf(waiting), this.#turn)
  }

  #start(slot: Slot, waiting: Waiting): void {
    this.#takeTurn(waiting)
    let worker: ScanProcess
    const start_ms = slot.worker === null ? START_CPU_MS : 0
    try {
      worker = slot.worker ??= this.#hire(slot)
    } catch (error) {
      // The system has no memory for a process. This may be a turn of its own, in which a throw would end the edge.
      waiting.reject(error as Error)
      this.#startNext()
      return
    }
    slot.waiting = waiting
    slot.started_ms = performance.now()
    worker.holdOpen(true)
    this.#watch(slot, worker, this.#limits.timeout_ms ?? waiting.limit_ms + start_ms)
    worker.send(waiting.job, waiting.freed)
  }

  /** Ends a job that has used its time. One that has not got it, because others have the cores, may wait for it. */
  #watch(slot: Slot, worker: ScanProcess, limit_ms: number): void {
    const elapsed_ms = performance.now() - slot.started_ms
    const left_ms = Math.max(limit_ms - worker.cpuMs(), limit_ms / BUSY_PATIENCE)
    const wait_ms = Math.min(left_ms, limit_ms * BUSY_PATIENCE - elapsed_ms)
    slot.timer = setTimeout(() => {
      const isOver = performance.now() - slot.started_ms >= limit_ms * BUSY_PATIENCE
      if (worker.cpuMs() < limit_ms && !isOver) this.#watch(slot, worker, limit_ms)
      else this.#replace(slot, new Error(`a scan took more than ${Math.round(limit_ms)} ms`))
    }, wait_ms)
  }

  #hire(slot: Slot): ScanProcess {
    const { worker_url: url, heap_mb = HEAP_MB } = this.#limits
    const worker = new ScanProcess({
      url,
      heap_mb,
      onReply: (reply, cpu_ms) => {
        const waiting = finish(slot)
        this.#count(waiting, cpu_ms)
        worker.holdOpen(false)
        if (reply.error === null) waiting?.resolve(reply)
        else waiting?.reject(new Error(`the scanner failed: ${reply.error}`))
        this.#startNext()
      },
      onEnd: (error) => this.#replace(slot, error),
    })
    return worker
  }

  #count(job: Waiting | null, cpu_ms: number): void {
    if (job?.owner) this.#debt.add(organizationOf(job), cpu_ms, performance.now())
  }

  /** A failed worker is discarded with its job; the slot starts a new worker for the next one. */
  #replace(slot: Slot, error: Error): void {
    const failed = finish(slot)
    const { worker } = slot
    this.#count(failed, worker?.cpuMs() ?? 0)
    slot.worker = null
    void worker?.kill()
    failed?.reject(error)
    if (!this.#isClosed) this.#startNext()
  }
}

const organizationOf = ({ owner }: Waiting): string => owner?.organization_id ?? ''
const agentOf = (waiting: Waiting): string =>
  `${organizationOf(waiting)} ${waiting.owner?.agent_id ?? ''}`

const finish = (slot: Slot): Waiting | null => {
  const { waiting } = slot
  if (slot.timer !== null) clearTimeout(slot.timer)
  slot.timer = null
  slot.waiting = null
  return waiting
}
