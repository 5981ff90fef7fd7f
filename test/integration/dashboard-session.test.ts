import assert from 'node:assert/strict'
import { request } from 'node:http'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { SESSIONS_LIMIT, SESSION_IDLE_MS, SESSION_LIMIT_MS } from '../../admin/access/sessions.ts'
import { FAILURES_LIMIT } from '../../admin/context/sign-in-throttle.ts'
import { hashKey } from '../../core/keys/api-key.ts'
import { connectRedis } from '../../core/redis/connect-redis.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { type AdminAnswer, type AdminInProcess, adminInProcess } from '../kit/admin-in-process.ts'
import { type KitValkey, startValkey } from '../kit/start-valkey.ts'
import { tempFolder } from '../kit/temp-folder.ts'

let valkey: KitValkey
let redis: RedisClient
let admin: AdminInProcess

before(async () => {
  valkey = await startValkey()
  redis = connectRedis(valkey.url, { name: 'test', role: 'queue' })
  admin = await adminInProcess(valkey.url, {
    AGW_ADMIN_SOCKET: join(tempFolder('admin'), 'admin.sock'),
    AGW_API_ALLOWED_HOSTS: 'gateway.example',
  })
})

after(async () => {
  redis.disconnect()
  await admin.stop()
  await valkey.stop()
})

const OURS = { 'sec-fetch-site': 'same-origin', 'x-agw-client': 'dashboard' }
const ORG = 'org_default'

const signIn = (token: string | null = admin.token, headers = {}): Promise<AdminAnswer> =>
  admin.call('POST', '/session', { token, headers: { ...OURS, ...headers } })

const cookieOf = (answer: AdminAnswer): string =>
  String(answer.headers['set-cookie']).split(';')[0] ?? ''
const secretOf = ({ cookie }: Session): string => cookie.split('=')[1] ?? ''
const keyOf = (session: Session): string => REDIS_KEYS.session(hashKey(secretOf(session)))

/** Both halves of a session, as the headers that they are sent in. */
type Session = { readonly cookie: string; readonly 'x-agw-page-secret': string }

const sessionOf = (answer: AdminAnswer): Session => ({
  cookie: cookieOf(answer),
  'x-agw-page-secret': answer.body.page_secret,
})

async function newSession(token = admin.token, headers = {}): Promise<Session> {
  const answer = await signIn(token, headers)
  assert.equal(answer.status, 201, answer.text)
  return sessionOf(answer)
}

const get = (session: object, path = '/admin/agents', headers = {}): Promise<AdminAnswer> =>
  admin.call('GET', path, { token: null, headers: { ...session, ...OURS, ...headers } })

async function newToken(role: string): Promise<{ token: string; token_id: string }> {
  const body = { email: `${role}@example.com`, role }
  const answer = await admin.call('POST', '/admin/tokens', { body })
  assert.equal(answer.status, 201, answer.text)
  return answer.body
}

