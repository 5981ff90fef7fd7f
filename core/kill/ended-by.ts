import type { Acknowledgement } from '../control/control-message.ts'
import type { EdgeReceipt } from './kill-receipt.ts'

/** What an edge has ended: its acknowledgement counts tunnels of the forward proxy among the calls, a receipt apart from them. */
export function endedBy({
  terminated,
  tunnels = 0,
  unconfirmed,
}: Pick<Acknowledgement, 'terminated' | 'tunnels' | 'unconfirmed'>): Pick<
  EdgeReceipt,
  'terminated' | 'tunnels' | 'unconfirmed'
> {
  return {
    terminated: terminated - tunnels,
    ...(tunnels > 0 ? { tunnels } : {}),
    unconfirmed,
  }
}
