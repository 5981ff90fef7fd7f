import type { EdgeRecord } from '../control/control-message.ts'
import type { EdgeReceipt } from './kill-receipt.ts'

/** The row of an edge that has not acknowledged a kill. An edge that has deregistered since then has no record. */
export function silentRow(process_id: string, text: string | null | undefined): EdgeReceipt {
  const { edge_id, region } = text
    ? (JSON.parse(text) as EdgeRecord)
    : { edge_id: process_id, region: '' }
  return { edge_id, region, acknowledged_ms: null, terminated: 0, unconfirmed: 0 }
}
