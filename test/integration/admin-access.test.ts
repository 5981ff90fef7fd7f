import assert from 'node:assert/strict'
import { join } from 'node:path'
import { statSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import type { Route } from '../../admin/http/define-route.ts'
import { ROUTES } from '../../admin/server/routes.ts'
import { FAILURES_LIMIT } from '../../admin/context/sign-in-throttle.ts'
import { ACTIVITY_FIELD } from '../../core/activity/activity-entry.ts'
import { mintKey } from '../../core/keys/api-key.ts'
import { backupClass } from '../../core/redis/backup-classes.ts'
import { connectRedis } from '../../core/redis/connect-redis.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import {
  type AdminAnswer,
  type AdminInProcess,
  adminInProcess,
  type Json,
} from '../kit/admin-in-process.ts'
import { type KitValkey, startValkey } from '../kit/start-valkey.ts'
import { tempFolder } from '../kit/temp-folder.ts'

let valkey: KitValkey
let admin: AdminInProcess
let redis: RedisClient
const roles: Record<string, string> = {}
/** Another organization, with its own admin. */
let other: { organization_id: string; token: string }
/** What the default organization has, by the name of its parameter. */
const ids: Record<string, string> = {}

before(async () => {
  valkey = await startValkey()
  admin = await adminInProcess(valkey.url, {
    AGW_ADMIN_SOCKET: join(tempFolder('admin'), 'a.sock'),
  })
  redis = connectRedis(valkey.url, { name: 'test', role: 'queue' })
  for (const role of ['viewer', 'operator', 'admin'])
    roles[role] = (await make('/admin/tokens', { email: `${role}@example.com`, role })).token
  const organization = await make('/admin/organizations', { name: 'other' })
  other = { organization_id: organization.organization_id, token: organization.admin_token }
  const agent = await make('/admin/agents', { agent_name: 'mine' })
  const integration = await make('/admin/integrations', {
    name: 'mine',
    base_url: 'https://mine.example.com/v1',
    auth: { type: 'none' },
  })
  const { agent_id } = agent
  const { integration_id } = integration
  const scope = await make('/admin/scopes', { name: 's', agent_id, integration_id, rules: [] })
  ids['agent_id'] = agent_id
  ids['integration_id'] = integration_id
  ids['scope_id'] = scope.scope_id
  ids['key_id'] = agent.api_key_id
  ids['organization_id'] = other.organization_id
  ids['token_id'] = (
    await make('/admin/tokens', { email: 'a@example.com', role: 'viewer' })
  ).token_id
})
after(async () => {
  redis.disconnect()
  await admin.stop()
  await valkey.stop()
})

async function make(path: string, body: object, token = admin.token): Promise<Json> {
  const answer = await admin.call('POST', path, { body, token })
  assert.equal(answer.status, 201, answer.text)
  return answer.body
}

const pathOf = (pattern: string): string =>
  pattern.replaceAll(/:(\w+)/g, (_, name: string) => ids[name] ?? 'none')

/** All that is stored, without what the running processes write by themselves (leases, heartbeats) and the log. */
const snapshot = async (): Promise<string> => {
  const parts: string[] = []
  for (const key of (await redis.keys('*')).sort()) {
    if (backupClass(key) === 'live') continue
    if (/:(activity|epoch|admin-token-last-used)/.test(key)) continue
    const type = await redis.type(key)
    if (type === 'hash')
      parts.push(
        key,
        JSON.stringify(
          Object.entries(await redis.hgetall(key))
            .map(String)
            .toSorted(),
        ),
      )
    else if (type === 'zset') parts.push(key, JSON.stringify(await redis.zrange(key, '0', '-1')))
    else parts.push(key, String(await redis.get(key)))
  }
  return parts.join('\n')
}

