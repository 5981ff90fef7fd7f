import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { resealAll } from '../../admin/encryption/reseal-all.ts'
import type { Webhook } from '../../admin/webhooks/webhook.ts'
import { ROUTES } from '../../admin/server/routes.ts'
import { ACTIVITY_FIELD } from '../../core/activity/activity-entry.ts'
import { mintKey } from '../../core/keys/api-key.ts'
import { MINIMUM_VERSION, readMinimumVersion } from '../../core/store/minimum-version.ts'
import { STORE_FORMAT, STORE_FORMATS } from '../../core/store/stored-record.ts'
import type { Integration } from '../../core/catalogue/model.ts'
import { connectRedis } from '../../core/redis/connect-redis.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { isSealed, parseKeyRing } from '../../core/keys/seal.ts'
import { openAuth } from '../../core/store/credential-binding.ts'
import { type AdminInProcess, adminInProcess, type Json } from '../kit/admin-in-process.ts'
import { type KitValkey, startValkey } from '../kit/start-valkey.ts'
import { startTestEdge } from '../kit/test-edge.ts'
import { until } from '../kit/until.ts'

const ORG = 'org_default'
const SECRET = 'sk-live-0123456789-abcdef-WXYZ'
/** Short, so that the test of a silent edge is. */
const LEASE_MS = 600

let valkey: KitValkey
let admin: AdminInProcess
let redis: RedisClient

before(async () => {
  valkey = await startValkey()
  admin = await adminInProcess(valkey.url, { AGW_KILL_LEASE_MS: String(LEASE_MS) })
  redis = connectRedis(valkey.url, { name: 'test', role: 'queue' })
})
after(async () => {
  redis.disconnect()
  await admin.stop()
  await valkey.stop()
})

async function make(path: string, body: object, headers = {}): Promise<Json> {
  const answer = await admin.call('POST', path, { body, headers })
  assert.equal(answer.status, 201, answer.text)
  return answer.body
}

let count = 0
const integrationBody = (auth: object = { type: 'bearer', token: SECRET }) => ({
  name: `i${++count}`,
  base_url: `https://api-${count}.example.com/v1`,
  auth,
})

const stored = async (integration_id: string): Promise<Integration> =>
  JSON.parse((await redis.hget(REDIS_KEYS.integrations(ORG), integration_id)) ?? '')

const activity = async (): Promise<Json[]> =>
  (await redis.xrange(REDIS_KEYS.activity(ORG), '-', '+')).map(([, fields]) =>
    JSON.parse(fields[fields.indexOf(ACTIVITY_FIELD) + 1] ?? ''),
  )

test('the scopes of an agent have limits for the paths and the bytes of all of them', async () => {
  const { agent_id } = await make('/admin/agents', { agent_name: 'many rules' })
  const { integration_id } = await make('/admin/integrations', integrationBody())
  const rulesOf = (paths: number, length: number) =>
    Array.from({ length: Math.ceil(paths / 100) }, (_, rule) => ({
      methods: ['GET'],
      paths: Array.from({ length: Math.min(100, paths - rule * 100) }, (_none, i) =>
        `/${rule}-${i}-${'x'.repeat(length)}`.slice(0, length),
      ),
    }))
  const body = (paths: number, length: number) => ({
    name: `s${++count}`,
    agent_id,
    integration_id,
    rules: rulesOf(paths, length),
  })
  const scopes: Json[] = []
  for (let i = 0; i < 5; i++) scopes.push(await make('/admin/scopes', body(1_000, 20)))
  const more = await admin.call('POST', '/admin/scopes', { body: body(1, 20) })
  assert.equal(more.status, 409)
  assert.equal(more.body.details.reason, 'too_many_paths')
  const path = `/admin/scopes/${scopes[0].scope_id}`
  const renamed = await admin.call('PATCH', path, { body: { name: 'still possible' } })
  assert.equal(renamed.status, 200)
  const fewer = await admin.call('PATCH', path, { body: { rules: rulesOf(10, 20) } })
  assert.equal(fewer.status, 200)
  const again = await admin.call('PATCH', path, { body: { rules: rulesOf(1_000, 20) } })
  assert.equal(again.status, 200)
  const { agent_id: deep } = await make('/admin/agents', { agent_name: 'deep rules' })
  const segments = (rules: number) => ({
    ...body(1, 20),
    agent_id: deep,
    rules: Array.from({ length: rules }, (_, rule) => ({
      methods: ['GET'],
      paths: Array.from({ length: 25 }, (_none, i) => `/${rule}-${i}${'/x'.repeat(499)}`),
    })),
  })
  await make('/admin/scopes', segments(4))
  const deeper = await admin.call('POST', '/admin/scopes', { body: segments(1) })
  assert.equal(deeper.status, 409)
  assert.equal(deeper.body.details.reason, 'too_many_paths')
  assert.match(deeper.body.details.message ?? deeper.body.message, /50000 segments/)
  const { agent_id: other } = await make('/admin/agents', { agent_name: 'long rules' })
  const large = (): object => ({ ...body(120, 2_000), agent_id: other })
  for (let i = 0; i < 8; i++) await make('/admin/scopes', large())
  const ninth = await admin.call('POST', '/admin/scopes', { body: large() })
  assert.equal(ninth.status, 409)
  assert.equal(ninth.body.details.reason, 'scopes_too_large')
})

