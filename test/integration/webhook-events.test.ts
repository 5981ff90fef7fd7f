import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { request } from 'node:https'
import { after, test } from 'node:test'
import { makeAuthority } from '../../core/certificate/make-authority.ts'
import { fromRoot } from '../../core/system/root.ts'
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

/** `agw listen` as a process, with the lines that it prints. */
function startListen(...more: readonly string[]) {
  const child = spawn(process.execPath, [fromRoot('dist', 'cli', 'bin.js'), 'listen', ...more], {
    env: { PATH: process.env['PATH'], AGW_URL: parts.apiUrl, AGW_TOKEN: parts.adminToken },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const printed = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (text: string) => {
      printed[name] += text
    })
  after(() => child.kill('SIGKILL'))
  return { child, printed, ended: once(child, 'exit') }
}

const listeners = async (): Promise<any[]> => {
  const { data } = await operator.send('GET', '/webhooks?limit=200')
  return data.filter(({ name }: { name: string }) => name.startsWith('agw listen'))
}

for (const signal of ['SIGINT', 'SIGTERM'] as const)
  test(`agw listen prints what its own certificate and signature verify, and ${signal} deletes its webhook`, async () => {
    const { child, printed, ended } = startListen('--events', 'agent_killed', '-o', 'json')
    await until('a test delivery has arrived', () => printed.stderr.includes('Ctrl+C'))
    const [webhook] = await listeners()
    assert.equal(webhook.has_secret, true)
    assert.deepEqual(webhook.events, ['agent_killed'])
    const lines = (): any[] =>
      printed.stdout
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line))
    assert.equal(lines()[0].event, 'test')
    const agent = await operator.makeAgent()
    await operator.send('POST', `/admin/agents/${agent.agent_id}/kill`, { reason: 'a look' })
    const killed = await until('the kill is printed', () =>
      lines().find(({ event }) => event === 'agent_killed'),
    )
    assert.equal(killed.agent_id, agent.agent_id)

    // What the gateway has not signed is refused: another secret, no signature, an old one.
    const forge = (headers: Record<string, string>) =>
      postTo(webhook.url, headers, '{"event":"forged"}')
    const now = String(Math.floor(Date.now() / 1000))
    assert.equal(await forge({}), 401)
    for (const time of [now, '1700000000'])
      assert.equal(
        await forge({
          'webhook-id': 'x',
          'webhook-timestamp': time,
          'webhook-signature': `v1,${'A'.repeat(43)}=`,
        }),
        401,
      )
    assert.equal(await postTo(webhook.url, {}, 'x'.repeat(1_100_000)), 413)
    assert.ok(!printed.stdout.includes('forged'))

    child.kill(signal)
    assert.deepEqual(await ended, [0, null], printed.stderr)
    assert.match(printed.stderr, /The webhook is deleted/)
    assert.deepEqual(await listeners(), [])
  })

test('agw listen says which setting is missing where the gateway does not reach it', async () => {
  const { printed, ended } = startListen('--host', '10.1.2.3')
  assert.deepEqual(await ended, [1, null])
  assert.match(printed.stderr, /AGW_WEBHOOK_ALLOW_CIDRS/)
  const byName = startListen('--host', 'nowhere.invalid')
  assert.deepEqual(await byName.ended, [1, null])
  assert.match(byName.printed.stderr, /does not reach this receiver: /)
  assert.deepEqual(await listeners(), [])
})

test('a webhook trusts its own CAs alone, and only CAs are taken', async () => {
  const url = receiver.url('/own-ca')
  const create = (ca_certificates: string, expect?: number) =>
    operator.send(
      'POST',
      '/webhooks',
      { name: 'ca', url, events: ['agent_killed'], ca_certificates },
      expect,
    )
  const { ca_file } = receiver.certificates
  const trusted = await create(readFileSync(ca_file, 'utf8'))
  const other = await create(makeAuthority(Date.now()).certificate)
  const tested = async ({ webhook_id }: { webhook_id: string }): Promise<any> =>
    operator.send('POST', `/webhooks/${webhook_id}/test`, {})
  assert.equal((await tested(trusted)).status, 'delivered')
  assert.equal((await tested(other)).attempts[0].error, 'tls_failed')
  const refused = await create('no certificate', 400)
  assert.match(JSON.stringify(refused), /ca_certificates/)
})

/** @returns the status */
function postTo(url: string, headers: Record<string, string>, body: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: 'POST', headers, rejectUnauthorized: false }, (answer) => {
      answer.resume()
      resolve(answer.statusCode ?? 0)
    })
    sent.once('error', reject)
    sent.end(body)
  })
}