describe('sign-in', () => {
  test('makes a session that opens both APIs with the role of its token', async () => {
    const answer = await signIn()
    assert.equal(answer.status, 201)
    assert.equal(answer.body.email, 'admin@localhost')
    assert.equal(answer.body.role, 'admin')
    const [cookie = '', ...attributes] = String(answer.headers['set-cookie']).split('; ')
    assert.match(cookie, /^agw_session=[\w-]{43}$/)
    assert.deepEqual(attributes, ['Path=/', 'HttpOnly', 'SameSite=Strict'])
    for (const path of ['/admin/agents', '/webhooks'])
      assert.equal((await get(sessionOf(answer), path)).status, 200)
    const viewer = await newSession((await newToken('viewer')).token)
    const headers = { ...viewer, ...OURS }
    for (const path of ['/admin/agents', '/admin/agents/agt_1/kill', '/webhooks/whk_1/test']) {
      const refused = await admin.call('POST', path, { token: null, headers, body: {} })
      assert.equal(refused.status, 403)
      assert.match(refused.body.message, /role viewer/)
    }
  })

  test('over https the cookie belongs to this host alone and goes over https alone', async () => {
    const answer = await signIn(admin.token, { origin: 'https://gateway.example' })
    const text = String(answer.headers['set-cookie'])
    assert.match(text, /^__Host-agw_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Secure$/)
    assert.equal((await get(sessionOf(answer))).status, 200)
  })

  test('keeps the hash of the secret alone, is in the log, and has no place for a token in a URL', async () => {
    const session = await newSession()
    const secrets = [secretOf(session), session['x-agw-page-secret']]
    for (const key of await redis.keys('*')) {
      const isHash = (await redis.type(key)) === 'hash'
      const kept = key + (isHash ? JSON.stringify(await redis.hgetall(key)) : '')
      for (const secret of secrets) assert.equal(kept.includes(secret), false, key)
    }
    const found = await admin.call('GET', '/admin/activity?q=sign_in.dashboard&limit=1')
    assert.equal(found.body.data[0].data.actor, 'admin@localhost')
    for (const secret of secrets) assert.equal(admin.log().includes(secret), false)
    assert.equal((await signIn(null)).status, 401)
    const inUrl = await admin.call('POST', `/session?token=${admin.token}`, {
      token: null,
      headers: OURS,
    })
    assert.equal(inUrl.status, 401)
  })

  test('that fails is recorded and throttled as everywhere', async () => {
    const own = await adminInProcess(valkey.url, {
      AGW_ADMIN_TOKEN: admin.token,
      AGW_ENCRYPTION_KEY: admin.encryption_key,
    })
    try {
      for (let i = 0; i < FAILURES_LIMIT; i++)
        assert.equal(
          (await own.call('POST', '/session', { token: 'guessed', headers: OURS })).status,
          401,
        )
      const late = await own.call('POST', '/session', { token: 'guessed', headers: OURS })
      assert.equal(late.status, 429)
      assert.ok(Number(late.headers['retry-after']) > 0)
      assert.equal(late.headers['set-cookie'], undefined)
      const found = await own.call('GET', '/admin/activity?q=sign_in.failed&limit=1')
      assert.equal(found.body.data[0].data.after.throttled, true)
    } finally {
      await own.stop()
    }
  })

  test('of one token more often than the bound ends its oldest sessions', async () => {
    const { token, token_id } = await newToken('viewer')
    const sessions: Session[] = []
    for (let i = 0; i <= SESSIONS_LIMIT; i++) sessions.push(await newSession(token))
    const statuses = await Promise.all(sessions.map(async (session) => (await get(session)).status))
    assert.deepEqual(statuses, [401, ...Array.from({ length: SESSIONS_LIMIT }, () => 200)])
    assert.equal(await redis.zcard(REDIS_KEYS.sessionIndex(ORG, token_id)), SESSIONS_LIMIT)
  })
})

