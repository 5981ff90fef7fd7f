import { type Static, Type } from 'typebox'
import { ACTIVITY_MAX_ENTRIES } from '../../core/activity/activity-entry.ts'
import { ALERT_CONCERNS, ALERT_SEVERITIES } from '../../core/alerts/alert.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { runScript } from '../../core/redis/run-script.ts'
import { GAP_ALERT, readGap } from '../../core/restore/restore-gap.ts'
import { AlertCauses, causesOf } from './alert-causes.ts'
import { auditEntry } from '../changes/audit-entry.ts'
import { listPage } from '../resources/list-page.ts'
import { Id, ListOf, PageQuery, Strict } from '../http/common-schemas.ts'
import { type AdminCall, defineRoute, type Route } from '../http/define-route.ts'
import { type Outcome, answer, conflict, notFound } from '../http/outcome.ts'
import { ALERT_STATUSES, AlertView, type StoredAlert, alertView, readAlerts } from './alert-view.ts'
import { listBySeverity } from './list-by-severity.ts'
import { stateOf } from './state-of.ts'

const Filter = {
  status: Type.Optional(Type.Enum([...ALERT_STATUSES])),
  severity: Type.Optional(Type.Enum([...ALERT_SEVERITIES])),
  concern: Type.Optional(Type.Enum([...ALERT_CONCERNS])),
  cause: Type.Optional(Type.String({ maxLength: 500 })),
  q: Type.Optional(Type.String({ maxLength: 200, description: 'Part of the title' })),
}
const CauseQuery = Strict(Filter)
const AlertQuery = Strict({
  ...Filter,
  sort: Type.Optional(
    Type.Enum(['newest', 'severity'], {
      description: 'newest first (default), or the most severe first and the newest of each',
    }),
  ),
  ...PageQuery,
})
const AlertParams = Strict({ alert_id: Id('Of an alert') })

const COMMENT_LENGTH = 1_000
const Comment = Type.Optional(
  Type.String({ maxLength: COMMENT_LENGTH, description: 'Kept with the alerts and in the log' }),
)
/** One request, and so one run of the service, closes at most so many. */
const BULK_MAX = 200

const Acknowledgement = Strict({ comment: Comment })
const BulkAcknowledgement = Strict({
  alert_ids: Type.Array(Id('Of an alert'), { minItems: 1, maxItems: BULK_MAX, uniqueItems: true }),
  comment: Comment,
})
const BulkAnswer = Strict({
  acknowledged: Type.Integer({ description: 'Alerts that were open until now' }),
  missing: Type.Array(Type.String(), { description: 'Ids of no alert' }),
})

const tag = 'alerts'

export const alertRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: '/admin/alerts',
    role: 'viewer',
    compressed: true,
    tag,
    summary: 'List alerts, newest or most severe first',
    query: AlertQuery,
    answers: { 200: ListOf(AlertView) },
    handle: listAlerts,
  }),
  defineRoute({
    method: 'GET',
    path: '/admin/alerts/causes',
    role: 'viewer',
    compressed: true,
    tag,
    summary: 'List alerts by their cause, those about the gateway itself first',
    query: CauseQuery,
    answers: { 200: AlertCauses },
    handle: listCauses,
  }),
  defineRoute({
    method: 'POST',
    path: '/admin/alerts/acknowledge',
    role: 'operator',
    tag,
    summary: `Acknowledge up to ${BULK_MAX} alerts`,
    body: BulkAcknowledgement,
    answers: { 200: BulkAnswer },
    handle: acknowledgeMany,
  }),
  defineRoute({
    method: 'POST',
    path: '/admin/alerts/:alert_id/acknowledge',
    role: 'operator',
    tag,
    summary: 'Acknowledge an alert. The next occurrence opens a new one',
    params: AlertParams,
    body: Acknowledgement,
    answers: { 200: AlertView },
    handle: acknowledge,
  }),
]

async function listAlerts({
  context: { redis, now },
  actor: { organization_id },
  query,
}: AdminCall<unknown, Static<typeof AlertQuery>>): Promise<Outcome> {
  const at = now()
  const matches = (stored: StoredAlert): boolean => isWanted(query, alertView(stored, at))
  if (query.sort === 'severity')
    return await listBySeverity(redis, organization_id, query, matches, at)
  return await listPage<StoredAlert>(
    {
      redis,
      index: REDIS_KEYS.alertIndex(organization_id),
      read: (ids) => readAlerts(redis, organization_id, ids),
      ...(Object.keys(Filter).some((name) => name in query) ? { matches } : {}),
    },
    query,
    (alerts) => alerts.map((alert) => alertView(alert, at)),
  )
}

