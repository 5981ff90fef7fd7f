import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { after, test } from 'node:test'
import fc from 'fast-check'
import { Webhook as StandardWebhook } from 'standardwebhooks'
import type { DeliveryView } from '../../admin/webhooks/webhook-schemas.ts'
import { sealSecret } from '../../admin/webhooks/webhook-secret.ts'
import { parseKeyRing } from '../../core/keys/seal.ts'
import { repetitions } from '../kit/repetitions.ts'
import { rewriteRecord } from '../kit/rewrite-record.ts'
import { closeFloods } from '../../admin/webhooks/close-floods.ts'
import type { Envelope } from '../../core/change/build-envelope.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { anyCharacter } from '../kit/any-character.ts'
import { operatorAt } from '../kit/operator.ts'
import { until } from '../kit/until.ts'
import type { Received } from '../kit/webhook-receiver.ts'
import { startWebhookStack } from '../kit/webhook-stack.ts'

const encryption_key = randomBytes(32).toString('base64')
const stack = await startWebhookStack({ AGW_ENCRYPTION_KEY: encryption_key })
const { receiver, send, subscribe, record, settled } = stack
after(() => stack.stop())

const envelopeOf = ({ body }: Received): Envelope => JSON.parse(body.toString()) as Envelope
const firstAt = (path: string): Promise<Received> =>
  until(`something arrives at ${path}`, () => receiver.received(path)[0])

/** The signature as a program that is not ours makes it. */
const openssl = (secret: string, body: Buffer): string =>
  execFileSync(
    'openssl',
    ['dgst', '-sha256', '-mac', 'HMAC', '-macopt', `hexkey:${Buffer.from(secret).toString('hex')}`],
    {
      input: body,
    },
  )
    .toString()
    .replace(/^.*= /, '')
    .trim()

test('a recorded event reaches the webhook that subscribes to it, in the documented envelope', async () => {
  const { webhook_id } = await subscribe('/envelope')
  const entry = await record('permission_denied', {
    data: {
      attempted_action: 'POST /chat/completions',
      service: 'openai',
      reason: 'no_scope',
      agent_scopes: ['chat only'],
    },
  })
  const received = await firstAt('/envelope')
  assert.equal(received.method, 'POST')
  assert.equal(received.headers['content-type'], 'application/json')
  assert.deepEqual(envelopeOf(received), {
    id: entry.id,
    event: 'permission_denied',
    timestamp: entry.timestamp,
    organization_id: 'org_default',
    agent_id: 'agt_test',
    agent_name: 'test agent',
    data: entry.data,
  })
  assert.equal(received.headers['x-service-signature'], undefined)
  assert.equal(received.headers['webhook-id'], entry.id)
  const webhook = await settled(webhook_id)
  assert.equal(webhook.success_count, 1)
  assert.equal(webhook.failure_count, 0)
  assert.ok(Date.parse(webhook.last_triggered_at ?? '') > Date.now() - 60_000)
  await record('mcp_tool_blocked')
  await send('DELETE', `/webhooks/${webhook_id}`)
  assert.equal(receiver.received('/envelope').length, 1)
})

test('openssl and the standardwebhooks package accept the signatures, of a plain secret and of a whsec_ one', async () => {
  const standard = `whsec_${Buffer.alloc(24, 7).toString('base64')}`
  for (const [path, secret] of [
    ['/plain-secret', 'a plain secret, ümlaut'],
    ['/whsec-secret', standard],
  ] as const) {
    const { webhook_id, ...view } = await subscribe(path, { secret })
    assert.equal(view.has_secret, true)
    assert.ok(!JSON.stringify(view).includes(secret))
    await record('permission_denied', { agent_name: 'Zoë "quoted" \u2028' })
    const { headers, body } = await firstAt(path)
    assert.equal(headers['x-service-signature'], `sha256=${openssl(secret, body)}`)
    assert.equal(headers['x-service-timestamp'], headers['webhook-timestamp'])
    const verifier =
      secret === standard
        ? new StandardWebhook(secret)
        : new StandardWebhook(Buffer.from(secret), { format: 'raw' })
    assert.ok(verifier.verify(body, headers as Record<string, string>))
    await send('DELETE', `/webhooks/${webhook_id}`)
  }
})