describe('every call of the API', () => {
  const RANK = ['viewer', 'operator', 'admin']
  for (const route of ROUTES) {
    const title = `${route.method} ${route.path}`

    test(`${title} needs a token`, async () => {
      for (const headers of [
        {},
        { authorization: 'Basic YTpi' },
        { cookie: `token=${admin.token}` },
      ]) {
        const answer = await admin.call(route.method, pathOf(route.path), { token: null, headers })
        assert.equal(answer.status, 401)
        assert.equal(answer.body.error, 'unauthorized')
        assert.match(String(answer.headers['www-authenticate']), /^Bearer/)
      }
    })

    test(`${title} needs the role ${route.role}`, async () => {
      for (const role of RANK.slice(0, RANK.indexOf(route.role))) {
        const before_ = await snapshot()
        const path = pathOf(route.path)
        const answer = await admin.call(route.method, path, { token: roles[role] ?? '', body: {} })
        assert.equal(answer.status, 403, `${role}: ${answer.text}`)
        assert.equal(answer.body.error, 'forbidden')
        assert.ok(answer.body.message.includes(`Use one with the role ${route.role}.`), answer.text)
        assert.equal(await snapshot(), before_)
      }
    })
  }
})

/** Streams and exports; the tests of the activity log read those. */
function isText({ answers }: Route): boolean {
  return (answers[200] as { type?: string } | undefined)?.type === 'string'
}

/** Reads without any part of a secret (docs/decisions/021-compressed-answers.md). */
const COMPRESSED = [
  '/admin/access-map',
  '/admin/activity',
  '/admin/activity/facets',
  '/admin/activity/flow',
  '/admin/activity/series',
  '/admin/agents',
  '/admin/alerts',
  '/admin/alerts/causes',
]

test('the log, its counts, agents and alerts are compressed for those who accept it, and nothing else', async () => {
  for (let i = 0; i < 20; i++) await make('/admin/agents', { agent_name: `many ${i}` })
  const sent: string[] = []
  for (const route of ROUTES) {
    if (route.method !== 'GET' || isText(route)) continue
    assert.equal(route.compressed === true, COMPRESSED.includes(route.path), route.path)
    const headers = { 'accept-encoding': 'gzip, br' }
    const answer = await admin.call('GET', pathOf(route.path), { headers })
    if (answer.headers['content-encoding'] === undefined) continue
    assert.equal(answer.headers['vary'], 'accept-encoding')
    sent.push(route.path)
  }
  for (const route of ROUTES) if (route.method !== 'GET') assert.equal(route.compressed, undefined)
  for (const path of ['/admin/activity', '/admin/agents']) assert.ok(sent.includes(path), path)
  for (const path of sent) assert.ok(COMPRESSED.includes(path), path)
  const plain = await admin.call('GET', '/admin/agents')
  assert.equal(plain.headers['content-encoding'], undefined)
  for (const encoding of ['br', 'gzip']) {
    const headers = { 'accept-encoding': encoding }
    const answer = await admin.call('GET', '/admin/agents', { headers })
    assert.equal(answer.headers['content-encoding'], encoding)
    assert.deepEqual(answer.body, plain.body)
    assert.ok(Number(answer.headers['content-length']) < plain.text.length / 2)
  }
})

