import type { KillCounts } from './kill-entries.ts'
import {
  type Counted,
  type EdgeReceipt,
  RECEIPT_ROWS_MAX,
  type StoredReceipt,
} from './kill-receipt.ts'

/**
 * The receipt with what the edges have done so far. A row without unconfirmed calls stays as it was first measured. An
 * edge without a new row keeps its row: one whose lease has expired is no longer asked, but it had not acknowledged.
 */
export const withCounts = (
  receipt: StoredReceipt,
  counts: KillCounts,
  rows: readonly EdgeReceipt[],
  { counted_at, still_usable_keys }: Pick<StoredReceipt, 'counted_at' | 'still_usable_keys'>,
): StoredReceipt => ({
  ...withRows(receipt, counts, rows, counted_at),
  still_usable_keys: still_usable_keys.slice(0, RECEIPT_ROWS_MAX),
  last_request: counts.metadata.last_request,
  requests_last_hour: counts.metadata.requests_last_hour,
})

/** The same of what kills and locks have in common. */
export function withRows<Receipt extends Counted>(
  receipt: Receipt,
  counts: Omit<KillCounts, 'metadata'>,
  rows: readonly EdgeReceipt[],
  counted_at: string | null,
): Receipt {
  const before = new Map(receipt.edges.map((row) => [row.edge_id, row]))
  const named = new Set(rows.map(({ edge_id }) => edge_id))
  const edges = [
    ...rows.map((row) => {
      const earlier = before.get(row.edge_id)
      return earlier !== undefined && earlier.acknowledged_ms !== null && earlier.unconfirmed === 0
        ? earlier
        : row
    }),
    ...receipt.edges.filter(({ edge_id }) => !named.has(edge_id)),
  ]
  const last_ms = Math.max(0, ...edges.map(({ acknowledged_ms }) => acknowledged_ms ?? 0))
  return {
    ...receipt,
    counted_at,
    complete: counts.complete,
    in_flight_requests_terminated: counts.requests_terminated,
    tunnels_terminated: counts.tunnels_terminated,
    propagation_ms: Math.ceil(last_ms),
    // Those that did not acknowledge come first, since they are what an operator has to look after.
    edges: edges.toSorted((a, b) => rankOf(a) - rankOf(b)).slice(0, RECEIPT_ROWS_MAX),
  }
}

const rankOf = ({ acknowledged_ms, unconfirmed }: EdgeReceipt): number =>
  acknowledged_ms === null ? 0 : unconfirmed > 0 ? 1 : 2