test('a malformed whsec_ secret is refused, and one that is stored already goes on with a warning', async () => {
  const key = Buffer.alloc(24, 7).toString('base64')
  const bad = [`whsec_${key.slice(0, -1)}-`, `whsec_${key}=`, `v1,whsec_${key}`, `WHSEC_${key}`]
  for (const secret of [...bad, 'whsec_', 'whsec_abc', 'whsec_AAAA', `whsk_${key}`]) {
    const made = { name: 'bad', url: 'https://example.com/', events: ['agent_killed'], secret }
    const { error, details } = await send('POST', '/webhooks', made, 400)
    assert.deepEqual([error, details.issues[0].path], ['validation_failed', '/secret'], secret)
  }
  const { webhook_id } = await subscribe('/stored', { secret: `whsec_${key}` })
  for (const [method, path] of [
    ['PATCH', ''],
    ['POST', '/rotate-secret'],
  ] as const) {
    const bad = { secret: 'whsec_abc' }
    const { error } = await send(method, `/webhooks/${webhook_id}${path}`, bad, 400)
    assert.equal(error, 'validation_failed')
  }
  const owner = { organization_id: 'org_default', webhook_id }
  await rewriteRecord(
    stack.valkey.url,
    REDIS_KEYS.webhooks('org_default'),
    webhook_id,
    (record) => ({
      ...record,
      secret: sealSecret(parseKeyRing(encryption_key), owner, 'whsec_abc'),
    }),
  )
  const [warning] = (await send('GET', `/webhooks/${webhook_id}`)).warnings
  assert.match(warning, /must be whsec_ followed by Base64/)
  await record('permission_denied')
  const { headers, body } = await firstAt('/stored')
  assert.equal(headers['x-service-signature'], `sha256=${openssl('whsec_abc', body)}`)
  await send('DELETE', `/webhooks/${webhook_id}`)
})

test('after a rotation the first signature is of the new secret and the second list has both', async () => {
  const old = `whsec_${Buffer.alloc(24, 1).toString('base64')}`
  const { webhook_id } = await subscribe('/rotation', { secret: old })
  const rotated = await send('POST', `/webhooks/${webhook_id}/rotate-secret`, {})
  assert.match(rotated.secret, /^whsec_/)
  const overlap_ms = Date.parse(rotated.previous_secret_until) - Date.now()
  assert.ok(Math.abs(overlap_ms - 24 * 3600 * 1000) < 60_000)
  await record('permission_denied')
  const { headers, body } = await firstAt('/rotation')
  assert.equal(headers['x-service-signature'], `sha256=${openssl(rotated.secret, body)}`)
  for (const secret of [old, rotated.secret])
    assert.ok(new StandardWebhook(secret).verify(body, headers as Record<string, string>))
  assert.ok(!JSON.stringify(await send('GET', `/webhooks/${webhook_id}`)).includes(rotated.secret))
  await send('PATCH', `/webhooks/${webhook_id}`, { secret: null })
  assert.equal((await send('GET', `/webhooks/${webhook_id}`)).has_secret, false)
  await send('DELETE', `/webhooks/${webhook_id}`)
})

test('a delivery shows what was sent, and its signatures only to who may change the secret', async () => {
  const { webhook_id } = await subscribe('/shown', { secret: 'a secret of few words' })
  await record('permission_denied')
  const { headers, body } = await firstAt('/shown')
  await settled(webhook_id)
  const [listed] = await stack.deliveriesOf(webhook_id)
  assert.deepEqual(Object.keys(listed?.attempts[0] ?? {}).includes('sent'), false)
  const path = `/webhooks/${webhook_id}/deliveries/${listed?.delivery_id}`
  const shown = await send('GET', path)
  assert.equal(shown.payload, body.toString())
  const sent = shown.attempts[0].request_headers
  assert.equal(sent['x-service-signature'], `sha256=${openssl('a secret of few words', body)}`)
  for (const [name, value] of Object.entries(sent)) assert.equal(headers[name], value, name)
  assert.equal(Object.keys(sent).length, 8)
  for (const role of ['viewer', 'operator']) {
    const { token } = await send('POST', '/admin/tokens', { email: `${role}@example.com`, role })
    const seen = await operatorAt(stack.admin.url, token).send('GET', path)
    assert.equal(seen.payload, body.toString())
    const { 'x-service-signature': hex, 'webhook-signature': list } =
      seen.attempts[0].request_headers
    assert.deepEqual([hex, list], [null, null], role)
    assert.equal(JSON.stringify(seen).includes(openssl('a secret of few words', body)), false)
  }
  const stored = await stack.redis.hgetall(REDIS_KEYS.webhookDelivery(String(listed?.delivery_id)))
  assert.equal(JSON.stringify(stored).includes(openssl('a secret of few words', body)), false)
  // After one rotation the former secret is still known, after two it is not.
  await send('POST', `/webhooks/${webhook_id}/rotate-secret`, {})
  assert.deepEqual((await send('GET', path)).attempts[0].request_headers, sent)
  await send('POST', `/webhooks/${webhook_id}/rotate-secret`, {})
  const last = (await send('GET', path)).attempts[0].request_headers
  assert.deepEqual(last, { ...sent, 'x-service-signature': null, 'webhook-signature': null })
  // Without a secret there is nothing to sign, and a test has an envelope of its own.
  await send('PATCH', `/webhooks/${webhook_id}`, { secret: null })
  const { delivery_id } = await send('POST', `/webhooks/${webhook_id}/test`)
  const tested = await send('GET', `/webhooks/${webhook_id}/deliveries/${delivery_id}`)
  assert.equal(tested.payload, receiver.received('/shown').at(-1)?.body.toString())
  assert.equal('x-service-signature' in tested.attempts[0].request_headers, false)
  // What older versions stored has neither.
  await stack.redis.hset(
    REDIS_KEYS.webhookDelivery(delivery_id),
    'attempt 1',
    JSON.stringify({ ...listed?.attempts[0], next_attempt_at: undefined }),
  )
  const old = await send('GET', `/webhooks/${webhook_id}/deliveries/${delivery_id}`)
  assert.equal(old.attempts[0].request_headers, null)
  await send('DELETE', `/webhooks/${webhook_id}`)
})