/** Repeated while the answer is 503: on a busy machine, reading 8 MiB may take the store longer than admin waits for it. */
const answered = (method: 'POST' | 'PATCH', path: string, body: object) =>
  until('the store answers in time', async () => {
    const answer = await admin.call(method, path, { body })
    return answer.status !== 503 && answer
  })

test('the integrations of an organization have a limit for the bytes of all of them', async () => {
  const { integration_id } = await make('/admin/integrations', integrationBody())
  const hash = REDIS_KEYS.integrations(ORG)
  const text = (await redis.hget(hash, integration_id)) ?? ''
  const fillers = Array.from({ length: 900 }, (_, i) => `int_filler_${i}`)
  const large = JSON.stringify({ ...JSON.parse(text), padding: 'x'.repeat(9_300) })
  await redis.hset(hash, ...fillers.flatMap((id) => [id, large]))
  try {
    const more = await answered('POST', '/admin/integrations', integrationBody())
    assert.equal(more.status, 409)
    assert.equal(more.body.details.reason, 'integrations_too_large')
    const path = `/admin/integrations/${integration_id}`
    const larger = { auth: { type: 'bearer', token: 't'.repeat(500) } }
    assert.equal((await answered('PATCH', path, larger)).status, 409)
    const smaller = { auth: { type: 'bearer', token: 't' } }
    assert.equal((await answered('PATCH', path, smaller)).status, 200)
  } finally {
    await redis.hdel(hash, ...fillers)
  }
  await make('/admin/integrations', integrationBody())
})

test('a base URL has a limited number of segments', async () => {
  const body = (segments: number) => ({
    ...integrationBody(),
    base_url: `https://long.example.com${'/a'.repeat(segments)}`,
  })
  await make('/admin/integrations', body(32))
  const longer = await admin.call('POST', '/admin/integrations', { body: body(33) })
  assert.equal(longer.status, 400)
  assert.deepEqual(longer.body.details.issues, [
    { path: '/base_url', message: 'has more than 32 path segments' },
  ])
})

