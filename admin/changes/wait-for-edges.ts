import type { AdminContext } from '../server/admin-context.ts'

/** Redis, an edge and this process each count the lease on a clock of their own; this is for what lies between. */
export const LEASE_MARGIN_MS = 200

/** Returns when every edge has the change in force, or its lease is surely over (invariant 5). */
export async function waitForEdges(
  { acknowledgements, settings, log }: AdminContext,
  committed: { readonly epoch: number; readonly edges: readonly string[] },
  started_ms: number,
): Promise<void> {
  const { epoch, edges } = committed
  const limit_ms = settings.killLease_ms + LEASE_MARGIN_MS
  const { silent } = await acknowledgements.wait(epoch, edges, started_ms, limit_ms)
  if (silent.length > 0)
    log.warn({ epoch, silent }, 'edges did not acknowledge a change; their lease is over')
}
