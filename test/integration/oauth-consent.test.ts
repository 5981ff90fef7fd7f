import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, beforeEach, test } from 'node:test'
import { consentScope } from '../../core/catalogue/templates/fill-template.ts'
import { slack } from '../../core/catalogue/templates/slack.ts'
import { hashKey } from '../../core/keys/api-key.ts'
import type { Page } from 'playwright-core'
import { call } from '../kit/call.ts'
import { findLeaks } from '../kit/find-leaks.ts'
import { type KitBrowser, openBrowser } from '../kit/open-browser.ts'
import { type Operator, operatorAt } from '../kit/operator.ts'
import { sharedStack } from '../kit/shared-stack.ts'
import { signIn } from '../kit/sign-in.ts'
import { startOidcProvider } from '../kit/start-oidc-provider.ts'
import { until } from '../kit/until.ts'

const stack = await sharedStack()
const admin = stack.operator
assert.ok(slack.oauth !== undefined)
const provider = await startOidcProvider({
  redirect_uri: `${stack.apiUrl}/oauth/callback`,
  scopes: [consentScope(slack.oauth, ['read', 'write'])],
})
after(() => provider.stop())
const RESOURCE = 'https://api.test/'

let count = 0
const operatorOf = async (role: string): Promise<Operator> => {
  const email = `consent-${++count}@example.com`
  const { token } = await admin.send('POST', '/admin/tokens', { email, role })
  return operatorAt(stack.apiUrl, token)
}
const asked = await operatorOf('operator')
const other = await operatorOf('admin')

/** What the provider says of itself, as an administrator confirms it. */
const proposal = await admin.send('POST', '/admin/oauth/discover', { url: provider.issuer })
const authOf = (more: object = {}): Record<string, unknown> => {
  const { pushed_authorization_url: _, ...auth } = proposal.auth
  return {
    ...auth,
    authorization_url: `${auth.authorization_url}?prompt=consent`,
    ...provider.client,
    scope: 'openid offline_access read',
    resource: RESOURCE,
    ...more,
  }
}

interface Made {
  readonly connection_id: string
  readonly path: string
  readonly status: string
  readonly authorize_url: string
}

async function makeConnection(more: object = {}, subject = 'shared'): Promise<Made> {
  const { integration_id } = await admin.makeIntegration(stack.ownBaseUrl(), {
    auth: { type: 'none' },
  })
  const path = `/admin/integrations/${integration_id}/connections`
  const made = await admin.send('POST', path, { name: 'mine', subject, auth: authOf(more) })
  return { ...made, path: `${path}/${made.connection_id}` }
}

const authorize = async ({ path }: Made, by: Operator = asked): Promise<string> =>
  (await by.send('POST', `${path}/authorize`, {})).authorize_url

const callbackOf = (back: URL): Record<string, string> => Object.fromEntries(back.searchParams)

const finish = (body: object, by: Operator = asked, expect?: number): Promise<any> =>
  by.send('POST', '/admin/oauth/callback', body, expect)

const statusOf = async ({ path }: Made): Promise<string> => (await admin.send('GET', path)).status

const tokenRequests: string[] = []
beforeEach(() => {
  provider.answer = 'consents'
  tokenRequests.length = 0
  provider.onRequest = (path, when) => {
    if (path === '/token' && when === 'before') tokenRequests.push(path)
    return true
  }
})

test('the metadata of a provider is a proposal: endpoints to confirm, and nothing is stored', () => {
  const { issuer, auth } = proposal
  assert.equal(issuer, provider.issuer)
  assert.deepEqual(auth, {
    type: 'oauth2_authorization_code',
    issuer: provider.issuer,
    authorization_url: `${provider.issuer}/auth`,
    token_url: `${provider.issuer}/token`,
    revocation_url: `${provider.issuer}/token/revocation`,
    introspection_url: `${provider.issuer}/token/introspection`,
    pushed_authorization_url: `${provider.issuer}/request`,
    iss_parameter: 'required',
  })
})

