import { Type } from 'typebox'
import { ACTIVITY_MAX_ENTRIES } from '../../core/activity/activity-entry.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { runScript } from '../../core/redis/run-script.ts'
import { auditEntry } from '../changes/audit-entry.ts'
import { listPage } from '../resources/list-page.ts'
import { Id, ListOf, PageQuery, Strict } from '../http/common-schemas.ts'
import { type AdminCall, defineRoute, type Route } from '../http/define-route.ts'
import { type Outcome, answer, notFound } from '../http/outcome.ts'
import { AlertView, type StoredAlert, alertView, readAlerts } from './alert-view.ts'

const AlertQuery = Strict({
  status: Type.Optional(Type.Enum(['open', 'acknowledged'])),
  ...PageQuery,
})
const AlertParams = Strict({ alert_id: Id('Of an alert') })

const tag = 'alerts'

export const alertRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: '/admin/alerts',
    role: 'viewer',
    tag,
    summary: 'List alerts, newest first',
    query: AlertQuery,
    answers: { 200: ListOf(AlertView) },
    handle: async ({ context: { redis }, actor: { organization_id }, query }) =>
      await listPage<StoredAlert>(
        {
          redis,
          index: REDIS_KEYS.alertIndex(organization_id),
          read: (ids) => readAlerts(redis, organization_id, ids),
          ...(query.status === undefined
            ? {}
            : { matches: (stored) => stored['status'] === query.status }),
        },
        query,
        (alerts) => alerts.map(alertView),
      ),
  }),
  defineRoute({
    method: 'POST',
    path: '/admin/alerts/:alert_id/acknowledge',
    role: 'operator',
    tag,
    summary: 'Acknowledge an alert. The next occurrence opens a new one',
    params: AlertParams,
    answers: { 200: AlertView },
    handle: acknowledge,
  }),
]

/** Of two concurrent acknowledgements the first one counts; the second gets the same alert. */
async function acknowledge({
  context: { redis, now },
  actor,
  params: { alert_id },
  request_id,
}: AdminCall<{ alert_id: string }>): Promise<Outcome> {
  const { organization_id } = actor
  const at = now()
  const entry = auditEntry(
    {
      action: 'alert.acknowledge',
      target: alert_id,
      before: { status: 'open' },
      after: { status: 'acknowledged' },
    },
    { actor, request_id, now: at },
  )
  const keys = [
    REDIS_KEYS.alert(organization_id, alert_id),
    REDIS_KEYS.alertsOpen(organization_id),
    REDIS_KEYS.activity(organization_id),
  ] as const
  const args = [at.toISOString(), actor.email, JSON.stringify(entry), ACTIVITY_MAX_ENTRIES]
  if ((await runScript(redis, 'acknowledge-alert', keys, args)) === -1) return notFound()
  const [stored] = await readAlerts(redis, organization_id, [alert_id])
  return stored ? answer(200, alertView(stored)) : notFound()
}