describe('a session is over at once', () => {
  const isOver = async (session: Session): Promise<void> => {
    const answer = await get(session)
    assert.equal(answer.status, 401)
    assert.match(answer.body.message, /session has ended/)
    const who = await get(session, '/session')
    assert.equal(who.status, 204)
  }

  test('by sign-out', async () => {
    const session = await newSession()
    const answer = await admin.call('DELETE', '/session', {
      token: null,
      headers: { ...session, ...OURS },
    })
    assert.equal(answer.status, 204)
    assert.match(String(answer.headers['set-cookie']), /agw_session=; .*Max-Age=0/)
    await isOver(session)
    assert.equal(await redis.exists(keyOf(session)), 0)
  })

  test('by the deletion of its token', async () => {
    const { token, token_id } = await newToken('admin')
    const session = await newSession(token)
    assert.equal((await get(session)).status, 200)
    assert.equal((await admin.call('DELETE', `/admin/tokens/${token_id}`)).status, 204)
    await isOver(session)
  })

  test('by the expiry of its token', async () => {
    const { token, token_id } = await newToken('admin')
    const session = await newSession(token)
    const tokens = REDIS_KEYS.adminTokens(ORG)
    const record = JSON.parse((await redis.hget(tokens, token_id)) ?? '{}')
    const expires_at = new Date(Date.now() - 1).toISOString()
    await redis.hset(tokens, token_id, JSON.stringify({ ...record, expires_at }))
    await isOver(session)
  })

  test('after its longest life, however much it is used', async () => {
    const session = await newSession()
    const key = keyOf(session)
    const ends_ms = Number(await redis.hget(key, 'ends_ms'))
    assert.ok(ends_ms <= Date.now() + SESSION_LIMIT_MS)
    await redis.hset(key, 'ends_ms', Date.now() + 60_000)
    assert.equal((await get(session)).status, 200)
    assert.ok((await redis.pttl(key)) <= 60_000)
    await redis.hset(key, 'ends_ms', Date.now() - 1)
    await isOver(session)
  })

  test('when it is idle: background requests of a page do not count as activity', async () => {
    const session = await newSession()
    const key = keyOf(session)
    assert.ok((await redis.pttl(key)) <= SESSION_IDLE_MS)
    await redis.pexpire(key, 60_000)
    assert.equal((await get(session, '/admin/stats', { 'x-agw-background': '1' })).status, 200)
    assert.ok((await redis.pttl(key)) <= 60_000)
    await get(session)
    assert.ok((await redis.pttl(key)) > 60_000)
  })

  test('with the streams that it or its token has opened', { timeout: 20_000 }, async () => {
    const { token, token_id } = await newToken('viewer')
    const session = await newSession(token)
    const ends = [
      follow({ ...session, ...OURS }),
      follow({ authorization: `Bearer ${token}` }),
      follow({ ...(await newSession()), ...OURS }),
    ]
    const streams = await Promise.all(ends)
    await admin.call('DELETE', `/admin/tokens/${token_id}`)
    await Promise.all(streams.slice(0, 2).map(({ ended }) => ended))
    assert.equal(streams[2]?.isOpen(), true)
    streams[2]?.abort()
  })

  const follow = (
    headers: Record<string, string>,
  ): Promise<{ ended: Promise<unknown>; isOpen: () => boolean; abort: () => void }> =>
    new Promise((resolve, reject) => {
      const path = '/admin/activity/stream'
      const sent = request({ host: '127.0.0.1', port: admin.port, path, headers, agent: false })
      sent.once('error', reject)
      sent.once('response', (answer) => {
        assert.equal(answer.statusCode, 200)
        let isOpen = true
        const ended = new Promise((done) => answer.once('close', () => done((isOpen = false))))
        answer.on('error', () => undefined).resume()
        resolve({ ended, isOpen: () => isOpen, abort: () => sent.destroy() })
      })
      sent.end()
    })
})

