import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { recordEntries } from '../../core/change/record-entries.ts'
import { connectRedis } from '../../core/redis/connect-redis.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { activityEntry } from '../kit/activity-entry.ts'
import { type AdminInProcess, adminInProcess, type Json } from '../kit/admin-in-process.ts'
import { makeAccessRequest } from '../kit/make-access-request.ts'
import { startTestEdge } from '../kit/test-edge.ts'
import { type KitValkey, startValkey } from '../kit/start-valkey.ts'
import { until } from '../kit/until.ts'
import { startWebhookReceiver, type WebhookReceiver } from '../kit/webhook-receiver.ts'

/** In every name and text of the organization that no other may see. */
const MARK = 'zmine'
/** What may be asked without a token; it tells nothing of any organization. */
const PUBLIC = ['/healthz', '/readyz', '/metrics', '/ca.pem', '/ca-bundle.pem']

interface Operation {
  readonly method: string
  readonly path: string
  readonly call: Json
}

let valkey: KitValkey
let receiver: WebhookReceiver
let admin: AdminInProcess
let redis: RedisClient
let operations: readonly Operation[]
/** The admin token of another organization, and a key of it that opens the webhooks. */
let other: { organization_id: string; token: string; key: string }
/** What the default organization has, by the name of the parameter that takes it. */
const ids: Record<string, string> = {}

before(async () => {
  ;[valkey, receiver] = await Promise.all([startValkey(), startWebhookReceiver()])
  admin = await adminInProcess(valkey.url, { AGW_WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8' })
  redis = connectRedis(valkey.url, { name: 'test', role: 'queue' })
  const made = await make('/admin/organizations', { name: 'other' })
  const { organization_id, admin_token: token } = made
  const key = await make('/admin/keys', { name: 'hooks', uses: ['webhooks'] }, token)
  other = { organization_id, token, key: key.key }
  const agent = await make('/admin/agents', { agent_name: MARK, metadata: { MARK } })
  const integration = await make('/admin/integrations', {
    name: MARK,
    base_url: `https://${MARK}.example.com/v1`,
    auth: { type: 'bearer', token: 'of-the-integration' },
  })
  ids['agent_id'] = agent.agent_id
  ids['key_id'] = agent.api_key_id
  ids['integration_id'] = integration.integration_id
  const connections = `/admin/integrations/${integration.integration_id}/connections`
  const connected = await make(connections, { name: MARK, auth: { type: 'none' } })
  ids['connection_id'] = connected.connection_id
  const { agent_id, integration_id } = ids
  const scope = await make('/admin/scopes', { name: MARK, agent_id, integration_id, rules: [] })
  ids['scope_id'] = scope.scope_id
  const viewer = { email: `${MARK}@example.com`, role: 'viewer' }
  ids['token_id'] = (await make('/admin/tokens', viewer)).token_id
  ids['organization_id'] = 'org_default'
  const killed = await make('/admin/agents', { agent_name: `${MARK} killed` })
  const kill = await admin.call('POST', `/admin/agents/${killed.agent_id}/kill`, {
    body: { reason: MARK },
  })
  ids['kill_id'] = kill.body.kill_id
  const lock = await make('/admin/locks', { target: { scope_id: scope.scope_id }, message: MARK })
  ids['lock_id'] = lock.lock_id
  ids['request_id'] = await makeAccessRequest(redis, 'org_default', agent.agent_id, MARK)
  const webhook = await make('/webhooks', {
    name: MARK,
    url: receiver.url(`/${MARK}`),
    events: ['injection_blocked'],
  })
  ids['webhook_id'] = webhook.webhook_id
  const entry = activityEntry('injection_blocked', {
    agent_id: agent.agent_id,
    agent_name: MARK,
    data: { pattern_name: MARK, severity: 'high', mode: 'block', location: MARK },
  })
  ids['id'] = entry.id
  await recordEntries(redis, 'org_default', [entry])
  await until('there are an alert and a delivery', async () => {
    const alerts = await read('/admin/alerts')
    const deliveries = await read(`/webhooks/${webhook.webhook_id}/deliveries`)
    ids['alert_id'] = alerts.data[0]?.alert_id
    ids['delivery_id'] = deliveries.data[0]?.delivery_id
    return ids['alert_id'] !== undefined && ids['delivery_id'] !== undefined
  })
  const { paths } = await read('/openapi.json')
  operations = Object.entries<Json>(paths).flatMap(([path, calls]) =>
    Object.entries<Json>(calls).map(([method, call]) => ({
      method: method.toUpperCase(),
      path,
      call,
    })),
  )
})
after(async () => {
  redis.disconnect()
  await admin.stop()
  await Promise.all([valkey.stop(), receiver.stop()])
})

test('host names and versions of edges are for admins of the default organization', async () => {
  const edge = await startTestEdge(valkey.url, `${MARK}-host`)
  const viewer = await make('/admin/tokens', { email: 'looks@example.com', role: 'viewer' })
  const listed = async (token: string): Promise<Json> => {
    const { body } = await admin.call('GET', '/admin/edges', { token })
    return body.data[0]
  }
  await until('the edge is listed', async () => (await listed(admin.token)) !== undefined)
  assert.equal((await listed(admin.token)).edge_id, `${MARK}-host`)
  for (const token of [other.token, viewer.token]) {
    const { edge_id, version } = await listed(token)
    assert.match(edge_id, /^edge_[0-9a-f]{12}$/)
    assert.equal(version, null)
    const { status, body } = await admin.call('GET', '/admin/ca', { token })
    if (status === 200) for (const { subject } of body.certificates) assert.equal(subject, null)
  }
  await edge.stop()
})

async function make(path: string, body: object, token = admin.token): Promise<Json> {
  const answer = await admin.call('POST', path, { body, token })
  assert.equal(answer.status, 201, answer.text)
  return answer.body
}

async function read(path: string): Promise<Json> {
  const answer = await admin.call('GET', path)
  assert.equal(answer.status, 200, answer.text)
  return answer.body
}

const namesIn = (path: string): string[] => [...path.matchAll(/\{(\w+)\}/g)].map(([, n = '']) => n)

/** @throws when the table has no value for a parameter; a new route needs a row */
const filled = (path: string): string =>
  path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    assert.ok(ids[name], `nothing is known for {${name}} of ${path}`)
    return ids[name] ?? ''
  })

