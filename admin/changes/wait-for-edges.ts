import { LEASE_MARGIN_MS } from '../../core/kill/lease-margin.ts'
import type { AdminContext } from '../context/admin-context.ts'

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
    log.warn({ epoch, silent }, 'edges did not acknowledge a change; their lease has expired')
}