describe('invariant 5: a change is in force on the live edges before its answer', () => {
  test('the answer waits for the acknowledgement of every edge', async () => {
    const prompt = await startTestEdge(valkey.url, 'edge-prompt')
    const slow = await startTestEdge(valkey.url, 'edge-slow', { keepsBack: true })
    const told = slow.next()
    let answered = false
    const making = make('/admin/agents', { agent_name: 'waited for' }).finally(() => {
      answered = true
    })
    const { epoch } = await told
    await redis.ping()
    assert.equal(answered, false)
    await slow.acknowledge(epoch)
    await making
    await Promise.all([prompt.stop(), slow.stop()])
    assert.equal(admin.log().includes('did not acknowledge'), false)
  })

  test('two hosts whose edges have the same name: both must acknowledge, and an alert names them', async () => {
    const first = await startTestEdge(valkey.url, 'edge-twin', { process_id: 'edge-twin/1' })
    const second = await startTestEdge(valkey.url, 'edge-twin', {
      process_id: 'edge-twin/2',
      keepsBack: true,
    })
    const told = second.next()
    let answered = false
    const making = make('/admin/agents', { agent_name: 'waited for' }).finally(() => {
      answered = true
    })
    const { epoch } = await told
    await redis.ping()
    assert.equal(answered, false)
    await second.acknowledge(epoch)
    await making
    // On a busy machine the lease of the first one may be over by now.
    await until('both are listed', async () => {
      await Promise.all([first.beat(), second.beat()])
      const { body } = await admin.call('GET', '/admin/edges')
      return body.data.filter(({ edge_id }: Json) => edge_id === 'edge-twin').length === 2
    })
    await until('an alert names the edges', async () => {
      await Promise.all([first.beat(), second.beat()])
      const alerts = (await admin.call('GET', '/admin/alerts?status=open')).body.data
      return alerts.some(
        ({ kind, last }: Json) => kind === 'edge_name_clash' && last.edge_id === 'edge-twin',
      )
    })
    await Promise.all([first.stop(), second.stop()])
  })

  test('an edge that stays silent delays the answer until its lease is surely over, and no longer', async () => {
    const silent = await startTestEdge(valkey.url, 'edge-silent', { keepsBack: true })
    const started = performance.now()
    await make('/admin/agents', { agent_name: 'late' })
    assert.ok(performance.now() - started >= LEASE_MS)
    const waits = (): number => admin.log().split('edge-silent').length - 1
    assert.equal(waits(), 1)
    await make('/admin/agents', { agent_name: 'nobody lives' })
    assert.equal(waits(), 1, 'an edge without a lease is not waited for')
    await silent.stop()
  })

  test('edges receive what has changed', async () => {
    const edge = await startTestEdge(valkey.url, 'edge-told')
    const agent = await make('/admin/agents', { agent_name: 'a' })
    const integration = await make('/admin/integrations', integrationBody())
    const { agent_id } = agent
    const { integration_id } = integration
    const scope = await make('/admin/scopes', { name: 's', agent_id, integration_id, rules: [] })
    await admin.call('PUT', `/admin/scopes/${scope.scope_id}`, { body: { priority: 3 } })
    await admin.call('DELETE', `/admin/agents/${agent_id}/keys/${agent.api_key_id}`)
    await admin.call('DELETE', `/admin/integrations/${integration_id}?cascade=true`)
    const what = edge.heard.map(({ targets }) => targets.map((target) => target.what).join('+'))
    assert.deepEqual(what, [
      'agent+key',
      'integrations',
      'agent',
      'agent',
      'key',
      'integrations+agent',
    ])
    const epochs = edge.heard.map(({ epoch }) => epoch)
    assert.deepEqual(
      epochs,
      [...epochs].sort((a, b) => a - b),
    )
    await edge.stop()
  })
})

describe('invariant 6: a change is in the activity log before its answer', () => {
  test('each change has its entry: who, what, before and after, without secrets', async () => {
    const from = (await activity()).length
    const made = await make('/admin/integrations', integrationBody())
    const { integration_id } = made
    const path = `/admin/integrations/${integration_id}`
    const body = { name: 'renamed', auth: { type: 'bearer', token: `${SECRET}-2` } }
    await admin.call('PUT', path, { body })
    await admin.call('DELETE', path)
    const entries = (await activity()).slice(from)
    assert.deepEqual(
      entries.map(({ event, data }) => [event, data.actor, data.action, data.target]),
      ['create', 'update', 'delete'].map((verb) => [
        'admin_action',
        'admin@localhost',
        `integration.${verb}`,
        integration_id,
      ]),
    )
    assert.equal(entries[0].data.before, null)
    assert.deepEqual(entries[0].data.after, made)
    assert.equal(entries[1].data.before.name, made.name)
    assert.deepEqual(Object.keys(entries[1].data.after).sort(), ['auth', 'auth_replaced', 'name'])
    assert.equal(entries[2].data.after, null)
    assert.equal(JSON.stringify(entries).includes(SECRET), false)
    assert.equal(entries[0].source_ip, '127.0.0.1')
    assert.ok(entries.every((entry) => entry.request_id.startsWith('req_')))
  })

  test('a refused change leaves no entry', async () => {
    const from = (await activity()).length
    await admin.call('POST', '/admin/agents', { body: {} })
    await admin.call('DELETE', '/admin/agents/agt_none')
    assert.equal((await activity()).length, from)
  })

  test('a key that is made is in no entry', async () => {
    const { api_key } = await make('/admin/agents', { agent_name: 'k' })
    const { key } = await make('/admin/keys', {})
    const { token } = await make('/admin/tokens', { email: 'k@example.com', role: 'viewer' })
    const log = JSON.stringify(await activity()) + admin.log()
    for (const secret of [api_key, key, token]) assert.equal(log.includes(secret), false)
  })
})