test('threat 31: an excerpt of the answer repeats no part of the URL that was called', async () => {
  const path = '/services/T0123ABCD/abcdefghijklmnop'
  const { webhook_id } = await subscribe(path)
  receiver.on(path, (response) => response.writeHead(404).end(`no route for ${path}`))
  const { attempts } = await send('POST', `/webhooks/${webhook_id}/test`)
  assert.equal(attempts[0].response_excerpt, 'no route for ***')
  await send('DELETE', `/webhooks/${webhook_id}`)
})

test('a test delivery has no agent, answers how it went, and counts nowhere', async () => {
  const { webhook_id } = await subscribe('/test-delivery')
  const delivery = await send('POST', `/webhooks/${webhook_id}/test`)
  assert.equal(delivery.status, 'delivered')
  assert.equal(delivery.attempts[0].status, 204)
  const envelope = envelopeOf(await firstAt('/test-delivery'))
  assert.equal(envelope.event, 'test')
  assert.equal(envelope.agent_id, null)
  assert.equal(typeof envelope.data['message'], 'string')
  receiver.on('/test-delivery', (response) => response.writeHead(500).end('no <b>thanks</b>\u0007'))
  const failed = await send('POST', `/webhooks/${webhook_id}/test`)
  assert.equal(failed.status, 'failed')
  assert.equal(failed.attempts[0].error, 'http_status')
  assert.equal(failed.attempts[0].response_excerpt, 'no <b>thanks</b>\uFFFD')
  const webhook = await send('GET', `/webhooks/${webhook_id}`)
  assert.deepEqual(
    [webhook.success_count, webhook.failure_count, webhook.status, webhook.last_triggered_at],
    [0, 0, 'active', null],
  )
  const listed = await stack.deliveriesOf(webhook_id)
  assert.deepEqual(
    listed.map(({ is_test }) => is_test),
    [true, true],
  )
  await send(
    'POST',
    `/webhooks/${webhook_id}/deliveries/${failed.delivery_id}/retry`,
    undefined,
    409,
  )
  await send('DELETE', `/webhooks/${webhook_id}`)
})

test('a replay of a time range sends the same events with the same ids and bytes', async () => {
  const { webhook_id } = await subscribe('/replay')
  const from = new Date().toISOString()
  const entries = [await record('permission_denied'), await record('permission_denied')]
  await settled(webhook_id)
  await until('both arrived', () => receiver.received('/replay').length === 2)
  const range = { from, to: new Date(Date.now() + 1000).toISOString() }
  const answer = await send('POST', `/webhooks/${webhook_id}/replay`, range, 202)
  assert.deepEqual(answer, { deliveries_created: 2, next_from: null })
  await until('both arrived again', () => receiver.received('/replay').length === 4)
  const bodies = receiver.received('/replay').map(({ body }) => body.toString())
  assert.deepEqual(new Set(bodies.slice(2)), new Set(bodies.slice(0, 2)))
  const ids = receiver.received('/replay').map((received) => envelopeOf(received).id)
  assert.deepEqual(new Set(ids), new Set(entries.map(({ id }) => id)))
  for (const bad of [
    { from: 'yesterday', to: range.to },
    { from: range.to, to: range.from },
  ])
    await send('POST', `/webhooks/${webhook_id}/replay`, bad, 400)
  await send('DELETE', `/webhooks/${webhook_id}`)
})

