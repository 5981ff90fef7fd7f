import type { Logger } from 'pino'
import { egressProxyOf, type EgressProxySettings } from '../../core/egress/egress-proxy.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import type { Settings } from '../../core/settings/settings.ts'
import { CallTraces } from './call-traces.ts'
import { SpanExporter } from './span-exporter.ts'

interface OpenTracesParts {
  readonly settings: Pick<Settings, 'traceUrl' | 'traceHeaders' | 'organizationId' | 'edgeId'> &
    EgressProxySettings
  readonly redis: RedisClient
  /** The clock of the records of calls. */
  readonly nowMs: () => number
  readonly log: Logger
}

/**
 * Null while nothing is traced.
 * @param installation the name of the deployment; empty while it is not known
 */
export function openTraces(
  { settings, redis, nowMs, log }: OpenTracesParts,
  installation: () => string,
): CallTraces | null {
  const { traceUrl: url, traceHeaders: headers, organizationId, edgeId: edge_id } = settings
  if (url === null) return null
  const exporter = new SpanExporter({
    url,
    headers,
    proxy: egressProxyOf(settings),
    installation,
    redis,
    organization_id: organizationId,
    log,
    nowMs,
    now: () => new Date(),
  })
  return new CallTraces({ exporter, edge_id, clockMs: nowMs, wallMs: Date.now })
}