test('calls get the access token, and none once the connection is revoked', async () => {
  const access = await admin.makeAccess(stack.ownBaseUrl(), { auth: { type: 'none' } })
  const path = `/admin/integrations/${access.integration.integration_id}/connections`
  const subject = `agent:${access.agent.agent_id}`
  const { connection_id } = await admin.send('POST', path, { name: 'own', subject, auth: authOf() })
  const made = { path: `${path}/${connection_id}` } as Made
  const to = { to: stack.proxyUrl, path: `/${access.base_url}/x`, headers: access.headers }
  const sent = stack.api.mark()
  assert.equal((await call(to)).status, 403)
  const url = new URL(await authorize(made))
  assert.equal(url.searchParams.get('resource'), RESOURCE)
  assert.equal(url.searchParams.get('client_secret'), null)
  assert.equal((await finish(callbackOf(await provider.consent(url.href)))).status, 'active')
  assert.equal((await call(to)).status, 200)
  const [scheme, token = ''] = (sent().at(-1)?.header('authorization') ?? '').split(' ')
  assert.equal(scheme, 'Bearer')
  assert.equal(await provider.isActive(token), true)
  const seen = await admin.send('GET', made.path)
  assert.ok(seen.refreshed_at !== null && seen.last_error === null)
  assert.equal((await asked.send('POST', `${made.path}/revoke`, {})).result, 'revoked')
  await admin.send('PUT', made.path, { status: 'active' }, 400)
  assert.equal(await provider.isActive(token), false)
  assert.equal((await call(to)).status, 403)
  assert.equal(sent().length, 1)
  // What changes nothing is no event.
  const about = `/admin/activity?event=connection_changed&integration_id=${access.integration.integration_id}`
  const { data: before } = await admin.send('GET', about)
  assert.deepEqual(
    before.map((one: { data: { status: string } }) => one.data.status),
    ['revoked', 'active', 'needs_consent'],
  )
  await asked.send('POST', `${made.path}/revoke`, {})
  await admin.send('PATCH', made.path, { status: 'revoked' })
  await admin.send('PATCH', made.path, { name: 'own' })
  assert.deepEqual((await admin.send('GET', about)).data, before)
})

test('a kill revokes the tokens of the agent at the provider, and no others', async () => {
  const labels = { api: 'consented' }
  const integration = await admin.makeIntegration(stack.ownBaseUrl(), {
    auth: { type: 'none' },
    labels,
  })
  const { integration_id, base_url } = integration
  const path = `/admin/integrations/${integration_id}/connections`
  const sent = stack.api.mark()
  const consented = async (subject: string, headers: object, more: object = {}) => {
    const { connection_id } = await admin.send('POST', path, {
      name: subject,
      subject,
      auth: authOf(more),
    })
    const made = { path: `${path}/${connection_id}` } as Made
    await finish(callbackOf(await provider.consent(await authorize(made))))
    const to = { to: stack.proxyUrl, path: `/${base_url}/x` }
    const send = () => call({ ...to, headers: headers as Record<string, string> })
    assert.equal((await send()).status, 200)
    const [, token = ''] = (sent().at(-1)?.header('authorization') ?? '').split(' ')
    return { made, connection_id, send, token }
  }
  const [killed, other] = [await admin.makeAgent(), await admin.makeAgent()]
  const by = ({ api_key }: { readonly api_key: string }, user?: string) => ({
    authorization: `Bearer ${api_key}`,
    ...(user === undefined ? {} : { 'x-agw-user': user }),
  })
  const users = ['alone@example.com', 'both@example.com', 'selected@example.com']
  await admin.makeScope(killed.agent_id, integration_id, { users })
  await admin.makeScope(other.agent_id, integration_id, { users: [users[1]] })
  await admin.send('POST', '/admin/scopes', {
    name: 'of integrations with the label',
    agent_id: (await admin.makeAgent()).agent_id,
    integration_selector: { match_labels: labels },
    rules: [{ methods: ['*'], paths: ['/**'] }],
    injection_detection: { enabled: false },
    users: [users[2]],
  })
  const theirs = await consented(`agent:${other.agent_id}`, by(other))
  const ofUsers = []
  for (const user of users) ofUsers.push(await consented(`user:${user}`, by(killed, user)))
  // Its client secret is kept elsewhere.
  const client_secret = { ref: 'env:AGW_SECRET_OIDC_CLIENT' }
  const own = await consented(`agent:${killed.agent_id}`, by(killed), { client_secret })
  const [alone, both, selected] = ofUsers
  assert.ok(alone && both && selected)
  const all = [own, alone, both, selected, theirs]
  const active = () => Promise.all(all.map(({ token }) => provider.isActive(token)))
  assert.deepEqual(await active(), [true, true, true, true, true])
  const { kill_id } = await admin.send('POST', `/admin/agents/${killed.agent_id}/kill`)
  await until('what the agent had alone is dead', async () => {
    const [first, second] = await active()
    return !first && !second
  })
  assert.deepEqual(await active(), [false, false, true, true, true])
  assert.equal((await theirs.send()).status, 200)
  const rows = await until('the receipt says so', async () => {
    const { credentials } = await admin.send('GET', `/admin/kills/${kill_id}`)
    return credentials?.length === 2 && credentials
  })
  for (const row of rows) {
    const { connection_id: _, ...rest } = row
    const type = 'oauth2_authorization_code'
    assert.deepEqual(rest, { integration_id, type, result: 'revoked', tokens: 2, expires_at: null })
  }
  const named = new Set(rows.map((row: { connection_id: string }) => row.connection_id))
  assert.deepEqual(named, new Set([own.connection_id, alone.connection_id]))
  assert.deepEqual(await Promise.all(all.map(({ made }) => statusOf(made))), [
    'revoked',
    'revoked',
    'active',
    'active',
    'active',
  ])
})

