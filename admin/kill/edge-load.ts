import type { EdgeRecord } from '../../core/control/control-message.ts'

/** What is in flight. Null if an edge does not say: it is of version 0.2, or reports only its busiest agents. */
export interface EdgeLoad {
  readonly in_flight: number | null
  readonly tunnels: number | null
}

/** All that is in flight, by the last heartbeats. */
export const wholeLoad = (edges: readonly EdgeRecord[]): EdgeLoad => ({
  in_flight: edges.reduce((sum, edge) => sum + edge.in_flight, 0),
  tunnels: edges.reduce((sum, { tunnels = 0 }) => sum + tunnels, 0),
})

/**
 * What some agents have in flight, by the last heartbeats, which name an agent by its organization and id.
 * @param isOne whether only one agent is wanted: an edge that names it says all about it
 */
export function loadOf(
  edges: readonly EdgeRecord[],
  isWanted: (name: string) => boolean,
  isOne: boolean,
): EdgeLoad {
  let [in_flight, of_tunnels] = [0, 0]
  for (const { in_flight: all, tunnels = 0, busiest } of edges) {
    if (all + tunnels === 0) continue
    const names = Object.keys(busiest?.calls ?? {}).filter(isWanted)
    const saysAll = busiest?.is_whole === true || (isOne && names.length > 0)
    if (busiest === undefined || !saysAll) return { in_flight: null, tunnels: null }
    for (const name of names) {
      in_flight += busiest.calls[name] ?? 0
      of_tunnels += busiest.tunnels?.[name] ?? 0
    }
  }
  return { in_flight, tunnels: of_tunnels }
}
