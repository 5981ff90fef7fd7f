import { createHmac } from 'node:crypto'
import { Type } from 'typebox'
import { ListOf, Nullable, Strict, Timestamp } from '../http/common-schemas.ts'
import { defineRoute, type Route } from '../http/define-route.ts'
import { answer } from '../http/outcome.ts'
import type { KeyRing } from '../../core/keys/seal.ts'
import { isDeploymentAdmin } from '../access/sign-in.ts'
import { liveEdgeRecords } from '../../core/control/live-edge-records.ts'

export const EdgeView = Strict({
  edge_id: Type.String({
    description:
      'For tokens other than those of admins of the default organization, a pseudonym: the name may be that of a host',
  }),
  region: Type.String(),
  role: Type.Enum(['active', 'standby'], {
    description:
      'A `standby` has the same state as the others, and gets calls only while no `active` edge of its Envoy is healthy',
  }),
  started_at: Timestamp,
  version: Nullable(
    Type.String({
      description:
        'Version of the program; null unless the token is of an admin of the default organization',
    }),
  ),
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

/** The same for as long as the encryption key is; without the key it says nothing of the name. */
function pseudonymOf(edge_id: string, { primary_id, keys }: KeyRing): string {
  const key = keys.get(primary_id)
  if (key === undefined) throw new Error('the key ring has no primary key')
  const mac = createHmac('sha256', key).update(`edge name\0${edge_id}`).digest('hex')
  return `edge_${mac.slice(0, 12)}`
}

export const edgeRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: '/admin/edges',
    role: 'viewer',
    tag: 'edges',
    summary: 'List live edges and their calls in flight',
    answers: { 200: ListOf(EdgeView) },
    handle: async ({ context: { redis, ring, settings }, actor }) => {
      const seesAll = isDeploymentAdmin(actor, settings.organizationId)
      const edges = await liveEdgeRecords(redis, settings.killLease_ms)
      const data = edges.map(({ record, beat_age_ms }) => {
        const { edge_id, region, is_standby = false, started_at, version = null } = record
        const { in_flight, tunnels = 0, forward_ca = null, draining } = record
        return {
          edge_id: seesAll ? edge_id : pseudonymOf(edge_id, ring),
          region,
          role: is_standby ? ('standby' as const) : ('active' as const),
          started_at,
          version: seesAll ? version : null,
          in_flight,
          tunnels,
          forward_ca,
          draining,
          beat_age_ms,
        }
      })
      return answer(200, { data, next_cursor: null })
    },
  }),
]