describe('threat 26: idempotency', () => {
  const headers = (key: string) => ({ 'idempotency-key': key })

  test('a repeated POST gets the first answer, key and all, and is carried out once', async () => {
    const body = { agent_name: 'once' }
    const first = await admin.call('POST', '/admin/agents', { body, headers: headers('k-1') })
    const again = await admin.call('POST', '/admin/agents', { body, headers: headers('k-1') })
    assert.equal(again.status, 201)
    assert.deepEqual(again.body, first.body)
    assert.equal(again.headers['idempotent-replayed'], 'true')
    const { data } = (await admin.call('GET', '/admin/agents?q=once')).body
    assert.equal(data.length, 1)
  })

  test('a repeated creation of several gets the first answer, with all keys', async () => {
    const body = { data: [{ agent_name: 'several' }, { agent_name: 'several' }] }
    const send = () => admin.call('POST', '/admin/bulk/agents', { body, headers: headers('k-0') })
    const [first, again] = [await send(), await send()]
    assert.equal(first.status, 201)
    assert.deepEqual(again.body, first.body)
    const { data } = (await admin.call('GET', '/admin/agents?q=several')).body
    assert.equal(data.length, 2)
  })

  test('equal requests at the same time are carried out once, and all get the one answer', async () => {
    const body = { agent_name: 'together' }
    const answers = await Promise.all(
      Array.from({ length: 8 }, () =>
        admin.call('POST', '/admin/agents', { body, headers: headers('k-2') }),
      ),
    )
    assert.equal(new Set(answers.map(({ text }) => text)).size, 1)
    assert.equal(answers[0]?.status, 201)
    const { data } = (await admin.call('GET', '/admin/agents?q=together')).body
    assert.equal(data.length, 1)
  })

  test('the same key on another body or another path is a conflict', async () => {
    await make('/admin/agents', { agent_name: 'x' }, headers('k-3'))
    for (const [path, body] of [
      ['/admin/agents', { agent_name: 'y' }],
      ['/admin/keys', {}],
    ] as const) {
      const answer = await admin.call('POST', path, { body, headers: headers('k-3') })
      assert.equal(answer.status, 409)
      assert.equal(answer.body.details.reason, 'idempotency_key_reused')
    }
  })

  test('a key belongs to one token: another token and no token get nothing of its answer', async () => {
    const body = { agent_name: 'mine' }
    const mine = await make('/admin/agents', body, headers('k-4'))
    const { token } = await make('/admin/tokens', { email: 'o@example.com', role: 'admin' })
    const theirs = await admin.call('POST', '/admin/agents', {
      body,
      token,
      headers: headers('k-4'),
    })
    assert.notEqual(theirs.body.agent_id, mine.agent_id)
    const nobody = await admin.call('POST', '/admin/agents', {
      body,
      token: null,
      headers: headers('k-4'),
    })
    assert.equal(nobody.status, 401)
  })

  test('answers are kept sealed, and ten minutes at most', async () => {
    const { api_key } = await make('/admin/agents', { agent_name: 'z' }, headers('k-5'))
    const kept = await redis.keys('*:idempotency:*')
    assert.ok(kept.length > 0)
    for (const key of kept) {
      const ttl_ms = await redis.pttl(key)
      assert.ok(ttl_ms > 0 && ttl_ms <= 600_000)
      assert.equal(JSON.stringify(await redis.hgetall(key)).includes(api_key.slice(9)), false)
    }
  })

  test('a refusal is not kept: the request may be repeated once it is right', async () => {
    const bad = await admin.call('POST', '/admin/agents', { body: {}, headers: headers('k-6') })
    assert.equal(bad.status, 400)
    await make('/admin/agents', { agent_name: 'right now' }, headers('k-6'))
  })
})

