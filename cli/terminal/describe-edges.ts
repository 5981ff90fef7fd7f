import type { EdgeReceipt } from '../../core/kill/kill-receipt.ts'
import { counted } from './counted.ts'

/** What each edge did for a kill or a lock, a line each. */
export const describeEdges = (edges: readonly EdgeReceipt[]): string[] =>
  edges.map(
    ({ edge_id, region, acknowledged_ms, terminated, tunnels = 0, unconfirmed, is_too_old }) =>
      [
        `  ${edge_id} (${region})`,
        acknowledged_ms === null ? 'silent' : `${acknowledged_ms} ms`,
        `${terminated} ended${tunnels > 0 ? `, ${counted(tunnels, 'tunnel')} closed` : ''}${unconfirmed > 0 ? `, ${unconfirmed} unconfirmed` : ''}${is_too_old ? ', too old to enforce it' : ''}`,
      ].join('  '),
  )