test('a request is pushed to the provider (RFC 9126) by a client whose secret is kept elsewhere', async () => {
  const { integration_id } = await admin.makeIntegration(stack.ownBaseUrl(), {
    auth: { type: 'none' },
  })
  const path = `/admin/integrations/${integration_id}/connections`
  const asks: string[] = []
  provider.onRequest = (asked_path) => asks.push(asked_path) > 0
  const pushed_authorization_url = `${provider.issuer}/request`
  const by = (name: string) => ({ pushed_authorization_url, client_secret: { ref: `env:${name}` } })
  const post = (name: string, status: number) =>
    admin.send('POST', path, { name: 'x', auth: authOf(by(name)) }, status)
  const foreign = await post('AGW_ENCRYPTION_KEY', 400)
  assert.equal(foreign.details.issues[0].path, '/auth/client_secret')
  const absent = await post('AGW_SECRET_ABSENT', 409)
  assert.equal(absent.details.reason, 'reference_unavailable')
  assert.deepEqual(asks, [])
  const made = await makeConnection(by('AGW_SECRET_OIDC_CLIENT'))
  const { auth } = await admin.send('GET', made.path)
  assert.deepEqual(auth.client_secret, { ref: 'env:AGW_SECRET_OIDC_CLIENT' })
  const url = await authorize(made)
  assert.deepEqual([...new URL(url).searchParams.keys()].sort(), ['client_id', 'request_uri'])
  await finish(callbackOf(await provider.consent(url)))
  assert.equal(await statusOf(made), 'active')
})

test('attack, forged state, callback replay, consent by another user: a state is needed, is good once, for who asked', async () => {
  const made = await makeConnection()
  const answer = callbackOf(await provider.consent(await authorize(made)))
  const { state: _, ...stateless } = answer
  await finish(stateless, asked, 400)
  for (const state of ['x', `${answer['state']}x`, hashKey(answer['state'] ?? '')]) {
    const refused = await finish({ ...answer, state }, asked, 409)
    assert.equal(refused.details.reason, 'unknown_state')
  }
  const foreign = await finish(answer, other, 409)
  assert.equal(foreign.details.reason, 'unknown_state')
  // It is spent now, for every holder.
  await finish(answer, asked, 409)
  assert.deepEqual(tokenRequests, [])
  assert.equal(await statusOf(made), 'needs_consent')
  const again = callbackOf(await provider.consent(await authorize(made)))
  await finish(again)
  const replayed = await finish(again, asked, 409)
  assert.equal(replayed.details.reason, 'unknown_state')
  assert.equal(tokenRequests.length, 1)
  assert.equal(await statusOf(made), 'active')
})