const queryOf = ({ call }: Operation): string =>
  (call.parameters ?? [])
    .filter((parameter: Json) => parameter.in === 'query' && ids[parameter.name] !== undefined)
    .map(({ name }: Json) => `${name}=${ids[name]}`)
    .join('&')

/** What the schema asks for at least, made of what the default organization has where it has such a thing. */
function bodyOf({ call }: Operation): object | undefined {
  const schema = call.requestBody?.content?.['application/json']?.schema
  if (schema === undefined) return undefined
  const usual: Record<string, unknown> = {
    ...ids,
    events: ['agent_killed'],
    email: 'a@example.com',
    role: 'viewer',
    rules: [],
    auth: { type: 'none' },
    base_url: 'https://theirs.example.com',
    url: 'https://theirs.example.com/x',
    from: '2026-01-01T00:00:00Z',
    to: '2036-01-01T00:00:00Z',
    method: 'GET',
    organization_id: 'org_default',
  }
  return Object.fromEntries(
    (schema.required ?? []).map((name: string) => [name, usual[name] ?? 'theirs']),
  )
}

const isStream = ({ path }: Operation): boolean => path === '/admin/activity/stream'

function assertNothingShown(text: string, what: string): void {
  assert.ok(!text.includes(MARK), `${what}: ${text}`)
  for (const [name, id] of Object.entries(ids))
    if (name !== 'organization_id') assert.ok(!text.includes(`"${id}"`), `${what}: ${text}`)
}

