import type { ScanJob, ScanReply } from './answer-job.ts'
import type { JobOwner } from './job-owner.ts'
import { ScanProcess } from './scan-process.ts'

/** No body that Envoy accepts takes a tenth of this time. A worker that exceeds it is replaced. */
const JOB_TIMEOUT_MS = 15_000
/** Starting a process and building its tables takes 0.2 s, but far longer where all cores are busy. It needs no body of a caller. */
const START_TIMEOUT_MS = 60_000
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
  readonly timeout_ms: number
  readonly resolve: (reply: ScanReply | null) => void
  readonly reject: (error: Error) => void
}
type Slot = { worker: ScanProcess | null; waiting: Waiting | null; timer: NodeJS.Timeout | null }

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

/** Guarantees that each accepted job is answered once, and that no slot has two jobs. */
export class WorkerSlots {
  readonly #slots: Slot[]
  readonly #queue: Waiting[] = []
  readonly #limits: SlotLimits
  #queuedBytes = 0
  #isClosed = false
  #turn = 0
  readonly #turns = new Map<string, number>()

  constructor(limits: SlotLimits) {
    this.#limits = limits
    this.#slots = Array.from({ length: limits.workers }, () => ({
      worker: null,
      waiting: null,
      timer: null,
    }))
  }

  /** Whether a job of this size would be accepted; its bytes must not be transferred before. */
  room(bytes: number, owner: JobOwner | null): Room {
    if (this.#isClosed) return 'full'
    if (this.#freeSlot(bytes) !== undefined) return 'yes'
    this.#dropGone()
    if (owner !== null && !this.#hasShare(bytes, owner)) return 'owner_full'
    const { queue_limit, queue_bytes } = this.#limits
    const fits = this.#queue.length < queue_limit && this.#queuedBytes + bytes <= queue_bytes
    return fits ? 'yes' : 'full'
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
    timeout_ms = JOB_TIMEOUT_MS,
  ): Promise<ScanReply | null> {
    return new Promise((resolve, reject) => {
      const waiting = { job, freed, bytes, owner, timeout_ms, resolve, reject }
      const slot = this.#freeSlot(bytes)
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

  /** One of two processes is reserved for jobs that are not large. A running one is preferred. */
  #freeSlot(bytes: number): Slot | undefined {
    const isLarge = bytes > LARGE_BYTES
    const free = this.#slots.filter((slot) => slot.waiting === null)
    if (isLarge && this.#slots.length > 1 && free.length <= 1) return undefined
    return free.find((slot) => slot.worker !== null) ?? free[0]
  }

  /** The organizations take turns, and within one its agents. */
  #startNext(): void {
    this.#dropGone()
    const next = this.#queue
      .filter(({ bytes }) => this.#freeSlot(bytes) !== undefined)
      .reduce<Waiting | null>(
        (first, one) => (first === null || this.#isBefore(one, first) ? one : first),
        null,
      )
    const slot = next === null ? undefined : this.#freeSlot(next.bytes)
    if (next === null || slot === undefined) return
    this.#queue.splice(this.#queue.indexOf(next), 1)
    this.#queuedBytes -= next.bytes
    this.#start(slot, next)
  }

  #isBefore(one: Waiting, other: Waiting): boolean {
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
    try {
      worker = slot.worker ??= this.#hire(slot)
    } catch (error) {
      // The system has no memory for a process. This may be a turn of its own, in which a throw would end the edge.
      waiting.reject(error as Error)
      this.#startNext()
      return
    }
    const timeout_ms = this.#limits.timeout_ms ?? waiting.timeout_ms
    slot.waiting = waiting
    worker.holdOpen(true)
    const late = new Error(`a scan took more than ${timeout_ms} ms`)
    slot.timer = setTimeout(() => this.#replace(slot, late), timeout_ms)
    worker.send(waiting.job, waiting.freed)
  }

  #hire(slot: Slot): ScanProcess {
    const { worker_url: url, heap_mb = HEAP_MB } = this.#limits
    const worker = new ScanProcess({
      url,
      heap_mb,
      onReply: (reply) => {
        const waiting = finish(slot)
        worker.holdOpen(false)
        if (reply.error === null) waiting?.resolve(reply)
        else waiting?.reject(new Error(`the scanner failed: ${reply.error}`))
        this.#startNext()
      },
      onEnd: (error) => this.#replace(slot, error),
    })
    return worker
  }

  /** A failed worker is discarded with its job; the slot starts a new worker for the next one. */
  #replace(slot: Slot, error: Error): void {
    const failed = finish(slot)
    const { worker } = slot
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