describe('a session opens nothing', () => {
  test('threat 6: behind the proxy, where there is not even a sign-in', async () => {
    const session = await newSession()
    const headers = { ...session, ...OURS }
    for (const path of ['/admin/agents', '/admin/stats', '/webhooks', '/session', '/']) {
      const answer = await admin.call('GET', path, { token: null, headers, socket: true })
      assert.equal(answer.status, path.startsWith('/admin/') ? 401 : 404)
    }
    const made = await admin.call('POST', '/session', { headers: OURS, socket: true })
    assert.equal(made.status, 404)
  })

  const HOST = 'gateway.example:8081'
  const CHANGES: [string, Record<string, string>, number][] = [
    ['the page itself', { ...OURS }, 201],
    [
      'the page itself, at an address without Sec-Fetch-Site',
      { 'x-agw-client': 'dashboard', host: HOST, origin: `http://${HOST}` },
      201,
    ],
    ['a form of another port of this host', { 'sec-fetch-site': 'same-site' }, 403],
    ['a page of another port with our header', { ...OURS, 'sec-fetch-site': 'same-site' }, 403],
    ['another site', { ...OURS, 'sec-fetch-site': 'cross-site' }, 403],
    ['an address typed in', { ...OURS, 'sec-fetch-site': 'none' }, 403],
    ['a form of our own origin, without our header', { 'sec-fetch-site': 'same-origin' }, 403],
    [
      'another port, without Sec-Fetch-Site',
      { 'x-agw-client': 'dashboard', host: HOST, origin: 'http://gateway.example:3000' },
      403,
    ],
    ['an opaque origin', { 'x-agw-client': 'dashboard', host: HOST, origin: 'null' }, 403],
    ['no origin at all', { 'x-agw-client': 'dashboard' }, 403],
    [
      'the header of another client',
      { 'sec-fetch-site': 'same-origin', 'x-agw-client': 'cli' },
      403,
    ],
  ]
  for (const [who, headers, status] of CHANGES)
    test(`${status === 201 ? 'but' : 'threat 6:'} to ${who}: a change is answered ${status}`, async () => {
      const session = await newSession()
      const agent_id = `csrf-${Math.random().toString(36).slice(2)}`
      const body = { agent_name: 'made by a page', agent_id }
      const sent = { ...headers, ...session }
      const answer = await admin.call('POST', '/admin/agents', { token: null, headers: sent, body })
      assert.equal(answer.status, status, answer.text)
      const made = await admin.call('GET', `/admin/agents/${agent_id}`)
      assert.equal(made.status, status === 201 ? 200 : 404)
      const out = await admin.call('DELETE', '/session', { token: null, headers: sent })
      assert.equal(out.status, status === 201 ? 204 : 403)
      assert.equal((await get(session)).status, status === 201 ? 401 : 200)
      const again = await admin.call('POST', '/session', { headers })
      assert.equal(again.status, status)
    })

  test('a read by another site is refused too, and one by an address typed in', async () => {
    const session = await newSession()
    for (const [site, status] of [
      ['same-site', 403],
      ['cross-site', 403],
      ['none', 403],
      ['same-origin', 200],
    ] as const)
      assert.equal((await get(session, '/admin/agents', { 'sec-fetch-site': site })).status, status)
  })

  test('with a token as well: only the token identifies the operator', async () => {
    const session = await newSession()
    const headers = { ...session, ...OURS }
    const answer = await admin.call('GET', '/admin/agents', { token: 'wrong', headers })
    assert.equal(answer.status, 401)
  })

  test('with an invalid secret', async () => {
    for (const value of ['', 'x', 'a'.repeat(43), `${'a'.repeat(43)}; agw_session=b`])
      assert.equal((await get({ cookie: `agw_session=${value}` })).status, 401)
  })
})

describe('threat 6: half a session opens nothing', () => {
  test('where another port of the host has got the cookie, whatever it says of itself', async () => {
    const session = await newSession()
    const { cookie } = session
    const other = await newSession((await newToken('viewer')).token)
    for (const half of [
      { cookie },
      { cookie, 'x-agw-page-secret': '' },
      { cookie, 'x-agw-page-secret': other['x-agw-page-secret'] },
      { cookie, 'x-agw-page-secret': secretOf(session) },
      { ...session, cookie: '' },
    ]) {
      for (const path of ['/admin/agents', '/webhooks', '/admin/activity/stream'])
        assert.equal((await get(half, path)).status, 401)
      assert.equal((await get(half, '/session')).status, 204)
      const headers = { ...half, ...OURS }
      assert.equal((await admin.call('DELETE', '/session', { token: null, headers })).status, 204)
    }
    assert.equal((await get(session)).status, 200, 'and ends nothing either')
  })

  test('where another port has planted a cookie: no operator can be moved into another session', async () => {
    const mine = await newSession()
    const planted = await newSession((await newToken('admin')).token)
    const answer = await get({ ...mine, cookie: planted.cookie })
    assert.equal(answer.status, 401)
    const both = await get({ ...mine, cookie: `${mine.cookie}; ${planted.cookie}` })
    assert.equal(both.status, 401)
  })

  test('where the address bar, a link or an element of a page asks, which have the cookie alone', async () => {
    const { cookie } = await newSession()
    for (const site of ['none', 'same-origin', 'same-site'])
      for (const path of ['/admin/activity/export?format=csv', '/admin/agents']) {
        const headers = { cookie, 'sec-fetch-site': site }
        const answer = await admin.call('GET', path, { token: null, headers })
        assert.equal(answer.status, 403)
      }
    const bare = await admin.call('GET', '/admin/agents', { token: null, headers: { cookie } })
    assert.equal(bare.status, 403)
  })
})

