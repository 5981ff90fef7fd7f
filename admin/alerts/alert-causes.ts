import { type Static, Type } from 'typebox'
import { ALERT_CONCERNS, ALERT_KINDS, ALERT_SEVERITIES } from '../../core/alerts/alert.ts'
import { Count, Strict, Timestamp } from '../http/common-schemas.ts'
import { AlertView } from './alert-view.ts'

/** Beyond the number of a page, they are only counted. */
const CAUSES_MAX = 200
/** What one request acknowledges. */
const IDS_MAX = 200

type Alert = Static<typeof AlertView>

const CauseView = Strict({
  cause: AlertView.properties.cause,
  concern: AlertView.properties.concern,
  kind: Type.Enum([...ALERT_KINDS]),
  severity: Type.Enum([...ALERT_SEVERITIES], { description: 'The highest of its alerts' }),
  title: Type.String(),
  alerts: Type.Integer({ description: 'Number of alerts' }),
  agents: Type.Integer({ description: 'Number of agents in them' }),
  count: Type.Integer({ description: 'Number of occurrences' }),
  hours: AlertView.properties.hours,
  first_at: Timestamp,
  last_at: Timestamp,
  latest: AlertView,
  alert_ids: Type.Array(Type.String(), { description: `Of the newest ${IDS_MAX}` }),
})
type Cause = Static<typeof CauseView>

const Totals = Strict({
  causes: Count,
  alerts: Count,
  occurrences: Count,
  kinds: Type.Record(Type.String(), Type.Integer(), { description: 'Alerts by kind' }),
})

export const AlertCauses = Strict({
  data: Type.Array(CauseView, {
    description: `At most ${CAUSES_MAX}: what is about the gateway first, then about agents, then what was handled; of each the most severe first, then the newest`,
  }),
  totals: Strict({ gateway: Totals, agents: Totals, handled: Totals }),
})

/** Alerts by their cause, in the order in which an operator needs them. Nothing about an agent comes before what is about the gateway. */
export function causesOf(alerts: readonly Alert[]): Static<typeof AlertCauses> {
  const groups = new Map<string, Alert[]>()
  for (const alert of alerts) {
    const group = groups.get(alert.cause)
    if (group === undefined) groups.set(alert.cause, [alert])
    else group.push(alert)
  }
  const causes = [...groups.values()].map(causeOf).toSorted(byNeed)
  const totals = Object.fromEntries(
    ALERT_CONCERNS.map((concern) => {
      const own = causes.filter((cause) => cause.concern === concern)
      return [concern, { causes: own.length, ...sums(own) }]
    }),
  ) as Static<typeof AlertCauses>['totals']
  return { data: causes.slice(0, CAUSES_MAX), totals }
}

function sums(causes: readonly Cause[]) {
  const kinds: Record<string, number> = {}
  for (const { kind, alerts } of causes) kinds[kind] = (kinds[kind] ?? 0) + alerts
  return {
    alerts: causes.reduce((sum, { alerts }) => sum + alerts, 0),
    occurrences: causes.reduce((sum, { count }) => sum + count, 0),
    kinds,
  }
}

const byNeed = (a: Cause, b: Cause): number =>
  ALERT_CONCERNS.indexOf(a.concern) - ALERT_CONCERNS.indexOf(b.concern) ||
  ALERT_SEVERITIES.indexOf(a.severity) - ALERT_SEVERITIES.indexOf(b.severity) ||
  newestFirst(a, b)

const newestFirst = (a: Pick<Alert, 'last_at'>, b: Pick<Alert, 'last_at'>): number =>
  a.last_at < b.last_at ? 1 : a.last_at > b.last_at ? -1 : 0

function causeOf(group: readonly Alert[]): Cause {
  const alerts = group.toSorted(newestFirst)
  const latest = alerts[0] as Alert
  const { cause, concern, kind, last_at } = latest
  const agents = new Set(alerts.map(({ last }) => last['agent_id']).filter(isText)).size
  return {
    cause,
    concern,
    kind,
    severity: ALERT_SEVERITIES.find((one) => alerts.some((alert) => alert.severity === one))!,
    title: alerts.length === 1 ? latest.title : titleOf(latest, alerts.length, agents),
    alerts: alerts.length,
    agents,
    count: alerts.reduce((sum, { count }) => sum + count, 0),
    hours: latest.hours.map((_, at) =>
      alerts.reduce((sum, { hours }) => sum + (hours[at] ?? 0), 0),
    ),
    first_at: alerts.map(({ first_at }) => first_at).sort()[0] ?? latest.first_at,
    last_at,
    latest,
    alert_ids: alerts.slice(0, IDS_MAX).map(({ alert_id }) => alert_id),
  }
}

function titleOf({ kind, concern, title, last }: Alert, alerts: number, agents: number): string {
  const whose = agents === 1 ? 'one agent' : `${agents} agents`
  if (kind === 'injection') {
    const done = concern === 'handled' ? 'blocked' : 'detected'
    return `Prompt injection (${String(last['pattern_name'])}) was ${done} in requests of ${whose}.`
  }
  if (kind === 'anomaly') return `The behaviour of ${whose} is outside of what was learned.`
  if (kind === 'agent_killed') return `Killed automatically: ${whose}.`
  return `${title} And ${alerts - 1} more of this kind.`
}

const isText = (value: unknown): value is string => typeof value === 'string'
