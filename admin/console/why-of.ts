import { actionSentence } from '../../core/activity/action-sentence.ts'
import { entrySummary } from '../../core/activity/entry-summary.ts'
import { REASONS } from '../../core/catalogue/reasons.ts'
import type { ActivityEntry } from './api-types.ts'
import { countOf } from './count-of.ts'

/** One sentence that says why an entry is what it is. */
export function whyOf(entry: ActivityEntry, api: string): string {
  const { data } = entry
  if (entry.method === null && typeof data['suppressed'] === 'number')
    return `${countOf(data['suppressed'], 'further refusal of this minute was', 'further refusals of this minute were')} only counted.`
  return SENTENCES[entry.event]?.(entry, api) ?? reasonSentence(entry)
}

type Sentence = (entry: ActivityEntry, api: string) => string

const text = (value: unknown): string =>
  value == null ? 'unknown' : typeof value === 'string' ? value : JSON.stringify(value)

const agentOf = ({ agent_name, agent_id }: ActivityEntry): string =>
  agent_name ?? agent_id ?? 'The agent'

const pathSentence: Sentence = (entry, api) =>
  `No scope of ${agentOf(entry)} for ${api} allows the path of ${text(entry.data['attempted_action'])}.`

const PERMISSION: Readonly<Record<string, Sentence>> = {
  no_scope: (entry, api) =>
    `${agentOf(entry)} has no scope for ${api}, so it may call nothing there.`,
  path_not_allowed: (entry, api) =>
    entry.data['refused_reading'] == null
      ? pathSentence(entry, api)
      : `A rule matches the path as written, but ${api} may read the call as ${text(entry.data['refused_reading'])}, which the scope with that rule does not allow.`,
  method_not_allowed: (entry, api) =>
    `${agentOf(entry)} may use this path of ${api}, but not with the method ${entry.method}.`,
  scope_expired: ({ data }) =>
    `The scope ${text(data['scope'])} would allow the call, but ended at ${text(data['expires_at'])}.`,
  scope_not_yet: ({ data }) =>
    `The scope ${text(data['scope'])} would allow the call, but is only in force from ${text(data['not_before'])} on.`,
}

const finding =
  (ending: string): Sentence =>
  ({ data }) =>
    `The text in ${text(data['location'])} matches the pattern ${text(data['pattern_name'])} (${text(data['severity'])}); ${ending}.`

const allowedSentence: Sentence = (entry, api) => {
  if (entry.decision === 'terminated')
    return 'The call was allowed and then cut while it was in flight.'
  const { outcome, details, cause } = (entry.data['upstream'] ?? {}) as Record<string, unknown>
  if (outcome === 'not_sent')
    return `The call was allowed, but Envoy did not send it to ${api}. ${cause === undefined ? `Another filter or route of this Envoy answered: ${text(details)}.` : text(cause)}`
  if (entry.reason !== null)
    return `The call was allowed. ${reasonSentence(entry)} Envoy: ${entrySummary(entry)}.`
  return entry.rule === null
    ? `The call to ${api} was allowed.`
    : `Rule ${entry.rule + 1} of the scope allows the call to ${api}.`
}

const SENTENCES: Readonly<Partial<Record<ActivityEntry['event'], Sentence>>> = {
  request_allowed: allowedSentence,
  permission_denied: (entry, api) =>
    PERMISSION[text(entry.data['reason'])]?.(entry, api) ?? reasonSentence(entry),
  injection_blocked: finding('the call was refused'),
  injection_detected: finding('the call was forwarded'),
  rate_limit_exceeded: ({ data }, api) =>
    `The scope allows ${countOf(Number(data['limit']), 'call')} per minute to ${api}, and this one exceeded it.`,
  mcp_tool_blocked: (entry) =>
    `No scope allows ${agentOf(entry)} to use the tool ${text(entry.data['tool_name'])}.`,
  agent_killed: (entry) =>
    `${agentOf(entry)} was killed by ${text(entry.data['triggered_by'])}: ${text(entry.data['reason'] ?? 'no reason given')}.`,
  agent_reactivated: (entry) =>
    `${agentOf(entry)} was reactivated by ${text(entry.data['triggered_by'])}: ${text(entry.data['reason'])}.`,
  anomaly_detected: ({ data }) =>
    `The traffic deviates from its baseline: score ${text(data['anomaly_score'])}, ${text(data['anomaly_types'])}.`,
  admin_action: (entry) => `${actionSentence(entry)}.`,
  changes_lost: ({ data }) =>
    `The store has lost ${countOf(Number(data['count']), 'change')}, as after a failover. Make ${data['count'] === 1 ? 'it' : 'them'} again: ${text(data['changes'])}.`,
}

const CAUSES: Readonly<Record<string, { readonly cause: string } | undefined>> = REASONS

/** Code in the catalogue stands between backticks. */
function reasonSentence(entry: ActivityEntry): string {
  const { reason, decision } = entry
  if (reason === 'integration_not_found')
    return `No integration has the address ${text(entry.data['base_url'])}, so the call went nowhere.`
  const cause = CAUSES[reason ?? '']?.cause
  if (cause !== undefined) return cause.replaceAll('`', '')
  return decision === 'terminated' ? 'The call was cut while it was in flight.' : (reason ?? '')
}