describe('threat 4: seals', () => {
  test('a stored credential opens for its own integration and origin and nowhere else', async () => {
    const ring = parseKeyRing(admin.encryption_key)
    const { integration_id } = await make('/admin/integrations', integrationBody())
    const mine = await stored(integration_id)
    const opened = openAuth(ring, mine)
    assert.ok(opened?.type === 'bearer')
    assert.equal(opened.token.reveal(), SECRET)
    const elsewhere: Partial<Integration>[] = [
      { base_url: 'https://evil.example.com/v1' },
      { base_url: mine.base_url.replace('https', 'http') },
      { base_url: 'no url at all' },
      { integration_id: 'int_other' },
      { organization_id: 'org_other' },
    ]
    for (const change of elsewhere) assert.equal(openAuth(ring, { ...mine, ...change }), null)
    assert.ok(openAuth(ring, { ...mine, base_url: mine.base_url.replace('v1', 'v2') }))
  })

  test('a host that gets the credential needs it in the same request, and no moved one opens it', async () => {
    const ring = parseKeyRing(admin.encryption_key)
    const uploads = {
      host: 'uploads.example.com',
      methods: ['PUT'],
      paths: ['/**'],
      credential: true,
    }
    const files = { ...uploads, host: 'files.example.com' }
    const body = { ...integrationBody(), also_hosts: [uploads, files] }
    const { integration_id } = await make('/admin/integrations', body)
    const mine = await stored(integration_id)
    assert.ok(openAuth(ring, mine))
    const moved: readonly Partial<Integration>[] = [
      { also_hosts: [{ ...uploads, host: 'evil.example.com' }, files] },
      { also_hosts: [{ ...uploads, host: 'uploads.example.com:8443' }, files] },
      { also_hosts: [uploads, files, { ...files, host: 'evil.example.com' }] },
      { also_hosts: [uploads] },
      { base_url: 'https://uploads.example.com', also_hosts: [files] },
    ]
    for (const change of moved) assert.equal(openAuth(ring, { ...mine, ...change }), null)
    assert.ok(openAuth(ring, { ...mine, also_hosts: [files, uploads] }))

    const path = `/admin/integrations/${integration_id}`
    const put = (change: object) => admin.call('PUT', path, { body: change })
    for (const also_hosts of [
      [uploads, files, { ...files, host: 'new.example.com' }],
      [uploads, { ...files, host: 'new.example.com' }],
      [uploads, { ...files, methods: ['POST', 'PUT'] }],
      [uploads, { ...files, paths: ['/other'] }],
    ]) {
      const refused = await put({ also_hosts })
      assert.equal(refused.status, 400)
      assert.equal(refused.body.details.issues[0].path, '/auth')
    }
    assert.equal((await put({ also_hosts: [{ ...files, host: '*.example.com' }] })).status, 400)
    const other = { ...integrationBody(), also_hosts: [uploads] }
    const taken = await admin.call('POST', '/admin/integrations', { body: other })
    assert.equal(taken.status, 409)
    assert.equal(taken.body.details.reason, 'also_host_taken')
    assert.deepEqual(await stored(integration_id), mine)

    // One entry less, and one without the credential: what is sealed is bound to the host that is left.
    const less = { ...uploads, host: 'plain.example.com', credential: false }
    assert.equal((await put({ also_hosts: [files, less] })).status, 200)
    const left = await stored(integration_id)
    assert.ok(openAuth(ring, left))
    assert.equal(openAuth(ring, { ...left, also_hosts: [uploads, files] }), null)
    await make('/admin/integrations', other)
    const again = {
      also_hosts: [files, { ...less, credential: true }],
      auth: integrationBody().auth,
    }
    assert.equal((await put(again)).status, 200)
    assert.ok(openAuth(ring, await stored(integration_id)))
  })

  test('a token URL of another origin does not open the client secret', async () => {
    const ring = parseKeyRing(admin.encryption_key)
    const auth = {
      type: 'oauth2_client_credentials',
      token_url: 'https://login.example.com/token',
      client_id: 'c',
      client_secret: SECRET,
    }
    const { integration_id } = await make('/admin/integrations', integrationBody(auth))
    const mine = await stored(integration_id)
    assert.ok(openAuth(ring, mine))
    const moved = {
      ...mine.auth,
      token_url: 'https://evil.example.com/token',
    } as Integration['auth']
    assert.equal(openAuth(ring, { ...mine, auth: moved }), null)
  })
})

test('the URL of a webhook that an older version stored in the clear works, and is encrypted at startup', async () => {
  const url = 'https://hooks.example.com/services/T0/B0/clear-secret'
  const body = { name: 'old', url, events: ['agent_killed'] }
  const { webhook_id } = await make('/webhooks', body)
  const hash = REDIS_KEYS.webhooks(ORG)
  const record = async (): Promise<Webhook> =>
    JSON.parse((await redis.hget(hash, webhook_id)) ?? '') as Webhook
  assert.ok(isSealed((await record()).url))
  await redis.hset(hash, webhook_id, JSON.stringify({ ...(await record()), url }))
  const path = `/webhooks/${webhook_id}`
  assert.equal((await admin.call('GET', path)).body.url, url)
  // A change that leaves it as it is keeps it too.
  const renamed = await admin.call('PATCH', path, { body: { name: 'renamed' } })
  assert.deepEqual([renamed.status, renamed.body.url], [200, url])
  await redis.hset(hash, webhook_id, JSON.stringify({ ...(await record()), url }))
  const started = await adminInProcess(valkey.url, {
    AGW_ADMIN_TOKEN: admin.token,
    AGW_ENCRYPTION_KEY: admin.encryption_key,
  })
  await started.stop()
  const { url: sealed } = await record()
  assert.ok(isSealed(sealed))
  assert.equal((await admin.call('GET', path)).body.url, url)
  // Bound to its webhook: moved to another one, it does not open, and nothing is sent.
  const other = (await make('/webhooks', { ...body, url: `${url}2` })).webhook_id
  const moved = JSON.parse((await redis.hget(hash, other)) ?? '') as Webhook
  await redis.hset(hash, other, JSON.stringify({ ...moved, url: sealed }))
  assert.equal((await admin.call('GET', `/webhooks/${other}`)).body.url, 'https://***')
  const tested = await admin.call('POST', `/webhooks/${other}/test`, { body: {} })
  assert.equal(tested.body.attempts[0].error, 'secret_unavailable')
  await admin.call('PATCH', path, { body: { url: `${url}3` } })
  assert.equal((await activity()).at(-1)?.data.after.url_changed, true)
  for (const id of [webhook_id, other]) await admin.call('DELETE', `/webhooks/${id}`)
})

