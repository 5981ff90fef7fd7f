import { openCall } from './open-call.ts'
import type { Access } from './operator.ts'
import type { Fleet } from './start-fleet.ts'
import { KILL, type Restriction } from './restrictions.ts'
import { until } from './until.ts'

export interface CutOff {
  /** From the break to the first refusal. */
  readonly refused_after_ms: number
  /** From the break to the last byte of a stream that was open. */
  readonly silent_after_ms: number
  /** From the repair to the first call that went through. */
  readonly recovered_after_ms: number
  /** What a kill of another agent answered while the edge was cut off. */
  readonly receipt: any
  /** From the break to this answer. */
  readonly receipt_after_ms: number
  /** What locks of other agents answered while the edge was cut off, and their calls after the repair. */
  readonly locked: readonly { readonly receipt: any; readonly answer: string }[]
  /** What a call of the killed agent was answered after the repair. */
  readonly killed_answer: { readonly status: number | null; readonly reason: string | null }
}

/** Cuts an edge off its store while a stream runs through it, kills an agent in the meantime, and reconnects it. */
export async function cutOff(
  fleet: Fleet,
  edge: number,
  accesses: { readonly living: Access; readonly killed: Access },
  breakIt: () => unknown,
  mendIt: () => unknown,
  locks: readonly { readonly access: Access; readonly lock: Restriction }[] = [],
): Promise<CutOff> {
  const url = fleet.edges[edge]?.url ?? ''
  const { living, killed } = accesses
  const call = (access: Access, path: string) =>
    // A lock may let pass what only reads.
    openCall(url, `${access.base_url}${path}`, access.headers, '')
  const all = [living, killed, ...locks.map(({ access }) => access)]
  const streams = all.map((access) => call(access, '/sse'))
  for (const stream of streams) await stream.answered
  const broken_ms = performance.now()
  await breakIt()
  const refusal = until('the edge refuses', async () => {
    const { reason } = await call(living, '/while-cut-off').ended
    return reason === 'gateway_unavailable' && performance.now()
  })
  const locking = locks.map(({ access, lock }) => lock.impose(fleet.operator, access))
  const receipt = await KILL.impose(fleet.operator, killed)
  const receipt_ms = performance.now()
  const lock_receipts = await Promise.all(locking)
  const refused_ms = await refusal
  const ends = await Promise.all(streams.map(({ ended }) => ended))
  const mended_ms = performance.now()
  await mendIt()
  const recovered_ms = await until('the edge serves again', async () => {
    const { status } = await call(living, '/recovered').ended
    return status === 200 && performance.now()
  })
  // On a busy machine the edge may lose its lease once more.
  const decided = (access: Access) =>
    until('the edge decides on the agent', async () => {
      const answer = await call(access, '/killed').ended
      return answer.reason !== 'gateway_unavailable' && answer
    })
  const { status, reason } = await decided(killed)
  const locked = await Promise.all(
    locks.map(async ({ access }, i) => {
      const answer = await decided(access)
      return { receipt: lock_receipts[i], answer: `${answer.status} ${answer.reason}` }
    }),
  )
  return {
    refused_after_ms: refused_ms - broken_ms,
    silent_after_ms: Math.max(...ends.map(({ last_byte_ms }) => last_byte_ms)) - broken_ms,
    recovered_after_ms: recovered_ms - mended_ms,
    receipt,
    receipt_after_ms: receipt_ms - broken_ms,
    locked,
    killed_answer: { status, reason },
  }
}