describe('organizations', () => {
  test('a scope or a key of one organization takes nothing of another', async () => {
    const { token } = other
    const own = await make('/admin/agents', { agent_name: 'own' }, token)
    const auth = { type: 'none' }
    const where = { name: 'i', base_url: 'https://mine.example.com/v1', auth }
    const integration = await make('/admin/integrations', where, token)
    const rules: object[] = []
    const scopes = [
      { name: 's', rules, agent_id: ids['agent_id'], integration_id: integration.integration_id },
      { name: 's', rules, agent_id: own.agent_id, integration_id: ids['integration_id'] },
    ]
    for (const body of scopes)
      assert.equal((await admin.call('POST', '/admin/scopes', { token, body })).status, 400)
    const body = { agent_ids: [ids['agent_id']] }
    assert.equal((await admin.call('POST', '/admin/keys', { token, body })).status, 400)
    const explained = await admin.call('POST', '/admin/explain', {
      token,
      body: { agent_id: ids['agent_id'], method: 'GET', url: 'https://mine.example.com/v1/x' },
    })
    assert.equal(explained.body.error, 'agent_not_found')
  })

  test('only the default organization makes tokens of others', async () => {
    const body = { email: 'x@example.com', role: 'admin', organization_id: 'org_default' }
    assert.equal(
      (await admin.call('POST', '/admin/tokens', { token: other.token, body })).status,
      403,
    )
    const made = await make('/admin/tokens', { ...body, organization_id: other.organization_id })
    const agents = await admin.call('GET', '/admin/agents', { token: made.token })
    assert.equal(agents.text.includes(ids['agent_id'] ?? ''), false)
  })

  test('a deleted organization leaves nothing that opens and nothing that is stored', async () => {
    const { organization_id, admin_token } = await make('/admin/organizations', { name: 'gone' })
    const agent = await make('/admin/agents', { agent_name: 'a' }, admin_token)
    const auth = { type: 'bearer', token: 'secret' }
    const where = { name: 'i', base_url: 'https://x.example.com', auth }
    const integration = await make('/admin/integrations', where, admin_token)
    const { agent_id } = agent
    const { integration_id } = integration
    await make('/admin/scopes', { name: 's', agent_id, integration_id, rules: [] }, admin_token)
    const path = `/admin/organizations/${organization_id}`
    assert.equal((await admin.call('DELETE', path)).status, 409)
    assert.equal((await admin.call('DELETE', `${path}?cascade=true`)).status, 204)
    assert.equal((await admin.call('GET', '/admin/agents', { token: admin_token })).status, 401)
    const keys = await redis.keys('*')
    assert.deepEqual(
      keys.filter((key) => key.includes(organization_id)),
      [],
    )
    const hashes = await redis.hvals(REDIS_KEYS.apiKeyHashes)
    assert.equal(
      hashes.some((place) => place.includes(organization_id)),
      false,
    )
  })

  test('the default organization stays', async () => {
    const answer = await admin.call('DELETE', '/admin/organizations/org_default?cascade=true')
    assert.equal(answer.status, 409)
  })
})

describe('tokens', () => {
  test('a token is shown once, used, seen as used, and opens nothing once it is deleted', async () => {
    const made = await make('/admin/tokens', { email: 'once@example.com', role: 'viewer' })
    const { token } = made
    assert.equal((await admin.call('GET', '/admin/agents', { token })).status, 200)
    const path = `/admin/tokens/${made.token_id}`
    assert.equal((await admin.call('GET', path)).text.includes(token), false)
    assert.equal((await admin.call('DELETE', path)).status, 204)
    assert.equal((await admin.call('GET', '/admin/agents', { token })).status, 401)
  })

  test('an expired token opens nothing', async () => {
    const made = await make('/admin/tokens', {
      email: 'late@example.com',
      role: 'admin',
      expires_at: '2999-01-01T00:00:00Z',
    })
    const tokens = REDIS_KEYS.adminTokens('org_default')
    const stored = JSON.parse((await redis.hget(tokens, made.token_id)) ?? '')
    const expired = { ...stored, expires_at: '2020-01-01T00:00:00.000Z' }
    await redis.hset(tokens, made.token_id, JSON.stringify(expired))
    assert.equal((await admin.call('GET', '/admin/agents', { token: made.token })).status, 401)
  })

  test('the last admin token of an organization stays', async () => {
    const { admin_token, admin_token_id } = await make('/admin/organizations', { name: 'one' })
    const path = `/admin/tokens/${admin_token_id}`
    const answer = await admin.call('DELETE', path, { token: admin_token })
    assert.equal(answer.body.details.reason, 'last_admin_token')
    const second = await make(
      '/admin/tokens',
      { email: 'b@example.com', role: 'admin' },
      admin_token,
    )
    assert.equal((await admin.call('DELETE', path, { token: second.token })).status, 204)
  })
})

