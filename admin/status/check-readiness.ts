import { type Static, Type } from 'typebox'
import { liveEdges } from '../../core/control/live-edges.ts'
import { writeProblem } from '../../core/redis/connection-problem.ts'
import { storeProblem } from '../bootstrap/store-lost.ts'
import type { AdminContext } from '../context/admin-context.ts'
import { Strict } from '../http/common-schemas.ts'
import { probeProxy } from './probe-proxy.ts'

export type Readiness = Static<typeof Readiness>
export const Readiness = Strict({
  ready: Type.Boolean(),
  /** By part: `ok`, or the problem. */
  parts: Strict({
    redis: Type.String(),
    store: Type.String(),
    edges: Type.String(),
    proxy: Type.String(),
    encryption_key: Type.String(),
  }),
  live_edges: Type.Integer(),
})

/** Ready when the store accepts writes, an edge holds its lease, and a probe through listener and ext-proc came back. */
export async function checkReadiness({
  redis,
  settings,
  keyProblem,
}: AdminContext): Promise<Readiness> {
  const [problem, live, store, proxy] = await Promise.all([
    writeProblem(redis),
    liveEdges(redis, settings.killLease_ms).catch(() => null),
    storeProblem(redis, settings.organizationId).catch(() => null),
    probeProxy(settings, redis),
  ])
  const live_edges = live?.size ?? 0
  const parts = {
    redis: problem ?? 'ok',
    store: store ?? 'ok',
    edges: edgesPart(live?.size ?? null),
    proxy: proxy ?? 'ok',
    encryption_key: keyProblem() ?? 'ok',
  }
  return { ready: Object.values(parts).every((part) => part === 'ok'), parts, live_edges }
}

function edgesPart(live: number | null): string {
  if (live === null) return 'unknown while the store is unavailable'
  return live > 0 ? 'ok' : 'no edge has sent a heartbeat within its lease'
}
