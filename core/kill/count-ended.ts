import type { Acknowledgement } from '../control/control-message.ts'
import type { KillCounts } from './kill-entries.ts'

/** What all edges have ended; each counts tunnels of the forward proxy among the calls. */
export function countEnded(
  heard: readonly Pick<Acknowledgement, 'terminated' | 'tunnels' | 'unconfirmed'>[],
): Pick<KillCounts, 'requests_terminated' | 'tunnels_terminated' | 'unconfirmed'> {
  const sum = (count: 'terminated' | 'tunnels' | 'unconfirmed'): number =>
    heard.reduce((total, acknowledgement) => total + (acknowledgement[count] ?? 0), 0)
  const tunnels_terminated = sum('tunnels')
  return {
    requests_terminated: sum('terminated') - tunnels_terminated,
    tunnels_terminated,
    unconfirmed: sum('unconfirmed'),
  }
}