/** A browser in which an operator has signed in, without its pages. */
async function signedIn(token: string): Promise<Operator['send']> {
  const ours = { 'sec-fetch-site': 'same-origin', 'x-agw-client': 'dashboard' }
  const opened = await fetch(`${stack.apiUrl}/session`, {
    method: 'POST',
    headers: { ...ours, authorization: `Bearer ${token}` },
  })
  assert.equal(opened.status, 201)
  const { page_secret } = (await opened.json()) as { readonly page_secret: string }
  const [cookie = ''] = (opened.headers.get('set-cookie') ?? '').split(';')
  return async (method, path, body, expect = 200) => {
    const answer = await fetch(`${stack.apiUrl}${path}`, {
      method,
      headers: {
        ...ours,
        cookie,
        'x-agw-page-secret': page_secret,
        'content-type': 'application/json',
      },
      body: JSON.stringify(body),
    })
    const said = (await answer.json()) as any
    assert.equal(answer.status, expect, JSON.stringify(said))
    return said
  }
}

test("attack, consent in another browser: what one session began, no other one finishes, be it the same operator's", async () => {
  const roles = ['operator', 'admin'] as const
  const [own, others] = await Promise.all(
    roles.map(async (role): Promise<string> => {
      const body = { email: `browser-${role}@example.com`, role }
      return (await admin.send('POST', '/admin/tokens', body)).token
    }),
  )
  const [begins, again, another] = await Promise.all(
    [own, own, others].map((token = '') => signedIn(token)),
  )
  assert.ok(begins && again && another && own !== undefined)
  const made = await makeConnection()
  const answered = async (by = begins): Promise<object> => {
    const { authorize_url } = await by('POST', `${made.path}/authorize`, {})
    return callbackOf(await provider.consent(authorize_url))
  }
  for (const victim of [again, another, operatorAt(stack.apiUrl, own).send]) {
    const refused = await victim('POST', '/admin/oauth/callback', await answered(), 409)
    assert.equal(refused.details.reason, 'unknown_state')
  }
  // Nor does a session finish what its operator began with the token itself.
  const begunByToken = await answered(operatorAt(stack.apiUrl, own).send)
  assert.deepEqual(tokenRequests, [])
  assert.equal(await statusOf(made), 'needs_consent')
  await another('POST', '/admin/oauth/callback', begunByToken, 409)
  await begins('POST', '/admin/oauth/callback', await answered())
  assert.equal(await statusOf(made), 'active')
})

test('attack, code injection: a code of another consent is refused, because its verifier is another', async () => {
  const [victim, attacker] = [await makeConnection(), await makeConnection()]
  const stolen = callbackOf(await provider.consent(await authorize(victim)))
  const own = callbackOf(await provider.consent(await authorize(attacker)))
  const refused = await finish({ ...own, code: stolen['code'] }, asked, 409)
  assert.equal(refused.details.reason, 'exchange_failed')
  assert.equal(refused.details.token_error, 'invalid_grant')
  assert.equal(await statusOf(attacker), 'needs_consent')
})

test('attack, PKCE downgrade: PKCE cannot be taken off a request, whatever the URL of the provider says', async () => {
  const made = await makeConnection({
    authorization_url: `${provider.issuer}/auth?code_challenge_method=plain&code_challenge=x&state=mine&redirect_uri=https://evil.test/`,
  })
  const { searchParams } = new URL(await authorize(made))
  assert.deepEqual(searchParams.getAll('code_challenge_method'), ['S256'])
  assert.equal(searchParams.getAll('code_challenge').length, 1)
  assert.match(searchParams.get('code_challenge') ?? '', /^[\w-]{43}$/)
  assert.notEqual(searchParams.get('state'), 'mine')
  assert.deepEqual(searchParams.getAll('redirect_uri'), [`${stack.apiUrl}/oauth/callback`])
})

test('attack, mix-up by iss: the answer of another provider, or one that does not say whose it is, gets no code exchanged', async () => {
  const made = await makeConnection()
  for (const iss of ['https://evil.test', `${provider.issuer}/`, undefined]) {
    const { iss: _, ...answer } = callbackOf(await provider.consent(await authorize(made)))
    const refused = await finish({ ...answer, ...(iss === undefined ? {} : { iss }) }, asked, 409)
    assert.equal(refused.details.reason, 'other_issuer')
  }
  assert.deepEqual(tokenRequests, [])
})

