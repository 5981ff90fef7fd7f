import { Type } from 'typebox'
import { ListOf, Nullable, Strict, Timestamp } from '../http/common-schemas.ts'
import { defineRoute, type Route } from '../http/define-route.ts'
import { answer } from '../http/outcome.ts'
import { liveEdgeRecords } from '../../core/control/live-edge-records.ts'

export const EdgeView = Strict({
  edge_id: Type.String(),
  region: Type.String(),
  started_at: Timestamp,
  version: Nullable(Type.String({ description: 'Version of the program' })),
  in_flight: Type.Integer({ description: 'Calls in flight' }),
  tunnels: Type.Integer({ description: 'Open tunnels of the forward proxy' }),
  forward_ca: Nullable(
    Type.String({
      description:
        'SHA-256 fingerprint of the CA that its certificates are issued with; null before the first',
    }),
  ),
  draining: Type.Boolean({ description: 'It accepts no new calls and stops after its last one' }),
  beat_age_ms: Type.Integer({ description: 'Time since its last heartbeat' }),
})

export const edgeRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: '/admin/edges',
    role: 'viewer',
    tag: 'edges',
    summary: 'List live edges and their calls in flight',
    answers: { 200: ListOf(EdgeView) },
    handle: async ({ context: { redis, settings } }) => {
      const edges = await liveEdgeRecords(redis, settings.killLease_ms)
      const data = edges.map(({ record, beat_age_ms }) => {
        const { edge_id, region, started_at, version = null, in_flight } = record
        const { tunnels = 0, forward_ca = null, draining } = record
        const counts = { in_flight, tunnels, forward_ca, draining, beat_age_ms }
        return { edge_id, region, started_at, version, ...counts }
      })
      return answer(200, { data, next_cursor: null })
    },
  }),
]