test('URL and secret are those at the time of the attempt, and a pending delivery is retried at once on demand', async () => {
  receiver.on('/wrong', (response) => response.writeHead(404).end())
  const { webhook_id } = await subscribe('/wrong')
  await record('permission_denied')
  const delivery = await until('the first attempt failed', async () => {
    const [first] = await stack.deliveriesOf(webhook_id)
    return first?.attempt_count === 1 ? first : null
  })
  assert.equal(delivery.status, 'pending')
  await send('PATCH', `/webhooks/${webhook_id}`, { url: receiver.url('/right'), secret: 'later' })
  await send(
    'POST',
    `/webhooks/${webhook_id}/deliveries/${delivery.delivery_id}/retry`,
    undefined,
    202,
  )
  const { headers, body } = await firstAt('/right')
  assert.equal(headers['x-service-signature'], `sha256=${openssl('later', body)}`)
  const webhook = await settled(webhook_id)
  assert.deepEqual([webhook.success_count, webhook.failure_count], [1, 1])
  await send('DELETE', `/webhooks/${webhook_id}`)
})

test('of the rate_limit_exceeded of a minute two events go out, and the second tells how many more there were', async () => {
  const { webhook_id } = await subscribe('/flood', { events: ['rate_limit_exceeded'] })
  const flood = { agent_id: 'agt_flood', data: { service: 'openai', limit: 5 } }
  // A flood that lies on the edge of a minute is two floods; this one is started again then.
  const minuteOf = (): number => Math.floor(Date.now() / 60_000)
  if (Date.now() % 60_000 > 55_000)
    await until('the next minute', () => Date.now() % 60_000 < 5_000)
  const minute = minuteOf()
  for (let i = 0; i < 40; i++) await record('rate_limit_exceeded', flood)
  // What edges counted without recording it is part of the number.
  await stack.redis.hincrby(
    REDIS_KEYS.refusalCounts('org_default', minute),
    'agt_flood rate_limit_exceeded',
    60,
  )
  assert.equal(envelopeOf(await firstAt('/flood')).data['suppressed'], 0)
  assert.equal(await closeFloods(stack.redis, new Date()), 0)
  assert.equal(await closeFloods(stack.redis, new Date(Date.now() + 65_000)), 1)
  await until('the closing event arrives', () => receiver.received('/flood').length === 2)
  const [, closing] = receiver.received('/flood')
  assert.equal(envelopeOf(closing as Received).data['suppressed'], 98)
  assert.equal(await closeFloods(stack.redis, new Date(Date.now() + 65_000)), 0)
  await record('rate_limit_exceeded', { ...flood, data: { ...flood.data, action_taken: 'killed' } })
  await until('an event that killed is not held', () => receiver.received('/flood').length === 3)
  await send('DELETE', `/webhooks/${webhook_id}`)
})

test('only https URLs at public places are accepted, test cannot be subscribed, and every error is named', async () => {
  const rows: [members: object, path: string][] = [
    [{ url: 'http://example.com/hook' }, '/url'],
    [{ url: 'ftp://example.com/hook' }, '/url'],
    [{ url: 'https://user:pass@example.com/' }, '/url'],
    [{ url: 'https://example.com/#x' }, '/url'],
    [{ url: 'https://example.com/a b' }, '/url'],
    [{ url: 'https://10.0.0.1/hook' }, '/url'],
    [{ url: 'https://[::ffff:7f00:1]/hook' }, '/url'],
    [{ url: 'https://169.254.169.254/latest' }, '/url'],
    [{ url: 'https://metadata.google.internal/' }, '/url'],
    [{ events: ['test'] }, '/events/0'],
    [{ events: [] }, '/events'],
    [{ events: ['request_allowed'] }, '/events/0'],
    [{ name: '' }, '/name'],
    [{ secret: '' }, '/secret'],
    [{ status: 'failing' }, '/status'],
  ]
  for (const [members, path] of rows) {
    const body = {
      name: 'n',
      url: 'https://example.com/hook',
      events: ['agent_killed'],
      ...members,
    }
    const refused = await send('POST', '/webhooks', body, 400)
    const paths = refused.details.issues.map((issue: { path: string }) => issue.path)
    assert.ok(paths.includes(path), `${JSON.stringify(members)}: ${paths}`)
  }
})

