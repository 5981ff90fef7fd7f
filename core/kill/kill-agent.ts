import { awaitEdges, finishSoon, type KillParts, orElse, OWN_FINISH_MS } from './await-edges.ts'
import type { EdgeReceipt } from './kill-receipt.ts'
import { type KillOrder, publishKill, type UnsignedOrder } from './publish-kill.ts'
import { readCallCounts } from './read-call-counts.ts'
import { readStillUsableKeys } from './read-still-usable-keys.ts'
import { withCounts } from './with-counts.ts'

/** The result of a kill. */
export interface KillReceipt {
  readonly status: 'killed'
  /** Of the kept receipt. */
  readonly kill_id: string | null
  readonly agent_id: string
  readonly killed_at: string
  readonly credentials_revoked: number
  readonly in_flight_requests_terminated: number
  /** Open tunnels of the forward proxy that were closed. */
  readonly tunnels_terminated: number
  /** From the publish to the last acknowledgement, on the clock of this process. */
  readonly propagation_ms: number
  /** Every edge has acknowledged, or its lease has certainly expired, and no call is unconfirmed. */
  readonly complete: boolean
  readonly edges: readonly EdgeReceipt[]
  readonly still_usable_keys: readonly string[]
  /** Replicas of the store, and those that have received the kill; null if there are none. */
  readonly replicas: { readonly connected: number; readonly acknowledged: number } | null
}

type Unfinished<Order> = Omit<Order, 'own_finish_ms'>

/**
 * Kills an agent and returns the result on every edge, as it is after a second at most.
 * @returns null if the agent does not exist; `not_signed_in` if it is not certain that the caller may do this
 * @throws if the store is unavailable or rejects the write
 */
export async function killAgent(
  parts: KillParts,
  order: Unfinished<KillOrder>,
): Promise<KillReceipt | null>
export async function killAgent(
  parts: KillParts,
  order: Unfinished<KillOrder> | Unfinished<UnsignedOrder>,
): Promise<KillReceipt | null | 'not_signed_in'>
export async function killAgent(
  parts: KillParts,
  order: Unfinished<KillOrder> | Unfinished<UnsignedOrder>,
): Promise<KillReceipt | null | 'not_signed_in'> {
  const { redis, now } = parts
  const killed = await publishKill(parts, { ...order, own_finish_ms: OWN_FINISH_MS })
  if (killed === null || killed === 'not_signed_in') return killed
  const { record, credentials_revoked } = killed
  const { organization_id, agent_id } = record
  const awaited = await awaitEdges(parts, killed)
  const { rows, replicas, isSettled } = awaited
  const at_ms = now().getTime()
  // The rest only reports the kill. If it fails, the kill itself is not affected.
  const [still_usable_keys, metadata] = await Promise.all([
    orElse(readStillUsableKeys(redis, organization_id, agent_id, at_ms), []),
    orElse(readCallCounts(redis, organization_id, agent_id, at_ms), NO_CALLS),
  ])
  const counts = { ...awaited.counts, metadata }
  const counted = { counted_at: now().toISOString(), still_usable_keys }
  const receipt = record.receipt && withCounts(record.receipt, counts, rows, counted)
  const done = { ...killed, record: { ...record, ...(receipt === undefined ? {} : { receipt }) } }
  await finishSoon(parts, done, counts, isSettled)
  return {
    status: 'killed',
    kill_id: record.receipt?.kill_id ?? null,
    agent_id,
    killed_at: record.killed_at,
    credentials_revoked,
    in_flight_requests_terminated: counts.requests_terminated,
    tunnels_terminated: counts.tunnels_terminated,
    propagation_ms: counts.propagation_ms,
    complete: counts.complete,
    edges: rows,
    still_usable_keys,
    replicas,
  }
}

const NO_CALLS = { last_request: null, requests_last_hour: 0 } as const