describe('a user name that version 0.1 stored in the clear', () => {
  const USERNAME = 'sk_live_0123456789-clear'

  /** As version 0.1 wrote it. */
  async function storeClear(): Promise<Integration> {
    const auth = { type: 'basic', username: USERNAME, password: SECRET }
    const { integration_id } = await make('/admin/integrations', integrationBody(auth))
    const mine = await stored(integration_id)
    const clear = { ...mine, auth: { ...mine.auth, username: USERNAME } } as Integration
    await redis.hset(REDIS_KEYS.integrations(ORG), integration_id, JSON.stringify(clear))
    return clear
  }
  const usernameOf = async ({ integration_id }: Integration): Promise<string> => {
    const { auth } = await stored(integration_id)
    return auth.type === 'basic' ? auth.username : ''
  }
  const opensTo = async ({ integration_id }: Integration): Promise<string | undefined> => {
    const opened = openAuth(parseKeyRing(admin.encryption_key), await stored(integration_id))
    return opened?.type === 'basic' ? opened.username.reveal() : undefined
  }
  const reseal = () => resealAll(redis, parseKeyRing(admin.encryption_key), LEASE_MS)

  test('is read, shown as a secret, and sealed when admin starts', async () => {
    const clear = await storeClear()
    assert.equal(await opensTo(clear), USERNAME)
    const path = `/admin/integrations/${clear.integration_id}`
    const { body } = await admin.call('GET', path)
    assert.deepEqual(body.auth, { type: 'basic', username_last4: 'lear', password_last4: 'WXYZ' })
    const started = await adminInProcess(valkey.url, {
      AGW_ADMIN_TOKEN: admin.token,
      AGW_ENCRYPTION_KEY: admin.encryption_key,
    })
    await started.stop()
    assert.ok(isSealed(await usernameOf(clear)))
    assert.equal(await opensTo(clear), USERNAME)
    assert.ok(
      !(await redis.hgetall(REDIS_KEYS.integrations(ORG)).then(JSON.stringify)).includes(USERNAME),
    )
    assert.deepEqual((await admin.call('GET', path)).body.auth, body.auth)
  })

  test('is sealed once, even if other processes seal or change it at the same time', async () => {
    const [one, other] = [await storeClear(), await storeClear()]
    const path = `/admin/integrations/${other.integration_id}`
    const [first, second, change] = await Promise.all([
      reseal(),
      reseal(),
      admin.call('PUT', path, { body: { auth: { type: 'bearer', token: SECRET } } }),
    ])
    assert.equal(change.status, 200)
    assert.equal((await stored(other.integration_id)).auth.type, 'bearer')
    assert.ok(isSealed(await usernameOf(one)))
    assert.equal(await opensTo(one), USERNAME)
    assert.ok(first.resealed + second.resealed <= 3)
    const sealed = await usernameOf(one)
    assert.deepEqual(await reseal(), { resealed: 0, unreadable: [], waits_for: [] })
    assert.equal(await usernameOf(one), sealed)
  })

  test('is not changed while an edge of version 0.1 is live, and is sealed afterwards', async () => {
    const clear = await storeClear()
    const old = await startTestEdge(valkey.url, 'edge-of-old')
    assert.deepEqual(await reseal(), { resealed: 0, unreadable: [], waits_for: ['edge-of-old'] })
    assert.equal(await usernameOf(clear), USERNAME)
    // Older processes would misread what is converted, and nothing is yet.
    await redis.hdel(REDIS_KEYS.requirements, MINIMUM_VERSION)
    await reseal()
    assert.equal(await readMinimumVersion(redis), null)
    await old.stop()
    const today = await startTestEdge(valkey.url, 'edge-of-today', { store_format: STORE_FORMAT })
    const message = today.next()
    const done = await reseal()
    // Edges that have the record in their cache are informed.
    const { targets } = await message
    await today.stop()
    assert.deepEqual(done, { resealed: 1, unreadable: [], waits_for: [] })
    assert.equal(await readMinimumVersion(redis), STORE_FORMATS.at(-1)?.read_from)
    assert.deepEqual(targets, [{ what: 'integrations', organization_id: ORG }])
    assert.ok(isSealed(await usernameOf(clear)))
    assert.equal(await opensTo(clear), USERNAME)
  })

  test('is not sealed where its password does not open: that record is named', async () => {
    const clear = await storeClear()
    const elsewhere = { ...clear, base_url: 'https://evil.example.com' }
    const integrations = REDIS_KEYS.integrations(ORG)
    await redis.hset(integrations, clear.integration_id, JSON.stringify(elsewhere))
    const { resealed, unreadable } = await reseal()
    assert.deepEqual([resealed, unreadable.map(({ id }) => id)], [0, [clear.integration_id]])
    await redis.hdel(integrations, clear.integration_id)
  })
})

