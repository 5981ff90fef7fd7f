import { namedId } from '../../core/catalogue/model.ts'
import type { ActivityEntry } from '../../core/activity/activity-entry.ts'
import type { ScopeScore } from '../../core/anomaly/anomaly-type.ts'
import { entryOfNoCall } from '../../core/activity/entry-of-no-call.ts'
import type { AnalysedAgent, AnalysedScope } from './agent-settings.ts'

export type ActionTaken = 'alert' | 'killed'

/** The log entry and event of an anomaly. */
export const anomalyEntry = (
  agent: AnalysedAgent,
  scope: AnalysedScope,
  { score, types, normal_rpm, current_rpm }: ScopeScore,
  action_taken: ActionTaken,
  now: Date,
): ActivityEntry => ({
  ...entryOfNoCall({
    event: 'anomaly_detected',
    organization_id: agent.organization_id,
    agent_id: agent.agent_id,
    agent_name: agent.agent_name,
    timestamp: now.toISOString(),
    actor: { source_ip: null, request_id: null, edge_id: null },
    data: {
      anomaly_score: score,
      anomaly_types: types,
      baseline_deviation: { normal_rpm: round(normal_rpm), current_rpm: round(current_rpm) },
      action_taken,
      scope_name: scope.name,
    },
  }),
  integration_id: namedId(scope.integration_id),
  scope_id: scope.scope_id,
})

const round = (rpm: number): number => Math.round(rpm * 100) / 100