describe('sign-in', () => {
  const from = (address: string) => ({
    socket: true,
    headers: { 'x-envoy-external-address': address },
  })
  const guess = (token: string, address: string) =>
    admin.call('GET', '/admin/agents', { token, ...from(address) })

  test('threat 6: wrong tokens of one address are throttled, logged, and those of others are not', async () => {
    for (let i = 0; i < FAILURES_LIMIT; i++)
      assert.equal((await guess(`wrong-${i}`, '203.0.113.1')).status, 401)
    for (const wrong of ['wrong-again', mintKey('admin')]) {
      const answer = await guess(wrong, '203.0.113.1')
      assert.equal(answer.status, 429)
      assert.equal(answer.body.error, 'too_many_sign_ins')
      assert.ok(Number(answer.headers['retry-after']) > 0)
    }
    assert.equal((await guess('wrong', '203.0.113.2')).status, 401)
    const entries = (await redis.xrange(REDIS_KEYS.activity('org_default'), '-', '+'))
      .map(([, fields]) => JSON.parse(fields[fields.indexOf(ACTIVITY_FIELD) + 1] ?? ''))
      .filter((entry) => entry.source_ip === '203.0.113.1')
    assert.equal(entries.length, FAILURES_LIMIT)
    assert.equal(entries[0].data.action, 'sign_in.failed')
    assert.equal(JSON.stringify(entries).includes('wrong-0'), false)
  })

  test('threat 6: a valid token still works, so that operators are not locked out', async () => {
    for (let i = 0; i <= FAILURES_LIMIT; i++) await guess('wrong', '203.0.113.3')
    assert.equal((await guess(admin.token, '203.0.113.3')).status, 200)
  })

  test('threat 6: forwarded addresses count only on the socket of Envoy', async () => {
    const tries = Array.from({ length: FAILURES_LIMIT + 1 }, (_, i) =>
      admin.call('GET', '/admin/agents', {
        token: 'wrong',
        headers: {
          'x-envoy-external-address': `198.51.100.${i}`,
          'x-forwarded-for': `198.51.100.${i}`,
        },
      }),
    )
    const statuses = (await Promise.all(tries)).map(({ status }) => status)
    assert.equal(statuses.includes(429), true)
  })

  test('threat 6: the socket of Envoy serves /admin/ alone, and only its own user may enter', async () => {
    for (const path of ['/healthz', '/readyz', '/openapi.json', '/docs', '/'])
      assert.equal((await admin.call('GET', path, { socket: true })).status, 404)
    assert.equal((await admin.call('GET', '/admin/agents', { socket: true })).status, 200)
    assert.equal(statSync(admin.socket ?? '').mode & 0o777, 0o600)
  })

  test('threat: a page behind a name that turns into our address (DNS rebinding) reads nothing', async () => {
    const paths = [
      '/metrics',
      '/',
      '/openapi.json',
      '/docs',
      '/ca.pem',
      '/admin/agents',
      '/x',
      '//',
    ]
    for (const host of [
      'evil.example',
      'evil.example:8081',
      '127.0.0.1.nip.io',
      'localhost.evil.example',
    ])
      for (const path of paths) {
        const answer = await admin.call('GET', path, { headers: { host } })
        assert.equal(answer.status, 421, `${host} ${path}`)
        assert.equal(answer.body.error, 'misdirected_request')
        assert.match(answer.body.message, /AGW_API_ALLOWED_HOSTS/)
      }
    const changed = await admin.call('POST', '/admin/agents', {
      headers: { host: 'evil.example' },
      body: { agent_name: 'rebound' },
    })
    assert.equal(changed.status, 421)
    for (const host of ['127.0.0.1:1', '[::1]', 'localhost', '10.1.2.3'])
      assert.equal((await admin.call('GET', '/metrics', { headers: { host } })).status, 200, host)
    // Load balancers use names of their own; Envoy passes on the name by which agents call.
    assert.equal(
      (await admin.call('GET', '/healthz', { headers: { host: 'lb.example' } })).status,
      200,
    )
    const proxied = { headers: { host: 'gateway.example' }, socket: true }
    assert.equal((await admin.call('GET', '/admin/agents', proxied)).status, 200)
  })

  test('nothing that was sent to sign in with is in the log', async () => {
    await admin.call('GET', '/admin/agents', { token: 'a-wrong-secret' })
    await admin.call('GET', '/admin/agents', { headers: { cookie: 'session=c00kie' } })
    for (const secret of ['a-wrong-secret', 'c00kie', admin.token])
      assert.equal(admin.log().includes(secret), false)
  })
})