test('attack, changed endpoint: neither a code nor tokens go to one that was changed meanwhile', async () => {
  const made = await makeConnection()
  const answer = callbackOf(await provider.consent(await authorize(made)))
  await admin.send('PUT', made.path, { auth: authOf({ token_url: 'https://evil.test/token' }) })
  const refused = await finish(answer, asked, 409)
  assert.equal(refused.details.reason, 'connection_changed')
  assert.deepEqual(tokenRequests, [])
  // Between the answer of the provider and our write.
  const late = await makeConnection()
  const back = callbackOf(await provider.consent(await authorize(late)))
  const already = provider.issued.length
  provider.onRequest = async (path, when) => {
    if (path === '/token' && when === 'after')
      await admin.send('PUT', late.path, { auth: authOf({ token_url: 'https://evil.test/token' }) })
    return true
  }
  const kept = await finish(back, asked, 409)
  assert.equal(kept.details.reason, 'connection_changed')
  assert.equal(await statusOf(late), 'needs_consent')
  const [token = ''] = provider.issued.slice(already)
  await until('what was issued is revoked', async () => !(await provider.isActive(token)))
})

test('attack, forgery of requests: no endpoint of a provider is on a private address', async () => {
  stack.dns.set('provider-inside.test', ['10.1.2.3'])
  const inside = 'https://provider-inside.test/t'
  const exchanged = await makeConnection({ token_url: inside })
  const answer = callbackOf(await provider.consent(await authorize(exchanged)))
  const refused = await finish(answer, asked, 409)
  assert.deepEqual(
    [refused.details.reason, refused.details.cause],
    ['exchange_failed', 'address_refused'],
  )
  const { integration_id } = await admin.makeIntegration(stack.ownBaseUrl(), {
    auth: { type: 'none' },
  })
  const auth = authOf({ pushed_authorization_url: inside })
  const path = `/admin/integrations/${integration_id}/connections`
  const pushed = await admin.send('POST', path, { name: 'x', auth }, 409)
  assert.equal(pushed.details.reason, 'provider_refused')
  const revoked = await makeConnection({ revocation_url: inside })
  await finish(callbackOf(await provider.consent(await authorize(revoked))))
  assert.equal((await asked.send('POST', `${revoked.path}/revoke`, {})).result, 'failed')
})

test('a consent that is refused leaves the connection as it was, and a text of the provider is not shown', async () => {
  const made = await makeConnection()
  provider.answer = 'refuses'
  const answer = callbackOf(await provider.consent(await authorize(made)))
  const refused = await finish(answer, asked, 409)
  assert.deepEqual(
    [refused.details.reason, refused.details.error],
    ['consent_refused', 'access_denied'],
  )
  provider.answer = 'consents'
  const { state } = callbackOf(await provider.consent(await authorize(made)))
  const written = await finish(
    { state, iss: provider.issuer, error: '<b>call 0800</b>' },
    asked,
    409,
  )
  assert.ok(!JSON.stringify(written).includes('0800'))
  assert.equal(await statusOf(made), 'needs_consent')
})

test('attack, open redirect: the callback page opens no address that it is given, and loads nothing from elsewhere', async () => {
  const query = new URLSearchParams({
    state: 'x',
    redirect_uri: 'https://evil.test',
    next: '//evil.test',
  })
  const page = await fetch(`${stack.apiUrl}/oauth/callback?${query.toString()}`, {
    redirect: 'manual',
  })
  assert.equal(page.status, 200)
  assert.equal(page.headers.get('location'), null)
  assert.equal(page.headers.get('referrer-policy'), 'no-referrer')
  assert.match(
    page.headers.get('content-security-policy') ?? '',
    /default-src 'none'; script-src 'self'/,
  )
  assert.ok(!(await page.text()).includes('evil.test'))
  const script = await (await fetch(`${stack.apiUrl}/oauth/callback.js`)).text()
  assert.ok(!/innerHTML|location\.(href|assign|replace)|window\.open/.test(script))
  const answered = await fetch(`${stack.apiUrl}/oauth/client.json`)
  const client = (await answered.json()) as Record<string, unknown>
  assert.equal(client['client_id'], `${stack.apiUrl}/oauth/client.json`)
  assert.deepEqual(client['redirect_uris'], [`${stack.apiUrl}/oauth/callback`])
})