test('an organization key opens the webhooks API only with that use, and only for its own organization', async () => {
  const { key } = await stack.makeOrganizationKey({ uses: ['webhooks'] })
  const withKey = operatorAt(stack.admin.url, key)
  const made = await withKey.send('POST', '/webhooks', {
    name: 'by key',
    url: receiver.url('/by-key'),
    events: ['agent_killed'],
  })
  assert.equal((await withKey.send('GET', '/webhooks')).data[0].webhook_id, made.webhook_id)
  await withKey.send('GET', '/admin/agents', undefined, 401)
  const proxyOnly = await stack.makeOrganizationKey()
  const limited = await stack.makeOrganizationKey({
    uses: ['webhooks'],
    agent_ids: [(await stack.makeAgent()).agent_id],
  })
  const { api_key } = await stack.makeAgent()
  for (const other of [proxyOnly.key, limited.key, api_key])
    await operatorAt(stack.admin.url, other).send('GET', '/webhooks', undefined, 403)
  const refused = await fetch(`${stack.admin.url}/webhooks`, {
    headers: { authorization: 'Bearer nonsense' },
  })
  assert.equal(refused.status, 401)
  assert.match(await refused.text(), /organization key whose uses include/)

  const { organization_id } = await send('POST', '/admin/organizations', { name: 'other' })
  const token = await send('POST', '/admin/tokens', {
    email: 'o@example.com',
    role: 'admin',
    organization_id,
  })
  const other = operatorAt(stack.admin.url, token.token)
  assert.deepEqual((await other.send('GET', '/webhooks')).data, [])
  const path = `/webhooks/${made.webhook_id}`
  for (const [method, suffix] of [
    ['GET', ''],
    ['PATCH', ''],
    ['DELETE', ''],
    ['GET', '/deliveries'],
    ['POST', '/test'],
    ['POST', '/rotate-secret'],
  ] as const)
    await other.send(method, path + suffix, method === 'GET' ? undefined : {}, 404)
  const times = { from: '2020-01-01T00:00:00Z', to: '2030-01-01T00:00:00Z' }
  await other.send('POST', `${path}/replay`, times, 404)

  const theirs = await other.send('POST', '/webhooks', {
    name: 'theirs',
    url: receiver.url('/theirs'),
    events: ['permission_denied'],
  })
  const ours = await subscribe('/ours')
  await record('permission_denied', { organization_id, agent_id: 'agt_theirs' })
  assert.equal(envelopeOf(await firstAt('/theirs')).organization_id, organization_id)
  await record('permission_denied')
  await firstAt('/ours')
  assert.equal(receiver.received('/ours').length, 1)
  assert.equal(receiver.received('/theirs').length, 1)
  await send('DELETE', `/admin/organizations/${organization_id}`)
  await until('nothing of a deleted organization is left', async () => {
    const keys = await stack.redis.keys(`*webhook*`)
    return !keys.some((key) => key.includes(organization_id) || key.includes(theirs.webhook_id))
  })
  await send('DELETE', path)
  await send('DELETE', `/webhooks/${ours.webhook_id}`)
})

test('deliveries page through a burst without loss or doubles, and a deleted webhook leaves nothing', async () => {
  const { webhook_id } = await subscribe('/burst')
  await Promise.all(Array.from({ length: 150 }, () => record('permission_denied')))
  await until('all arrived', () => receiver.received('/burst').length === 150)
  await settled(webhook_id)
  const seen = new Set<string>()
  let cursor: string | null = ''
  while (cursor !== null) {
    const page: { data: DeliveryView[]; next_cursor: string | null } = await send(
      'GET',
      `/webhooks/${webhook_id}/deliveries?limit=7${cursor && `&cursor=${cursor}`}`,
    )
    for (const { delivery_id } of page.data) seen.add(delivery_id)
    cursor = page.next_cursor
  }
  assert.equal(seen.size, 150)
  await send('DELETE', `/webhooks/${webhook_id}`)
  await until(
    'nothing is left',
    async () => (await stack.redis.keys(`*${webhook_id}*`)).length === 0,
  )
  assert.equal(await stack.redis.hget(REDIS_KEYS.outboxUsage, 'org_default bytes'), '0')
  assert.equal(await stack.redis.hget(REDIS_KEYS.webhookUsage('org_default'), 'pending'), '0')
})