describe('explain', () => {
  test('it names integration, scope and rule, and what a caller would get', async () => {
    const { agent_id } = await make('/admin/agents', { agent_name: 'asked' })
    const integration = await make('/admin/integrations', integrationBody())
    const { integration_id, base_url } = integration
    const rules = [
      { methods: ['POST'], paths: ['/chat'] },
      { methods: ['GET'], paths: ['/models/**'] },
    ]
    const scope = await make('/admin/scopes', { name: 's', agent_id, integration_id, rules })
    const ask = async (method: string, url: string, agent = agent_id) => {
      const answer = await admin.call('POST', '/admin/explain', {
        body: { agent_id: agent, method, url },
      })
      assert.equal(answer.status, 200, answer.text)
      return answer.body
    }
    const allowed = await ask('GET', `${base_url}/models/a`)
    assert.equal(allowed.answer, 'allowed')
    assert.deepEqual(
      [allowed.integration.integration_id, allowed.scope.scope_id, allowed.rule],
      [integration_id, scope.scope_id, 1],
    )
    const refused = await ask('DELETE', `${base_url}/chat`)
    assert.equal(refused.error, 'permission_denied')
    assert.equal(refused.details.reason, 'method_not_allowed')
    assert.equal((await ask('GET', 'https://nowhere.example.com/')).error, 'integration_not_found')
    assert.equal((await ask('GET', 'not a url')).error, 'invalid_target_url')
    assert.equal((await ask('GET', `${base_url}/models/a`, 'agt_none')).error, 'agent_not_found')
    const integrations = REDIS_KEYS.integrations(ORG)
    const text = (await redis.hget(integrations, integration_id)) ?? ''
    const broken = { ...JSON.parse(text), auth: { type: 'bearer', token: 'v1.x.y.z' } }
    await redis.hset(integrations, integration_id, JSON.stringify(broken))
    assert.equal((await ask('GET', `${base_url}/models/a`)).error, 'credential_unavailable')
  })
})

