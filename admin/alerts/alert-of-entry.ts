import type { ActivityEntry } from '../../core/activity/activity-entry.ts'
import { isFloodEntry } from '../../core/activity/is-flood-entry.ts'
import type { AlertCause, AlertSeverity } from '../../core/alerts/alert.ts'
import type { AlertingEvent } from '../../core/catalogue/events.ts'

/** In place of the name of a pattern. */
const ONLY_COUNTED = 'only counted'

/** The alert that a log entry raises; null for most entries. */
export function alertOfEntry(entry: ActivityEntry): AlertCause | null {
  return isFloodEntry(entry) ? ofFlood(entry) : (ALERTS.get(entry.event)?.(entry) ?? null)
}

/** The entries recorded before it have raised their alerts. What was only counted counts too; its patterns are not known. */
function ofFlood(entry: ActivityEntry): AlertCause | null {
  const { event, agent_id, agent_name, id, data } = entry
  if (event !== 'injection_blocked') return null
  return {
    about: `injection counted ${agent_id}`,
    kind: 'injection',
    is_handled: true,
    severity: 'high',
    title: `Further prompt injections in requests of agent ${nameOf(entry)} were blocked and only counted.`,
    count: Math.max(1, Number(data['suppressed'])),
    occurrence: {
      activity_id: id,
      agent_id,
      agent_name,
      pattern_name: ONLY_COUNTED,
      decision: 'blocked',
    },
  }
}

/** Mode `log` only records, and a whitelisted finding needs no attention. */
function ofFinding(entry: ActivityEntry): AlertCause | null {
  const { mode, whitelisted, pattern_name, severity, location } = entry.data
  if (mode === 'log' || whitelisted === true) return null
  const name = textOf(pattern_name)
  const is_handled = entry.decision === 'blocked'
  const done = is_handled ? 'blocked' : 'detected'
  return {
    // A finding that has passed is never counted with those that were blocked.
    about: `injection ${done} ${entry.agent_id} ${entry.integration_id} ${name}`,
    kind: 'injection',
    is_handled,
    severity: severityOf(severity),
    title: `Prompt injection (${name}) was ${done} in a request of agent ${nameOf(entry)}.`,
    occurrence: {
      ...whoAndWhat(entry),
      pattern_name: name,
      location: textOf(location),
      decision: entry.decision,
    },
  }
}

function ofAnomaly(entry: ActivityEntry): AlertCause {
  const { anomaly_score, anomaly_types, action_taken } = entry.data
  return {
    about: `anomaly ${entry.agent_id} ${entry.scope_id}`,
    kind: 'anomaly',
    severity: action_taken === 'killed' ? 'critical' : 'high',
    title: `Agent ${nameOf(entry)} deviates from its baseline.`,
    occurrence: {
      ...whoAndWhat(entry),
      anomaly_score: anomaly_score ?? null,
      anomaly_types: anomaly_types ?? [],
      action_taken: action_taken ?? null,
    },
  }
}

function ofAutomaticKill(entry: ActivityEntry): AlertCause | null {
  const { kill_method, reason, triggered_by } = entry.data
  if (triggered_by !== 'system') return null
  return {
    about: `agent_killed ${entry.agent_id}`,
    kind: 'agent_killed',
    severity: 'critical',
    title: `Agent ${nameOf(entry)} was killed automatically.`,
    occurrence: {
      ...whoAndWhat(entry),
      kill_method: textOf(kill_method),
      reason: textOf(reason),
    },
  }
}

/** An API that shows its credential to agents. */
function ofEcho(entry: ActivityEntry): AlertCause | null {
  if (entry.reason !== 'credential_echoed') return null
  return {
    about: `credential_echoed ${entry.integration_id}`,
    kind: 'credential_echoed',
    severity: 'high',
    title: `A response to agent ${nameOf(entry)} repeated the credential of the integration, and was withheld.`,
    occurrence: whoAndWhat(entry),
  }
}

/** Changes of operators that are to be looked at, and state that edges found missing in the store. */
const ofAdminAction = (entry: ActivityEntry): AlertCause | null =>
  ofUnlistedHosts(entry) ?? ofLostState(entry)

const ALLOWS_UNLISTED = /^(agent|organization)\.(?:create|update)$/

/** It stands until hosts in no integration are refused again. */
function ofUnlistedHosts(entry: ActivityEntry): AlertCause | null {
  const { id, agent_id, agent_name } = entry
  const { action, target, actor, after } = entry.data
  const [, who] = ALLOWS_UNLISTED.exec(textOf(action)) ?? []
  const allows = (after as Readonly<Record<string, unknown>> | null)?.['unlisted_hosts'] === 'allow'
  if (who === undefined || !allows) return null
  const name = textOf(target)
  return {
    about: `unlisted_hosts ${who} ${name}`,
    kind: 'unlisted_hosts',
    severity: 'medium',
    title:
      who === 'agent'
        ? `Agent ${nameOf(entry)} may call hosts that are in no integration.`
        : `The agents of organization ${name} may call hosts that are in no integration.`,
    occurrence: {
      activity_id: id,
      actor: textOf(actor),
      ...(who === 'agent' ? { agent_id, agent_name } : { organization_id: name }),
    },
  }
}