test('no input of any kind makes the webhooks API fail', async () => {
  const { webhook_id } = await subscribe('/fuzz', { events: ['agent_killed'] })
  const text = fc.string({ unit: anyCharacter, maxLength: 40 })
  const id = fc.oneof(fc.constant(webhook_id), fc.constant('*'), text)
  const suffix = fc.constantFrom(
    '',
    '/test',
    '/replay',
    '/rotate-secret',
    '/deliveries',
    '/deliveries/x/retry',
  )
  const member = fc.oneof(
    fc.jsonValue({ maxDepth: 2 }),
    fc.constantFrom(receiver.url('/fuzz'), '2026-01-01T00:00:00Z'),
  )
  const names = fc.constantFrom(
    'name',
    'url',
    'secret',
    'events',
    'from',
    'to',
    'status',
    '__proto__',
    'other',
  )
  const body = fc.oneof(
    text,
    fc.dictionary(names, member).map((value) => JSON.stringify(value)),
  )
  const method = fc.constantFrom('GET', 'POST', 'PATCH')
  const query = fc.oneof(
    fc.constant(''),
    text.map((value) => `?cursor=${encodeURIComponent(value)}&limit=2`),
  )
  await fc.assert(
    fc.asyncProperty(
      method,
      id,
      suffix,
      query,
      body,
      async (verb, name, after_id, search, content) => {
        const path = `/webhooks/${encodeURIComponent(name)}${after_id}${search}`
        // A store that is slow, as on a busy machine, is a 503 that says to try again; an input that fails stays one.
        const status = await until(`${verb} ${path} ${content} is not 503`, async () => {
          const answer = await fetch(stack.admin.url + path, {
            method: verb,
            headers: {
              authorization: `Bearer ${stack.admin.token}`,
              'content-type': 'application/json',
            },
            ...(verb === 'GET' ? {} : { body: content }),
          })
          await answer.arrayBuffer()
          return answer.status === 503 ? null : answer.status
        })
        assert.ok(status < 500, `${verb} ${path} ${content}: ${status}`)
      },
    ),
    { numRuns: repetitions(300) },
  )
})

test('a webhook for a chat gets the message in its format, signed as it is sent and attempted again', async () => {
  const secret = 'of the chat'
  const { webhook_id, format } = await subscribe('/chat', { secret, format: 'slack' })
  assert.equal(format, 'slack')
  receiver.on('/chat', (response, number) => response.writeHead(number === 1 ? 503 : 200).end())
  const entry = await record('permission_denied', { agent_name: '<!channel>' })
  const first = await firstAt('/chat')
  const { delivery_id } = await until('the first attempt has failed', async () => {
    const [delivery] = await stack.deliveriesOf(webhook_id)
    return delivery?.attempt_count === 1 && delivery
  })
  await send('PATCH', `/webhooks/${webhook_id}`, { format: 'teams' })
  await send('POST', `/webhooks/${webhook_id}/deliveries/${delivery_id}/retry`, undefined, 202)
  const second = await until('the second arrives', () => receiver.received('/chat')[1])
  for (const { headers, body } of [first, second]) {
    assert.equal(headers['x-service-signature'], `sha256=${openssl(secret, body)}`)
    assert.equal(headers['webhook-id'], entry.id)
  }
  const [slack, teams] = [first, second].map(({ body }) => JSON.parse(body.toString()))
  assert.equal(slack.blocks[0].text.text, 'Permission denied')
  assert.equal(slack.blocks.at(-1).elements[0].url, `${stack.admin.url}/#/activity/${entry.id}`)
  assert.equal(teams.attachments[0].content.type, 'AdaptiveCard')
  await settled(webhook_id)
  const shown = await send('GET', `/webhooks/${webhook_id}/deliveries/${delivery_id}`)
  assert.equal(shown.payload, second.body.toString())
  for (const { request_headers } of shown.attempts)
    assert.equal(request_headers['x-service-signature'], null)
  const bad = { format: 'discord' }
  assert.equal(
    (await send('PATCH', `/webhooks/${webhook_id}`, bad, 400)).error,
    'validation_failed',
  )
  // As a merge patch says it: the default again.
  const again = await send('PATCH', `/webhooks/${webhook_id}`, {
    format: null,
    ca_certificates: null,
  })
  assert.deepEqual([again.format, again.ca_certificates], ['standard', null])
  await send('DELETE', `/webhooks/${webhook_id}`)
})
