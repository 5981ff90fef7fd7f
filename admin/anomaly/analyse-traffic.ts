import { killAgent } from '../../core/kill/kill-agent.ts'
import type { AdminContext } from '../context/admin-context.ts'
import type { LogWatch } from '../context/log-watch.ts'
import { startAnomalyAnalyser } from './start-anomaly-analyser.ts'

/** Starts the analyser of this admin process, as leader or standby. Returns the function that stops it. */
export function analyseTraffic(
  context: AdminContext & { readonly logs: LogWatch },
  name: string,
): () => Promise<void> {
  const { redis, log, logs, now, settings, load } = context
  const parts = { ...context, lease_ms: settings.killLease_ms }
  return startAnomalyAnalyser({
    redis,
    name,
    log,
    now,
    load,
    logs,
    killAgent: async ({ organization_id, agent_id, reason }) => {
      const actor = {
        email: 'system',
        token_id: null,
        source_ip: null,
        request_id: null,
        edge_id: null,
      }
      const order = { organization_id, agent_id, reason, actor, notify: [] }
      return (await killAgent(parts, { ...order, kill_method: 'auto_anomaly' })) !== null
    },
  })
}
