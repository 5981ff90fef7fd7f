import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { STATE_FORM, POSITION_FIELD } from '../../admin/anomaly/stored-scope.ts'
import { AnomalyModel, scopeKey } from '../../core/anomaly/anomaly-model.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { type HttpAnswer, call, closeConnections } from '../kit/call.ts'
import { type Access, operatorAt } from '../kit/operator.ts'
import { type Fleet, startFleet } from '../kit/start-fleet.ts'
import { until } from '../kit/until.ts'
import { DAY_MS, feed, usualCall } from '../kit/usual-traffic.ts'
import { startWebhookReceiver, type WebhookReceiver } from '../kit/webhook-receiver.ts'

const ORG = 'org_default'
const RPM = 20
/** Whatever day it is, one of its kind lies in the days before. */
const LEARNED_MS = 4.5 * DAY_MS

let fleet: Fleet
let receiver: WebhookReceiver

before(async () => {
  receiver = await startWebhookReceiver()
  fleet = await startFleet({
    env: {
      AGW_WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8',
      NODE_EXTRA_CA_CERTS: receiver.certificates.ca_file,
    },
  })
})
after(async () => {
  closeConnections()
  await fleet.stop()
  await receiver.stop()
})

const makeCall = (access: Access): Promise<HttpAnswer> =>
  call({
    to: fleet.envoys[0]?.url ?? '',
    path: `/${access.base_url}/chat`,
    headers: access.headers,
  })

const leader = (): Promise<string | null> => fleet.redis.get(REDIS_KEYS.anomalyLeader)

/** Days of normal calls, stored as a leader stores its baseline; the next leader continues from it. */
async function teach(access: Access): Promise<void> {
  const { redis } = fleet
  const { agent_id } = access.agent
  const now_ms = Date.now()
  const model = new AnomalyModel()
  const usual = usualCall({
    agent_id,
    scope_id: access.scope_id,
    integration_id: access.integration.integration_id,
    method: 'GET',
    endpoint: new URL(`${access.base_url}/chat`).pathname,
    source_ip: '127.0.0.1',
  })
  feed(model, now_ms - LEARNED_MS, now_ms, RPM, usual)
  const [last] = await redis.xrevrange(REDIS_KEYS.activity(ORG), '+', '-', 'COUNT', 1)
  const place = { form: STATE_FORM, position: last?.[0] ?? '0-0' }
  const state = model.scope(agent_id, access.scope_id)?.state
  await redis.hset(REDIS_KEYS.anomalyState(ORG), {
    [scopeKey(agent_id, access.scope_id)]: JSON.stringify({
      ...place,
      model: state,
      incident: null,
    }),
    [POSITION_FIELD]: JSON.stringify({ ...place, tick_ms: model.tick_ms }),
  })
}

const events = (path: string, event: string): any[] =>
  receiver
    .received(path)
    .map(({ body }) => JSON.parse(body.toString()))
    .filter((envelope) => envelope.event === event)

test('a burst of calls is reported once, although the leader is killed, and kills the agent if the scope says so', async (t) => {
  const access = await fleet.operator.makeAccess(`${fleet.upstream.origin}/v1`, {
    scope: { anomaly_detection: { enabled: true, alert_threshold: 0.7, auto_kill_threshold: 1 } },
  })
  const { agent_id } = access.agent
  await fleet.operator.send('POST', '/webhooks', {
    name: 'anomalies',
    url: receiver.url('/anomalies'),
    events: ['anomaly_detected', 'agent_killed'],
  })
  const fresh = await fleet.operator.makeScope(agent_id, access.integration.integration_id)
  await fleet.admin.stop()
  await teach(access)
  const leading = await fleet.restartAdmin()
  const baseline = await operatorAt(leading.url, leading.token).send(
    'GET',
    `/admin/agents/${agent_id}/baseline`,
  )
  const learning = baseline.scopes.map((scope: any) => [scope.scope_id, scope.learning])
  assert.deepEqual(
    new Map(learning),
    new Map([
      [access.scope_id, false],
      [fresh.scope_id, true],
    ]),
  )

  await until('a process leads', leader)
  const begin_ms = Date.now()
  const alert = await until('the burst is reported', async () => {
    assert.equal((await makeCall(access)).status, 200)
    return events('/anomalies', 'anomaly_detected')[0]
  })
  assert.equal(alert.agent_id, agent_id)
  assert.ok(alert.data.anomaly_score >= 0.7 && alert.data.anomaly_score < 1)
  assert.equal(alert.data.anomaly_types[0], 'frequency')
  const { normal_rpm, current_rpm } = alert.data.baseline_deviation
  assert.ok(normal_rpm > RPM / 2 && normal_rpm < RPM * 2, String(normal_rpm))
  // Of the last minute, of which the burst was a few seconds.
  assert.ok(current_rpm > normal_rpm, String(current_rpm))
  assert.equal(alert.data.action_taken, 'alert')
  t.diagnostic(`told of after ${Date.parse(alert.timestamp) - begin_ms} ms`)

  const first = await leader()
  const next = await fleet.restartAdmin()
  await leading.kill()
  const operator = operatorAt(next.url, next.token)
  await until('another leads', async () => {
    await makeCall(access)
    const now = await leader()
    return now !== null && now !== first
  })
  const { data: alerts } = await operator.send('GET', '/admin/alerts?status=open')
  const opened = alerts.filter(({ kind }: any) => kind === 'anomaly')
  assert.equal(opened.length, 1)
  assert.equal(opened[0].last.activity_id, alert.id)

  await operator.send('PUT', `/admin/scopes/${access.scope_id}`, {
    anomaly_detection: { auto_kill_threshold: 0.8 },
  })
  const refused = await until('the agent is refused', async () => {
    const answer = await makeCall(access)
    return answer.status === 200 ? null : answer
  })
  assert.equal(refused.json().error, 'agent_killed')
  const [killed] = await until('the kill is reported', () => {
    const found = events('/anomalies', 'agent_killed')
    return found.length > 0 ? found : null
  })
  assert.equal(killed.data.kill_method, 'auto_anomaly')
  assert.equal(killed.data.triggered_by, 'system')
  assert.match(killed.data.reason, /^Anomaly score 0\.\d+: frequency/)
  const told = await until('the anomaly that killed is reported', () => {
    const found = events('/anomalies', 'anomaly_detected')
    return found.some(({ data }) => data.action_taken === 'killed') ? found : null
  })
  const taken = [...new Map(told.map(({ id, data }) => [id, data.action_taken])).values()]
  assert.deepEqual(
    taken.sort((a, b) => a.localeCompare(b)),
    ['alert', 'killed'],
  )
})