test('a sign-in ends the session that the browser had before, and no other', async () => {
  const [before, elsewhere] = [await newSession(), await newSession()]
  const after = await newSession((await newToken('viewer')).token, before)
  assert.deepEqual(
    await Promise.all([before, elsewhere, after].map(async (one) => (await get(one)).status)),
    [401, 200, 200],
  )
  const half = { cookie: elsewhere.cookie }
  await newSession(admin.token, half)
  assert.equal((await get(elsewhere)).status, 200)
})

test('threat 21: one signs in, kills, reactivates and signs out while the store is full', async () => {
  const agent = await admin.call('POST', '/admin/agents', { body: { agent_name: 'flooding' } })
  // Less than any store uses: memory that is freed meanwhile does not make room.
  await redis.config('SET', 'maxmemory', '1')
  try {
    await assert.rejects(redis.set('more', 'x'), /OOM/)
    const session = await newSession()
    const headers = { ...session, ...OURS }
    for (const [deed, status] of [
      ['kill', 'killed'],
      ['reactivate', 'active'],
    ] as const) {
      const path = `/admin/agents/${agent.body.agent_id}`
      const body = { reason: 'a flood' }
      const done = await admin.call('POST', `${path}/${deed}`, { token: null, headers, body })
      assert.equal(done.status, 200, done.text)
      assert.equal((await get(session, path)).body.status, status)
    }
    assert.equal((await admin.call('DELETE', '/session', { token: null, headers })).status, 204)
    assert.equal((await get(session)).status, 401)
  } finally {
    await redis.config('SET', 'maxmemory', '0')
  }
})

test('a session is one on every process of the service, and over on all of them at once', async () => {
  const other = await adminInProcess(valkey.url, {
    AGW_ADMIN_TOKEN: admin.token,
    AGW_ENCRYPTION_KEY: admin.encryption_key,
  })
  try {
    const session = await newSession()
    const headers = { ...session, ...OURS }
    const there = await other.call('GET', '/admin/agents', { token: null, headers })
    assert.equal(there.status, 200)
    const out = await other.call('DELETE', '/session', { token: null, headers })
    assert.equal(out.status, 204)
    assert.equal((await get(session)).status, 401)
  } finally {
    await other.stop()
  }
})