/** An organization has few enough to read all of them. */
async function listCauses({
  context: { redis, now },
  actor: { organization_id },
  query,
}: AdminCall<unknown, Static<typeof CauseQuery>>): Promise<Outcome> {
  const ids = await redis.zrange(REDIS_KEYS.alertIndex(organization_id), '0', '-1')
  const at = now()
  const alerts = (await readAlerts(redis, organization_id, ids))
    .flatMap((stored) => (stored === null ? [] : [alertView(stored, at)]))
    .filter((alert) => isWanted(query, alert))
  return answer(200, causesOf(alerts))
}

const isWanted = (
  { q = '', ...exact }: Static<typeof CauseQuery>,
  alert: Static<typeof AlertView>,
): boolean =>
  (['status', 'severity', 'concern', 'cause'] as const).every(
    (name) => exact[name] === undefined || exact[name] === alert[name],
  ) && alert.title.toLowerCase().includes(q.toLowerCase())

async function acknowledge(
  call: AdminCall<{ alert_id: string }, unknown, Static<typeof Acknowledgement>>,
): Promise<Outcome> {
  const { context, actor, params, body } = call
  const closed = await close(call, params.alert_id, body.comment)
  if (closed === 'missing') return notFound()
  if (closed === 'restore_gap' || closed === 'unlisted_hosts')
    return conflict(closed, STANDING[closed])
  const [stored] = await readAlerts(context.redis, actor.organization_id, [params.alert_id])
  return stored ? answer(200, alertView(stored, context.now())) : notFound()
}

async function acknowledgeMany(
  call: AdminCall<unknown, unknown, Static<typeof BulkAcknowledgement>>,
): Promise<Outcome> {
  const { alert_ids, comment } = call.body
  const missing: string[] = []
  let acknowledged = 0
  for (const alert_id of alert_ids) {
    const closed = await close(call, alert_id, comment)
    if (closed === 'now') acknowledged++
    if (closed === 'missing') missing.push(alert_id)
  }
  return answer(200, { acknowledged, missing })
}

/** Alerts that only end with their condition. */
const STANDING = {
  restore_gap:
    'This alert stands until the gap itself is acknowledged: POST /admin/restore-gap/acknowledge.',
  unlisted_hosts:
    'This alert stands while hosts in no integration are allowed: set unlisted_hosts to refuse.',
} as const

/** Of two concurrent acknowledgements the first one counts. */
async function close(
  { context: { redis, now }, actor, request_id }: AdminCall,
  alert_id: string,
  comment = '',
): Promise<'now' | 'before' | 'missing' | keyof typeof STANDING> {
  const { organization_id } = actor
  const gap_alert = await redis.hget(REDIS_KEYS.alertsOpen(organization_id), GAP_ALERT)
  if (gap_alert === alert_id && (await readGap(redis)) !== null) return 'restore_gap'
  const [alert] = await readAlerts(redis, organization_id, [alert_id])
  if (alert?.['kind'] === 'unlisted_hosts') {
    const last = alert['last'] ?? '{}'
    const over = await stateOf(redis, organization_id, 'unlisted_hosts', last, now())
    if (over === null) return 'unlisted_hosts'
  }
  const at = now()
  const entry = auditEntry(
    {
      action: 'alert.acknowledge',
      target: alert_id,
      before: { status: 'open' },
      after: { status: 'acknowledged', ...(comment === '' ? {} : { comment }) },
    },
    { actor, request_id, now: at },
  )
  const keys = [
    REDIS_KEYS.alert(organization_id, alert_id),
    REDIS_KEYS.alertsOpen(organization_id),
    REDIS_KEYS.activity(organization_id),
  ] as const
  const args = [at.toISOString(), actor.email, JSON.stringify(entry), ACTIVITY_MAX_ENTRIES, comment]
  const answered = await runScript(redis, 'acknowledge-alert', keys, args)
  return answered === -1 ? 'missing' : answered === 1 ? 'now' : 'before'
}