/** Everything of the default organization that a route can read, without what time alone changes. */
async function everything(): Promise<string> {
  const texts: string[] = []
  for (const operation of operations) {
    const { method, path } = operation
    const isMoving = path.startsWith('/admin/activity') || PUBLIC.includes(path)
    if (method !== 'GET' || isMoving || /edges|stats|audit|tokens|organizations|replay/.test(path))
      continue
    texts.push(`${path} ${(await admin.call('GET', filled(path))).text}`)
  }
  return texts
    .join('\n')
    .replaceAll(/"request_id":"[^"]+"/g, '')
    .replaceAll(/"credentials":(?:null|\[\]),"credentials_settled_at":(?:null|"[^"]+")/g, '')
}

test('every operation of the document needs a token, but for the few that tell nothing', async () => {
  assert.ok(operations.length > 50, `${operations.length}`)
  const open: string[] = []
  for (const operation of operations) {
    const { method, path } = operation
    const answer = await admin.call(method, filled(path), { token: null, body: bodyOf(operation) })
    if (answer.status === 401) continue
    open.push(path)
    assertNothingShown(answer.text, path)
  }
  assert.deepEqual(open.sort(), [...PUBLIC].sort())
})

test('no operation of the document shows or changes anything of another organization', async () => {
  const before_ = await everything()
  for (const operation of operations) {
    const { method, path } = operation
    if (PUBLIC.includes(path) || isStream(operation)) continue
    const query = queryOf(operation)
    const body = method === 'GET' ? undefined : bodyOf(operation)
    const what = `${method} ${path}`
    for (const search of new Set(['', query])) {
      const url = search === '' ? filled(path) : `${filled(path)}?${search}`
      const answer = await admin.call(method, url, { token: other.token, body })
      assert.ok(answer.status < 500, `${what}: ${answer.text}`)
      assertNothingShown(answer.text, what)
      if (namesIn(path).length === 0) continue
      assert.ok([403, 404].includes(answer.status), `${what}: ${answer.status} ${answer.text}`)
      // It is answered as what does not exist.
      const unknown = url.replace(filled(path), path.replaceAll(/\{\w+\}/g, 'unknown'))
      const nothing = await admin.call(method, unknown, { token: other.token, body })
      assert.deepEqual({ ...nothing.body, request_id: 0 }, { ...answer.body, request_id: 0 }, what)
    }
  }
  assert.equal(await everything(), before_)
})

test('a key of another organization sees and changes no webhook of this one', async () => {
  const before_ = await everything()
  const token = other.key
  for (const operation of operations) {
    const { method, path } = operation
    if (PUBLIC.includes(path) || isStream(operation)) continue
    const body = method === 'GET' ? undefined : bodyOf(operation)
    const answer = await admin.call(method, filled(path), { token, body })
    assertNothingShown(answer.text, `${method} ${path}`)
    const isTheirs = path === '/webhooks'
    if (!isTheirs)
      assert.ok([401, 403, 404, 429].includes(answer.status), `${method} ${path}: ${answer.text}`)
  }
  assert.equal(await everything(), before_)
})

test('an unsaved scope is tried by a viewer, on the agents and calls of the own organization only', async () => {
  const { agent_id = '', integration_id = '' } = ids
  const url = `https://${MARK}.example.com/v1/x`
  const scope = { name: 'unsaved', integration_id, rules: [{ methods: ['GET'], paths: ['/x'] }] }
  const viewer = await make('/admin/tokens', { email: 'v@example.com', role: 'viewer' })
  await recordEntries(redis, 'org_default', [
    activityEntry('permission_denied', {
      agent_id,
      integration_id,
      method: 'GET',
      endpoint: '/v1/x',
      decision: 'blocked',
      reason: 'permission_denied',
      data: { attempted_action: 'GET /x' },
    }),
  ])
  const question = { agent_id, method: 'GET', url }
  const ask = async (path: string, token: string, body: object) =>
    await admin.call('POST', path, { token, body })
  const saved = await ask('/admin/explain', viewer.token, question)
  const tried = await ask('/admin/explain', viewer.token, { ...question, scope })
  assert.deepEqual([saved.status, tried.status], [200, 200], tried.text)
  assert.notEqual(saved.body.answer, 'allowed')
  assert.equal(tried.body.answer, 'allowed')
  await until('the refused call is found', async () => {
    const trial = await ask('/admin/explain/history', viewer.token, { agent_id, scope })
    assert.equal(trial.status, 200, trial.text)
    return trial.body.would_pass === 1
  })
  const preview = `/admin/agents/${agent_id}/kill-preview`
  assert.equal((await admin.call('GET', preview, { token: viewer.token })).status, 200)
  // Nothing was saved by trying.
  assert.notEqual((await ask('/admin/explain', viewer.token, question)).body.answer, 'allowed')
  for (const [path, body] of [
    ['/admin/explain', { ...question, scope }],
    ['/admin/explain/history', { agent_id, scope }],
  ] as const) {
    const answer = await ask(path, other.token, body)
    assert.ok([400, 404].includes(answer.status), answer.text)
    assertNothingShown(answer.text.replaceAll(`"${agent_id}"`, ''), path)
  }
  const theirs = await make('/admin/agents', { agent_name: 'theirs' }, other.token)
  const mixed = await ask('/admin/explain/history', other.token, {
    agent_id: theirs.agent_id,
    scope,
  })
  assert.equal(mixed.status, 400, mixed.text)
  assert.equal((await admin.call('GET', preview, { token: other.token })).status, 404)
})