describe('health', () => {
  test('/readyz is 200 only when store, an edge and the proxy answer, and names what is missing', async () => {
    const proxy = createServer((request, response) => {
      const reason = request.url === '/' ? 'invalid_target_url' : 'other'
      response.writeHead(400, { 'x-agw-reason': reason }).end()
    })
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
    const port = (proxy.address() as AddressInfo).port
    const second = await adminInProcess(valkey.url, {
      AGW_PROXY_PORT: String(port),
      AGW_ADMIN_TOKEN: admin.token,
      AGW_ENCRYPTION_KEY: admin.encryption_key,
    })
    const ready = () => second.call('GET', '/readyz', { token: null })
    const without = await ready()
    assert.equal(without.status, 503)
    assert.equal(without.body.parts.proxy, 'ok')
    assert.notEqual(without.body.parts.edges, 'ok')
    const edge = await startTestEdge(valkey.url, 'edge-ready')
    await until('ready', async () => {
      await edge.beat()
      return (await ready()).status === 200
    })
    proxy.closeAllConnections()
    proxy.close()
    const gone = await until('not ready', async () => {
      await edge.beat()
      const answer = await ready()
      return answer.status === 503 ? answer : null
    })
    assert.match(gone.body.parts.proxy, /is unreachable/)
    await Promise.all([edge.stop(), second.stop()])
  })

  test('the document lists every route with its schemas, and the page that shows it loads nothing from elsewhere', async () => {
    const { body } = await admin.call('GET', '/openapi.json', { token: null })
    for (const { method, path, answers, body: schema } of ROUTES) {
      const call = body.paths[path.replaceAll(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()]
      assert.ok(call, `${method} ${path}`)
      for (const status of Object.keys(answers)) assert.ok(call.responses[status])
      assert.equal(Boolean(call.requestBody), schema !== undefined, `${method} ${path}`)
    }
    const page = await admin.call('GET', '/docs', { token: null })
    assert.match(String(page.headers['content-security-policy']), /default-src 'none'/)
    assert.equal(/https?:\/\//.test(page.text), false)
  })
})

describe('the store', () => {
  test('a wiped store gets its first things again, without a restart', async () => {
    const own = await startValkey()
    const service = await adminInProcess(own.url)
    const client = connectRedis(own.url, { name: 'wiper', role: 'queue' })
    const installation = await client.get(REDIS_KEYS.installation)
    const epoch = Number(await client.get(REDIS_KEYS.epoch))
    await client.flushall()
    await until('the token works again', async () => {
      const answer = await service.call('GET', '/admin/agents')
      return answer.status === 200
    })
    assert.equal(await client.get(REDIS_KEYS.installation), installation)
    assert.ok(Number(await client.get(REDIS_KEYS.epoch)) > epoch)
    const made = await service.call('POST', '/admin/agents', { body: { agent_name: 'back' } })
    assert.equal(made.status, 201)
    client.disconnect()
    await service.stop()
    await own.stop()
  })

  test('an unavailable store results in 503 with our error body, and service resumes when it is back', async () => {
    const own = await startValkey()
    const service = await adminInProcess(own.url)
    await own.kill()
    const away = await service.call('GET', '/admin/agents')
    assert.equal(away.status, 503)
    assert.equal(away.body.error, 'gateway_unavailable')
    // The first answer may be from the connection that broke, and later ones from attempts to connect.
    assert.match(String(away.body.details.cause), /^the store closed|does not exist|refused/)
    await until('readyz names the cause', async () => {
      const unready = await service.call('GET', '/readyz')
      return /socket file of REDIS_URL does not exist|refused/.test(unready.body.parts.redis)
    })
    assert.match((await service.call('GET', '/metrics')).text, /^agw_store_up 0$/m)
    assert.equal((await service.call('GET', '/healthz')).status, 200)
    await own.start()
    await until(
      'work continues',
      async () => (await service.call('GET', '/admin/agents')).status === 200,
    )
    await service.stop()
    await own.stop()
  })

  for (const [what, options, pattern] of [
    ['evicts keys', ['--maxmemory', '100mb', '--maxmemory-policy', 'allkeys-lru'], /noeviction/],
    ['writes no append-only file', ['--appendonly', 'no'], /appendonly yes/],
  ] as const)
    test(`the service does not start on a store that ${what}`, async () => {
      const own = await startValkey(options)
      await assert.rejects(adminInProcess(own.url), pattern)
      await own.stop()
    })

  test('a store that hides its settings is warned of', async () => {
    const own = await startValkey(['--rename-command', 'CONFIG', 'HIDDEN'])
    const service = await adminInProcess(own.url)
    assert.match(service.log(), /does not report its maxmemory-policy/)
    await service.stop()
    await own.stop()
  })

  test('the token of the setting is created once: it stays deleted, and a changed one replaces it', async () => {
    const own = await startValkey()
    const [first, second] = [mintKey('admin'), mintKey('admin')]
    const key = randomBytes(32).toString('base64')
    const start = (token: string) =>
      adminInProcess(own.url, { AGW_ADMIN_TOKEN: token, AGW_ENCRYPTION_KEY: key })
    const works = async (service: AdminInProcess, token: string) =>
      (await service.call('GET', '/admin/agents', { token })).status === 200
    let service = await start(first)
    await service.stop()
    service = await start(second)
    assert.deepEqual([await works(service, first), await works(service, second)], [false, true])
    const body = { email: 'mine@example.com', role: 'admin' }
    const { token } = (await service.call('POST', '/admin/tokens', { body })).body
    const { data } = (await service.call('GET', '/admin/tokens', { token })).body
    const setting = data.find((found: Json) => found.name === 'AGW_ADMIN_TOKEN')
    await service.call('DELETE', `/admin/tokens/${setting.token_id}`, { token })
    await service.stop()
    service = await start(second)
    assert.deepEqual([await works(service, second), await works(service, token)], [false, true])
    await service.stop()
    await own.stop()
  })
})