describe('invalid requests', () => {
  const cases: [string, () => Promise<AdminAnswer>, number, string][] = [
    ['broken JSON', () => post('{"agent_name":'), 400, 'validation_failed'],
    ['JSON that is no object', () => post('[1]'), 400, 'validation_failed'],
    ['null', () => post('null'), 400, 'validation_failed'],
    ['no body', () => post(''), 400, 'validation_failed'],
    [
      'a prototype',
      () => post('{"agent_name":"x","metadata":{"__proto__":{"a":1}}}'),
      400,
      'validation_failed',
    ],
    [
      'deep nesting',
      () => post(`{"agent_name":"x","metadata":{"a":${'['.repeat(9000)}${']'.repeat(9000)}}}`),
      400,
      'validation_failed',
    ],
    [
      'another content type',
      () => post('<a/>', { 'content-type': 'text/xml' }),
      415,
      'unsupported_media_type',
    ],
    [
      'a form',
      () => post('agent_name=x', { 'content-type': 'application/x-www-form-urlencoded' }),
      415,
      'unsupported_media_type',
    ],
    [
      'a body that is too large',
      () => post(`"${'x'.repeat(3_000_000)}"`),
      413,
      'request_too_large',
    ],
    ['an unknown path', () => admin.call('GET', '/admin/nothing'), 404, 'not_found'],
    [
      'a method that a path does not take',
      () => admin.call('PUT', '/admin/agents', { body: {} }),
      405,
      'method_not_allowed',
    ],
    [
      'a bad escape in the path',
      () => admin.call('GET', '/admin/agents/%zz'),
      400,
      'validation_failed',
    ],
    ['a long id', () => admin.call('GET', `/admin/agents/${'a'.repeat(5000)}`), 404, 'not_found'],
    [
      'an invalid Idempotency-Key',
      () => post('{"agent_name":"x"}', { 'idempotency-key': 'a b' }),
      400,
      'validation_failed',
    ],
  ]
  const post = (raw: string, headers = {}) => admin.call('POST', '/admin/agents', { raw, headers })
  for (const [what, ask, status, error] of cases)
    test(`${what} is answered ${status} in our JSON`, async () => {
      const answer = await ask()
      assert.equal(answer.status, status, answer.text)
      assert.equal(answer.body.error, error)
      assert.equal(answer.headers['x-agw-reason'], error)
      assert.equal(answer.headers['x-agw-request-id'], answer.body.request_id)
    })

  test('a request that is not HTTP gets 400 with our error body', async () => {
    assert.match(
      await admin.raw('nonsense\r\n\r\n'),
      /^HTTP\/1\.1 400 [^]*"error":"validation_failed"/,
    )
    const long = `GET / HTTP/1.1\r\nx: ${'y'.repeat(40_000)}\r\n\r\n`
    assert.match(await admin.raw(long), /^HTTP\/1\.1 431 [^]*"error":"headers_too_large"/)
  })
})