test('attack, forgery of requests: discovery goes to no private address, follows no redirect, and takes no document of another', async (t) => {
  const documents: Record<string, (issuer: string) => readonly [number, object | string]> = {
    '/redirect': () => [302, ''],
    '/large': () => [200, 'x'.repeat(70_000)],
    '/other': () => [
      200,
      {
        issuer: 'https://other.test',
        authorization_endpoint: 'https://a.test',
        token_endpoint: 'https://a.test',
      },
    ],
    '/plain-http': (issuer) => [
      200,
      { issuer, authorization_endpoint: 'http://a.test/', token_endpoint: 'https://a.test' },
    ],
    '/script': (issuer) => [
      200,
      { issuer, authorization_endpoint: 'javascript:alert(1)', token_endpoint: 'https://a.test' },
    ],
    '/no-token': (issuer) => [200, { issuer, authorization_endpoint: 'https://a.test' }],
    '/text': () => [200, '[]'],
  }
  const server = createServer((request, response) => {
    const name = (request.url ?? '').replace('/.well-known/oauth-authorization-server', '')
    const [status, body] = documents[name]?.(`${origin}${name}`) ?? [404, '']
    response.writeHead(
      status,
      status === 302 ? { location: `${provider.issuer}/.well-known/openid-configuration` } : {},
    )
    response.end(typeof body === 'string' ? body : JSON.stringify(body))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const rows: ReadonlyArray<readonly [string, RegExp]> = [
    [`${origin}/redirect`, /redirects are not followed/],
    [`${origin}/large`, /larger than 64 KiB/],
    [`${origin}/other`, /issuer is another one/],
    [`${origin}/plain-http`, /authorization_endpoint is not an https URL/],
    [`${origin}/script`, /authorization_endpoint is not an https URL/],
    [`${origin}/no-token`, /no token_endpoint/],
    [`${origin}/text`, /./],
    [`${origin}/none`, /no such document/],
    ['http://example.com', /must be an https URL/],
    ['https://169.254.169.254', /not public/],
    ['https://10.0.0.1', /not public/],
    ['ftp://example.com', /must be an https URL/],
  ]
  for (const [issuer, why] of rows) {
    const refused = await admin.send('POST', '/admin/oauth/discover', { url: issuer }, 400)
    assert.match(refused.details.issues[0].message, why, issuer)
  }
  await asked.send('POST', '/admin/oauth/discover', { url: provider.issuer }, 403)
})

test('endpoints are https, and an integration itself cannot have such a credential', async () => {
  const { integration_id } = await admin.makeIntegration(stack.ownBaseUrl())
  const path = `/admin/integrations/${integration_id}/connections`
  const rows = {
    token_url: 'http://example.com/t',
    revocation_url: 'http://10.0.0.1/',
    iss_parameter: 'no',
    refresh_reuse_s: '-1',
  }
  for (const [member, text] of Object.entries(rows)) {
    const auth = authOf({ [member]: text })
    const refused = await admin.send('POST', path, { name: 'x', auth }, 400)
    assert.equal(refused.details.issues[0].path, `/auth/${member}`)
  }
  const own = await admin.send(
    'PUT',
    `/admin/integrations/${integration_id}`,
    { auth: authOf() },
    400,
  )
  assert.equal(own.details.issues[0].path, '/auth/type')
})

test('no token, code or client secret is anywhere in the clear', async () => {
  const made = await makeConnection()
  const answer = callbackOf(await provider.consent(await authorize(made)))
  await finish(answer)
  assert.ok(provider.issued.length >= 2)
  assert.deepEqual(
    await findLeaks(stack, [
      ...provider.issued,
      provider.client.client_secret,
      answer['code'] ?? '',
      answer['state'] ?? '',
    ]),
    [],
  )
})

/** Of a page that is refused what the test is about. */
const REFUSED = /409|404|Failed to load/

async function consolePage(hash: string): Promise<{ browser: KitBrowser; page: Page }> {
  const browser = await openBrowser()
  const page = await browser.open(`${stack.apiUrl}/`)
  await signIn(page, stack.adminToken)
  await page.goto(`${stack.apiUrl}/#/${hash}`)
  return { browser, page }
}

/** With TEST_PICTURES, a folder: what the page shows, wide and narrow. */
async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env['TEST_PICTURES']
  const before = page.viewportSize()
  if (folder === undefined || before === null) return
  for (const [kind, width, height] of [
    ['narrow', 390, 844],
    ['wide', 1280, 800],
  ] as const) {
    await page.setViewportSize({ width, height })
    await page.screenshot({ path: join(folder, `connect-${name}-${kind}.png`) })
  }
  await page.setViewportSize(before)
}

test('Connect Slack: from the template to the first call, with the consent refused, replayed, and a provider that is down', async () => {
  const { browser, page } = await consolePage('integrations?do=add slack')
  const base_url = stack.ownBaseUrl()
  const agent_name = `slack-bot-${++count}`
  try {
    const dialog = page.getByRole('dialog', { name: 'Add Slack' })
    const field = (name: string) => dialog.getByLabel(name, { exact: true })
    await field('Connect by consent at Slack').check()
    assert.equal(
      await field('authorization url').inputValue(),
      'https://slack.com/oauth/v2/authorize',
    )
    assert.equal(await field('token url').inputValue(), 'https://slack.com/api/oauth.v2.access')
    // The addresses of a deployment of its own.
    for (const [name, text] of Object.entries({
      'base url': base_url,
      'authorization url': `${provider.issuer}/auth?prompt=consent`,
      'token url': `${provider.issuer}/token`,
      issuer: provider.issuer,
      'client id': provider.client.client_id,
      'client secret': provider.client.client_secret,
    }))
      await field(name).fill(text)
    await dialog.getByRole('combobox').fill(agent_name)
    await dialog.getByLabel('write', { exact: true }).check()
    await picture(page, '1-add')
    await dialog.getByRole('button', { name: 'Add', exact: true }).click()
    const api_key = await page
      .locator('.first-call .secret code, .first-call code')
      .first()
      .innerText()
    const headers = { authorization: `Bearer ${api_key}` }
    const post = () =>
      call({
        to: stack.proxyUrl,
        path: `/${base_url}/chat.postMessage`,
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: '{"text":"hello"}',
      })
    const before = await post()
    assert.equal(before.header('x-agw-reason'), 'connection_required')
    await picture(page, '2-added')
    await page.getByRole('button', { name: 'Connect slack' }).click()
    const review = page.getByRole('dialog', { name: 'Connect slack?' })
    for (const text of [agent_name, base_url, /channels:history, .*chat:write/, provider.issuer])
      await review.getByText(text).first().waitFor()
    assert.deepEqual(tokenRequests, [])
    await picture(page, '3-review')

    const goOn = async (name: string, says: string | RegExp): Promise<void> => {
      await review.getByRole('button', { name: 'Continue' }).click()
      await page.getByText(says).waitFor()
      await picture(page, name)
      assert.ok(!page.url().includes('state='), 'what the provider sent stays in no address')
    }
    const again = async (): Promise<void> => {
      await page.goto(`${stack.apiUrl}/#/integrations`)
      await page.getByRole('link', { name: 'slack', exact: true }).last().click()
      const row = page.getByRole('table', { name: 'Connections' }).getByRole('row')
      await row.filter({ hasText: 'needs consent' }).waitFor()
      await picture(page, '5-connections')
      await row
        .filter({ hasText: 'needs consent' })
        .getByRole('button', { name: 'Connect' })
        .click()
    }
    provider.answer = 'refuses'
    await goOn('4-refused', 'The provider or its user refused the consent.')
    assert.equal((await post()).header('x-agw-reason'), 'connection_required')

    provider.answer = 'consents'
    provider.onRequest = (path) => !path.startsWith('/token')
    await again()
    await goOn('6-provider-down', 'The provider did not exchange the code for tokens.')
    assert.equal((await post()).header('x-agw-reason'), 'connection_required')

    provider.onRequest = () => true
    const callbacks: string[] = []
    page.on('request', (request) => {
      if (request.url().includes('/oauth/callback?')) callbacks.push(request.url())
    })
    await again()
    await goOn('7-active', 'The connection slack is active.')
    const sent = stack.api.mark()
    assert.equal((await post()).status, 200)
    const [, token = ''] = (sent()[0]?.header('authorization') ?? '').split(' ')
    assert.equal(await provider.isActive(token), true)
    await page.goto(callbacks[0] ?? '')
    await page.getByText(/is unknown, was completed before/).waitFor()
    await picture(page, '8-replayed')
    assert.equal((await post()).status, 200)
    assert.deepEqual(
      browser.complaints().filter((text) => !REFUSED.test(text)),
      [],
    )
  } finally {
    await browser.closePages()
  }
})

test('in the console a connection is made of what its provider says, revoked, and asked for by the link of a refusal', async () => {
  const { agent, integration, base_url, headers } = await admin.makeAccess(stack.ownBaseUrl(), {
    auth: { type: 'none' },
  })
  const { browser, page } = await consolePage(`integrations/${integration.integration_id}`)
  try {
    const dialog = page.getByRole('dialog')
    const row = page.getByRole('table', { name: 'Connections' }).getByRole('row')
    const field = (name: string) => dialog.getByLabel(name, { exact: true })
    await page.getByRole('button', { name: 'Create connection' }).click()
    await field('Name').fill('of the team')
    await field('For').selectOption('agent')
    await field('Agent').fill(agent.agent_name)
    await field('Kind').selectOption('oauth2_authorization_code')
    await field('Issuer').fill(provider.issuer)
    await dialog.getByRole('button', { name: 'Read the endpoints' }).click()
    await until('the endpoints are filled in', async () =>
      (await field('token url').inputValue()).startsWith(provider.issuer),
    )
    await field('client id').fill(provider.client.client_id)
    await field('client secret').fill(provider.client.client_secret)
    await field('authorization url').fill(`${provider.issuer}/auth?prompt=consent`)
    await field('pushed authorization url').fill('')
    await field('scope').fill('openid offline_access read')
    await field('resource').fill(RESOURCE)
    await dialog.getByRole('button', { name: 'Create', exact: true }).click()
    const review = page.getByRole('dialog', { name: 'Connect of the team?' })
    await review.getByRole('button', { name: 'Continue' }).click()
    await page.getByText('The connection of the team is active.').waitFor()
    await page.getByRole('link', { name: 'Open the console' }).click()
    await row.filter({ hasText: 'of the team' }).getByText('active').waitFor()
    // Ended at the provider, and every call with it.
    await row.getByRole('button', { name: 'Revoke' }).click()
    await dialog.getByRole('button', { name: 'Revoke' }).click()
    await row.filter({ hasText: 'of the team' }).getByText('revoked', { exact: true }).waitFor()
    const refused = await call({ to: stack.proxyUrl, path: `/${base_url}/x`, headers })
    assert.equal(refused.header('x-agw-reason'), 'connection_required')
    // The link of the refusal leads to the same question.
    const { connect_url } = refused.json().details
    assert.ok(connect_url.startsWith(`${stack.apiUrl}/#/connect/`), connect_url)
    await page.goto(connect_url)
    await page.getByText(`A call of ${agent.agent_name} was refused`).waitFor()
    await page.getByRole('button', { name: 'Connect', exact: true }).click()
    await review.getByRole('button', { name: 'Continue' }).click()
    await page.getByText('The connection of the team is active.').waitFor()
    assert.equal((await call({ to: stack.proxyUrl, path: `/${base_url}/x`, headers })).status, 200)
    assert.deepEqual(
      browser.complaints().filter((text) => !REFUSED.test(text)),
      [],
    )
  } finally {
    await browser.closePages()
  }
})

test('the link of a refusal takes a credential in the console once', async () => {
  const { agent, integration, base_url, headers, scope_id } = await admin.makeAccess(
    stack.ownBaseUrl(),
    { auth: { type: 'none' } },
  )
  await admin.send('PUT', `/admin/scopes/${scope_id}`, { users: ['alice'] })
  const path = `/admin/integrations/${integration.integration_id}/connections`
  const auth = { type: 'bearer', token: 'old-token-of-the-agent' }
  const subject = `agent:${agent.agent_id}`
  const { connection_id } = await admin.send('POST', path, { name: 'own', subject, auth })
  await admin.send('PATCH', `${path}/${connection_id}`, { status: 'revoked' })
  const get = () => call({ to: stack.proxyUrl, path: `/${base_url}/x`, headers })
  const { connect_url } = (await get()).json().details
  const { browser, page } = await consolePage(connect_url.split('#/')[1])
  try {
    await page.getByText(`A call of ${agent.agent_name} was refused`).waitFor()
    await picture(page, '9-link')
    await page.getByLabel('token', { exact: true }).fill('new-token-of-the-agent')
    await page.getByRole('button', { name: 'Give this credential' }).click()
    await page.getByText('can make its call again').waitFor()
    assert.equal((await get()).status, 200)
    await page.reload()
    await page.getByText('This link has been used').waitFor()
    assert.deepEqual(
      browser.complaints().filter((text) => !REFUSED.test(text)),
      [],
    )
  } finally {
    await browser.closePages()
  }
})