/** State that edges found missing in the store (core/kill/restore-state.ts). */
function ofLostState(entry: ActivityEntry): AlertCause | null {
  const { data, edge_id } = entry
  const title = LOST_STATES.get(textOf(data['action']))
  if (title === undefined || data['actor'] !== 'system') return null
  return {
    about: `state_lost ${entry.agent_id ?? textOf(data['target'])}`,
    kind: 'state_lost',
    severity: 'critical',
    title: title(nameOf(entry)),
    occurrence: {
      ...whoAndWhat(entry),
      edge_id,
      action: textOf(data['action']),
      killed_at: data['killed_at'] ?? null,
    },
  }
}

const LOST_STATES: ReadonlyMap<string, (name: string) => string> = new Map<
  string,
  (name: string) => string
>([
  [
    'agent.kill_restored',
    (name) => `The store had lost the kill of agent ${name}; it was restored.`,
  ],
  [
    'agent.reactivation_restored',
    (name) => `The store had lost the reactivation of agent ${name}; it was restored.`,
  ],
  [
    'agent.kill_lost',
    (name) => `The store has lost the killed agent ${name}; running edges still refuse it.`,
  ],
  ['lock.restored', () => 'The store had lost a lock; it was restored.'],
])

/** All agents of the deployment stand still. */
function ofLockOfEverything({ id, data }: ActivityEntry): AlertCause | null {
  const { target, lock_id, triggered_by } = data
  if (typeof target !== 'object' || target === null || !('everything' in target)) return null
  return {
    about: `locked ${textOf(lock_id)}`,
    kind: 'locked',
    severity: 'critical',
    title: `Everything was locked by ${textOf(triggered_by)}.`,
    occurrence: { activity_id: id, lock_id: textOf(lock_id), mode: textOf(data['mode']) },
  }
}

/** Changes of operators that the store no longer has (admin/changes/watch-lost-changes.ts). */
function ofLostChanges({ id, data }: ActivityEntry): AlertCause {
  const { count, changes } = data as { count: number; changes: readonly LostChange[] }
  const [first] = changes
  const named = first === undefined ? '' : ` The first is ${first.action} of ${first.target}.`
  return {
    about: 'changes_lost',
    kind: 'changes_lost',
    severity: 'critical',
    title: `The store has lost ${count === 1 ? 'a change' : `${count} changes`}, as after a failover.${named} Make them again.`,
    occurrence: { activity_id: id, count, changes },
  }
}

interface LostChange {
  readonly action: string
  readonly target: string
}

/** A connection that the gateway itself has ended; calls that would get it are refused. */
function ofConnection({ id, integration_id, data }: ActivityEntry): AlertCause | null {
  const { connection_id, name, status, triggered_by } = data
  if (triggered_by !== 'system' || (status !== 'needs_consent' && status !== 'expired')) return null
  return {
    about: `connection ${textOf(connection_id)}`,
    kind: 'credential_expiring',
    severity: 'high',
    title:
      status === 'expired'
        ? `The credential of the connection ${textOf(name)} has expired.`
        : `The connection ${textOf(name)} needs consent again: its refresh token was refused or lost.`,
    occurrence: { activity_id: id, connection_id: textOf(connection_id), integration_id, status },
  }
}

const whoAndWhat = (entry: ActivityEntry) => ({
  activity_id: entry.id,
  agent_id: entry.agent_id,
  agent_name: entry.agent_name,
  integration_id: entry.integration_id,
  scope_id: entry.scope_id,
})

const nameOf = ({ agent_name, agent_id }: ActivityEntry): string =>
  agent_name ?? agent_id ?? 'unknown'

type AlertMaker = (entry: ActivityEntry) => AlertCause | null

const ALERTS: ReadonlyMap<string, AlertMaker> = new Map(
  Object.entries({
    request_rejected: ofEcho,
    injection_blocked: ofFinding,
    injection_detected: ofFinding,
    anomaly_detected: ofAnomaly,
    agent_killed: ofAutomaticKill,
    admin_action: ofAdminAction,
    connection_changed: ofConnection,
    changes_lost: ofLostChanges,
    locked: ofLockOfEverything,
  } satisfies Record<AlertingEvent, AlertMaker>),
)

const SHOWN_TEXT_LIMIT = 200

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value.slice(0, SHOWN_TEXT_LIMIT) : ''

const severityOf = (value: unknown): AlertSeverity =>
  value === 'critical' || value === 'medium' ? value : 'high'
