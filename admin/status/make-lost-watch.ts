import type { AlertCause } from '../../core/alerts/alert.ts'
import { raiseAlert } from '../../core/alerts/raise-alert.ts'
import { resolveWhere } from '../../core/alerts/resolve-where.ts'
import { FORGET_AFTER_LEASES } from '../../core/control/control-message.ts'
import { liveEdgeRecords } from '../../core/control/live-edge-records.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { runScript } from '../../core/redis/run-script.ts'
import type { EdgeWatch } from './edge-watch.ts'

const ABOUT = 'edge_lost '
/** In a fleet whose names change a lost name never comes back, so further ones are counted in one alert. */
const ALERTS_MAX = 100

/**
 * One alert for each edge whose heartbeat stopped without a goodbye. It stands until an edge of that name is back or an operator
 * acknowledges it. An edge that was draining or has shut down makes none.
 */
export function makeLostWatch({
  redis,
  organization_id,
  lease_ms,
  now,
}: EdgeWatch): () => Promise<void> {
  const { edges, edgeBeats, beatClock, lostEdges } = REDIS_KEYS
  const keys = [edges, edgeBeats, beatClock, lostEdges] as const
  return async () => {
    const found = await runScript(redis, 'lost-edges', keys, [lease_ms * FORGET_AFTER_LEASES])
    const live = new Set(
      (await liveEdgeRecords(redis, lease_ms)).map(({ record }) => record.edge_id),
    )
    const open = await resolveWhere(redis, organization_id, ABOUT, {
      isOver: (edge_id) => live.has(edge_id),
      resolution: 'The edge is back.',
      at: now(),
    })
    let room = ALERTS_MAX - open.length
    const lost = found as readonly string[]
    for (let i = 0; i + 1 < lost.length; i += 2) {
      const edge_id = lost[i] ?? ''
      const value = Number(lost[i + 1])
      if (!live.has(edge_id) && !open.includes(edge_id)) {
        const cause =
          edge_id === '' || room-- <= 0 ? furtherOf(edge_id, value) : lostOf(edge_id, value)
        await raiseAlert(redis, organization_id, cause, now())
      }
      await redis.hdel(lostEdges, edge_id)
    }
  }
}

const lostOf = (edge_id: string, beat_ms: number): AlertCause => ({
  about: `${ABOUT}${edge_id}`,
  kind: 'edge_lost',
  severity: 'critical',
  title: `The edge ${edge_id} is lost: it stopped sending heartbeats without shutting down, and serves no calls.`,
  occurrence: { edge_id, last_heartbeat_at: new Date(beat_ms).toISOString() },
})

const furtherOf = (edge_id: string, value: number): AlertCause => ({
  about: 'edges_lost',
  kind: 'edge_lost',
  severity: 'critical',
  title: `More than ${ALERTS_MAX} edges are lost; further ones are counted here.`,
  occurrence: edge_id === '' ? { further: value } : { edge_id },
})
