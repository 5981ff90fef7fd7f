import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { after, test } from 'node:test'
import type { Envelope } from '../../core/change/build-envelope.ts'
import { operatorAt } from '../kit/operator.ts'
import { startParts } from '../kit/start-parts.ts'
import { until } from '../kit/until.ts'
import { startWebhookReceiver } from '../kit/webhook-receiver.ts'

const receiver = await startWebhookReceiver()
const parts = await startParts({
  AGW_WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8',
  NODE_EXTRA_CA_CERTS: receiver.certificates.ca_file,
})
const operator = operatorAt(parts.apiUrl, parts.adminToken)
after(async () => {
  await parts.stop()
  await receiver.stop()
})

const SECRET = 'events-secret'

async function subscribed(
  path: string,
  events: readonly string[],
): Promise<(number: number) => Promise<Envelope>> {
  const url = receiver.url(path)
  await operator.send('POST', '/webhooks', { name: path, url, events, secret: SECRET })
  return async (number) => {
    const received = await until(
      `event ${number} at ${path}`,
      () => receiver.received(path)[number - 1],
    )
    const signature = createHmac('sha256', SECRET).update(received.body).digest('hex')
    assert.equal(received.headers['x-service-signature'], `sha256=${signature}`)
    return JSON.parse(received.body.toString()) as Envelope
  }
}

test('a call that an edge refuses reaches the webhook with what the contract promises of it', async () => {
  const event = await subscribed('/denied', ['permission_denied'])
  const { agent, integration, headers } = await operator.makeAccess('https://127.0.0.1:1/v1', {
    rules: [{ methods: ['GET'], paths: ['/models'] }],
  })
  const answer = await fetch(
    `${parts.proxyUrl}/${integration.base_url}/chat/completions?key=secret`,
    {
      method: 'POST',
      headers,
      body: '{}',
    },
  )
  assert.equal(answer.status, 403)
  const { error, details } = (await answer.json()) as {
    error: string
    details: { agent_scopes: string[] }
  }
  assert.equal(error, 'permission_denied')
  const envelope = await event(1)
  assert.equal(envelope.event, 'permission_denied')
  assert.equal(envelope.agent_id, agent.agent_id)
  assert.equal(envelope.agent_name, agent.agent_name)
  assert.equal(envelope.organization_id, 'org_default')
  const { attempted_action, service, reason, agent_scopes } = envelope.data
  assert.deepEqual(
    { attempted_action, service, reason, agent_scopes },
    {
      attempted_action: 'POST /chat/completions',
      service: integration.name,
      reason: 'path_not_allowed',
      agent_scopes: details.agent_scopes,
    },
  )
  const entry = await until('the activity log has the event under the same id', () =>
    operator.send('GET', `/admin/activity/${envelope.id}`).catch(() => null),
  )
  assert.equal(entry.event, envelope.event)
})

test('a kill and a reactivation reach the webhook once each, the kill with its counts', async () => {
  const event = await subscribed('/kills', ['agent_killed', 'agent_reactivated'])
  const { agent_id } = await operator.makeAgent()
  const receipt = await operator.send('POST', `/admin/agents/${agent_id}/kill`, { reason: 'test' })
  const killed = await event(1)
  assert.equal(killed.event, 'agent_killed')
  assert.equal(killed.agent_id, agent_id)
  assert.equal(killed.data['reason'], 'test')
  assert.equal(killed.data['triggered_by'], 'admin@localhost')
  assert.equal(killed.data['kill_method'], 'api')
  assert.equal(killed.data['requests_terminated'], receipt.in_flight_requests_terminated)
  assert.equal(killed.data['propagation_ms'], receipt.propagation_ms)
  await operator.send('POST', `/admin/agents/${agent_id}/reactivate`, { reason: 'test over' })
  assert.equal((await event(2)).event, 'agent_reactivated')
  assert.equal(receiver.received('/kills').length, 2)
})