describe('the files of the dashboard', () => {
  const fileAt = (path: string, headers = {}): Promise<AdminAnswer> =>
    admin.call('GET', path, { token: null, headers })
  const namedByPage = async (): Promise<readonly string[]> => {
    const { text } = await fileAt('/')
    return [...text.matchAll(/(?:href|src)="(\/[^"]+)"/g)].map(([, path = '']) => path)
  }

  test('run nothing but themselves, are in no frame, and are sent again only when they have changed', async () => {
    const page = await fileAt('/')
    assert.equal(page.status, 200)
    const policy = String(page.headers['content-security-policy'])
    assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self'; /)
    assert.match(policy, /frame-ancestors 'none'/)
    assert.match(policy, /require-trusted-types-for 'script'; trusted-types 'none'$/)
    assert.equal(page.headers['x-content-type-options'], 'nosniff')
    assert.equal(page.headers['referrer-policy'], 'no-referrer')
    const paths = await namedByPage()
    // Icon, style, and the scripts of the first view.
    assert.ok(paths.length > 3)
    for (const path of ['/', ...paths]) {
      const file = await fileAt(path)
      assert.equal(file.status, 200, path)
      assert.equal(file.headers['content-security-policy'], policy, path)
      assert.equal(file.headers['vary'], 'accept-encoding', path)
      const headers = { 'if-none-match': String(file.headers['etag']) }
      assert.equal((await fileAt(path, headers)).status, 304, path)
    }
    for (const path of ['/admin/agents', '/nowhere', '/%ff', '/dashboard/..%2f..%2fpackage.json']) {
      const { headers, status, text } = await admin.call('GET', path)
      assert.equal(status === 200, path === '/admin/agents', text)
      assert.equal(headers['cache-control'], 'no-store', path)
      assert.equal(headers['x-content-type-options'], 'nosniff', path)
      assert.match(String(headers['content-type']), /^application\/json/)
    }
  })

  test('are kept for a year under names with the hash of their content; the page and the icon are revalidated', async () => {
    const [icon = '', style = '', ...scripts] = await namedByPage()
    assert.equal(icon, '/dashboard/icon.svg')
    assert.match(style, /^\/dashboard\/style-[0-9A-Z]{8}\.css$/)
    for (const each of scripts) assert.match(each, /^\/dashboard\/[\w-]+-[0-9A-Z]{8}\.js$/)
    const script = scripts.find((each) => each.includes('/main-')) ?? assert.fail()
    for (const [path, type, cache] of [
      ['/', 'text/html', 'no-cache'],
      [icon, 'image/svg+xml', 'no-cache'],
      [style, 'text/css', 'public, max-age=31536000, immutable'],
      [script, 'text/javascript', 'public, max-age=31536000, immutable'],
    ] as const) {
      const { headers } = await fileAt(path)
      assert.equal(headers['content-type'], `${type}; charset=utf-8`)
      assert.equal(headers['cache-control'], cache, path)
    }
  })

  test('of another build, and source maps, are not found, and that is not kept', async () => {
    const [, style = '', script = ''] = await namedByPage()
    const ofOther = (path: string): string => path.replace(/-.{8}\./, '-AAAAAAAA.')
    const unnamed = ['/dashboard/main.js', '/dashboard/style.css', '/dashboard/index.html']
    const packed = [`${script}.br`, `${script}.gz`, `${script}.map`, `${style}.map`]
    for (const path of [ofOther(style), ofOther(script), ...unnamed, ...packed]) {
      const { status, headers } = await fileAt(path)
      assert.equal(status, 404, path)
      assert.equal(headers['cache-control'], 'no-store', path)
    }
    const { text } = await fileAt(script)
    assert.doesNotMatch(text, /sourceMappingURL/)
  })

  test('are sent in the best encoding that is accepted, each with an etag of its own', async () => {
    for (const path of ['/', ...(await namedByPage())]) {
      const plain = await fileAt(path, { 'accept-encoding': 'identity' })
      assert.equal(plain.headers['content-encoding'], undefined)
      const etags = new Set([plain.headers['etag']])
      for (const [accepted, encoding] of [
        ['gzip, deflate, br', 'br'],
        ['deflate, gzip', 'gzip'],
      ] as const) {
        const { headers, text } = await fileAt(path, { 'accept-encoding': accepted })
        assert.equal(headers['content-encoding'], encoding, path)
        assert.equal(text, plain.text, path)
        etags.add(headers['etag'])
      }
      assert.equal(etags.size, 3, path)
      for (const accepted of ['', 'br;q=0', 'brotli', 'deflate'])
        assert.equal(
          (await fileAt(path, { 'accept-encoding': accepted })).headers['content-encoding'],
          undefined,
          accepted,
        )
    }
  })
})
