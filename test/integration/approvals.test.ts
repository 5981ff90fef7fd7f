import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { Writable } from 'node:stream'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { runDecideRequest } from '../../cli/commands/decide-request.ts'
import { takeApproval } from '../../core/approval/take-approval.ts'
import { connectRedis } from '../../core/redis/connect-redis.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { assertRefusal } from '../kit/assert-refusal.ts'
import { call, type HttpAnswer, type HttpCall } from '../kit/call.ts'
import { type Access, operatorAt } from '../kit/operator.ts'
import { sharedStack } from '../kit/shared-stack.ts'
import { until } from '../kit/until.ts'

const stack = await sharedStack()
const { operator, api } = stack
const JSON_TYPE = { 'content-type': 'application/json' }
const BODY = '{"amount":5000,"to":"acct_1"}'

const makeAccess = (approval: object = {}, more: object = {}): Promise<Access> =>
  stack.makeAccess({
    rules: [{ methods: ['POST', 'GET'], paths: ['/charges/**'], approval }],
    ...more,
  })

const ask = (access: Access, more: Partial<HttpCall> = {}, path = '/charges?a=1&b=2') =>
  call({
    to: stack.proxyUrl,
    method: 'POST',
    path: `/${access.base_url}${path}`,
    body: BODY,
    ...more,
    headers: { ...access.headers, ...JSON_TYPE, ...(more.headers as object) },
  })

/** The id of the request that the refusal names. */
function requestOf(answer: HttpAnswer): string {
  assertRefusal(answer, 403, 'approval_required')
  return String(answer.json().details.request_id)
}

const decide = (request_id: string, what: string, body?: object, expect?: number) =>
  operator.send('POST', `/admin/access-requests/${request_id}/${what}`, body, expect)
const shown = (request_id: string) => operator.send('GET', `/admin/access-requests/${request_id}`)

const entryOf = async (answer: HttpAnswer) =>
  await until('the entry of the call is in the log', async () => {
    const id = answer.header('x-agw-request-id') ?? ''
    const { data } = await operator.send('GET', `/admin/activity?request_id=${id}`)
    return data.find((one: any) => one.event !== 'access_requested') ?? false
  })

test('a call is refused until a person allows it, then made once: what was approved is what ran', async () => {
  const access = await makeAccess()
  const received = api.mark()
  const first = await ask(access)
  const request_id = requestOf(first)
  const { details } = first.json()
  assert.equal(details.status_url, `${stack.proxyUrl}/.well-known/agw/me/requests/${request_id}`)
  assert.equal(details.access_request.template.request_id, request_id)
  assert.ok(Number(first.header('retry-after')) >= 1)
  assert.equal(requestOf(await ask(access)), request_id)
  assert.equal(received().length, 0)

  const pending = await shown(request_id)
  assert.deepEqual(
    [pending.status, pending.call.method, pending.call.url, pending.call.excerpt],
    ['pending', 'POST', `${access.base_url}/charges?a=1&b=2`, BODY],
  )
  const approved = await decide(request_id, 'approve', { comment: 'as agreed' })
  assert.deepEqual([approved.status, approved.decided_by], ['approved', 'admin@localhost'])
  const passed = await ask(access)
  assert.equal(passed.status, 200, passed.body.toString())
  const [got, ...others] = received()
  assert.equal(others.length, 0)
  assert.equal(got?.body.toString(), BODY)
  const sha256 = createHash('sha256')
    .update(got?.body ?? '')
    .digest('hex')
  const { approval } = (await entryOf(passed)).data
  assert.deepEqual(approval, {
    request_id,
    digest: pending.call.digest,
    body_sha256: sha256,
    decided_by: 'admin@localhost',
  })
  assert.equal(pending.call.body_sha256, sha256)
  await until('it is noted that the call was sent', async () => {
    const { consumed_at, forwarded_at, consumed_by } = await shown(request_id)
    return forwarded_at !== null && consumed_at !== null && consumed_by.request_id !== null
  })

  // Whoever says no now is told that it is too late.
  for (const what of ['deny', 'cancel'])
    assert.equal((await decide(request_id, what, {}, 409)).details.reason, 'not_pending', what)
  assert.equal((await shown(request_id)).status, 'approved')

  const again = await ask(access)
  assert.notEqual(requestOf(again), request_id)
  assert.deepEqual(again.json().details.used, { request_id, was_sent: true })
  assert.equal(received().length, 1)

  // Who decides about the repetition sees that it is one, also if another one was withdrawn.
  const before = { count: 1, last_used_at: (await shown(request_id)).consumed_at, request_id }
  const withdrawn = requestOf(again)
  assert.deepEqual((await shown(withdrawn)).used_before, before)
  await decide(withdrawn, 'cancel')
  const third = requestOf(await ask(access))
  assert.deepEqual((await shown(third)).used_before, before)
  await decide(third, 'approve', { comment: null, expires_at: null })
  assert.equal((await ask(access)).status, 200)
  const { used_before } = await shown(requestOf(await ask(access)))
  assert.deepEqual([used_before.count, used_before.request_id], [2, third])
  assert.equal((await shown(requestOf(await ask(access, { body: '{}' })))).used_before, null)
})

const CHANGES: readonly (readonly [name: string, more: Partial<HttpCall>, path?: string])[] = [
  ['a byte of the body', { body: BODY.replace('5000', '5001') }],
  ['a space in the body', { body: `${BODY} ` }],
  ['the order of the query', {}, '/charges?b=2&a=1'],
  ['the path', {}, '/charges/?a=1&b=2'],
  ['the method', { method: 'GET' }],
  ['a header that counts', { headers: { 'x-account': 'other' } }],
  ['the value of a header that counts', { headers: { accept: 'text/plain' } }],
  ['a repeated header', { headers: { accept: ['*/*', '*/*'] as never } }],
  ['the content type', { headers: { 'content-type': 'application/json; charset=utf-8' } }],
  ['the encoding', { body: gzipSync(BODY), headers: { 'content-encoding': 'gzip' } }],
]

test('an approval is for exactly the call that was shown, but for volatile headers', async () => {
  const access = await makeAccess()
  const accept = { accept: '*/*' }
  const request_id = requestOf(await ask(access, { headers: accept }))
  await decide(request_id, 'approve')
  const received = api.mark()
  for (const [name, more, path] of CHANGES) {
    const headers = { ...accept, ...(more.headers as object) }
    const answer = await ask(access, { ...more, headers }, path)
    assert.notEqual(requestOf(answer), request_id, name)
  }
  assert.equal(received().length, 0)
  const volatile = {
    'user-agent': 'another/2',
    traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    'x-stainless-retry-count': '1',
    'idempotency-key': 'other',
    'accept-encoding': 'br',
    prefer: 'wait=5',
  }
  assert.equal((await ask(access, { headers: { ...volatile, ...accept } })).status, 200)
  assert.equal(received().length, 1)
})

test('a batch of concurrent repetitions makes one request, and of an approved call exactly one passes', async () => {
  const access = await makeAccess()
  const all = (count: number) => Promise.all(Array.from({ length: count }, () => ask(access)))
  const asked = new Set((await all(30)).map(requestOf))
  assert.equal(asked.size, 1)
  const [request_id = ''] = asked
  await decide(request_id, 'approve')
  const received = api.mark()
  const answers = await all(60)
  assert.equal(answers.filter(({ status }) => status === 200).length, 1)
  assert.equal(received().length, 1)
  const { data } = await operator.send(
    'GET',
    `/admin/access-requests?agent_id=${access.agent.agent_id}`,
  )
  assert.deepEqual(data.map(({ status }: any) => status).sort(), ['approved', 'pending'])
})

test('a denial is told with its comment, a withdrawal makes room for a new request', async () => {
  const access = await makeAccess()
  const request_id = requestOf(await ask(access))
  await decide(request_id, 'deny', { comment: 'not before Monday' })
  assertRefusal(await ask(access), 403, 'approval_denied', {
    request_id,
    comment: 'not before Monday',
  })
  await decide(request_id, 'approve', {}, 409)
  const other = requestOf(await ask(access, { body: '{}' }))
  await decide(other, 'approve')
  await decide(other, 'cancel')
  assert.notEqual(requestOf(await ask(access, { body: '{}' })), other)
})

test('a change of the rule, the scope, the integration or the connection voids an approval', async () => {
  const access = await makeAccess()
  const { integration_id } = access.integration
  const connections = `/admin/integrations/${integration_id}/connections`
  const auth = { type: 'bearer', token: 'stored-credential-2' }
  const subject = `agent:${access.agent.agent_id}`
  let connection_id = ''
  const approve = async (): Promise<string> => {
    const request_id = requestOf(await ask(access))
    await decide(request_id, 'approve')
    return request_id
  }
  const rules = [{ methods: ['*'], paths: ['/**'], approval: {} }]
  const changes = [
    () => operator.send('PUT', `/admin/scopes/${access.scope_id}`, { rules }),
    () => operator.send('PUT', `/admin/scopes/${access.scope_id}`, { priority: 7 }),
    () => operator.send('PUT', `/admin/integrations/${integration_id}`, { auth }),
    async () => {
      const made = await operator.send('POST', connections, { name: 'own', auth, subject })
      connection_id = made.connection_id
    },
    // Another account.
    () =>
      operator.send('PATCH', `${connections}/${connection_id}`, {
        auth: { type: 'bearer', token: 'stored-credential-3' },
      }),
  ]
  for (const change of changes) {
    const request_id = await approve()
    await change()
    assert.notEqual(requestOf(await ask(access)), request_id)
  }
  // A call without a connection neither uses one up nor asks for one.
  const request_id = await approve()
  await operator.send('PATCH', `${connections}/${connection_id}`, { status: 'revoked' })
  assert.equal((await ask(access)).json().error, 'connection_required')
  assert.equal((await shown(request_id)).status, 'approved')
})

test('who approved must still be allowed to when the call is made', async () => {
  const access = await makeAccess()
  const request_id = requestOf(await ask(access))
  const token = await operator.send('POST', '/admin/tokens', {
    email: 'short@example.com',
    role: 'operator',
    name: 'short',
  })
  assert.equal((await decideAs(token.token, request_id, 'approve'))[0], 200)
  await operator.send('DELETE', `/admin/tokens/${token.token_id}`)
  assert.notEqual(requestOf(await ask(access)), request_id)
})

test('a kill voids what waits and what is approved, also after a reactivation', async () => {
  const access = await makeAccess()
  const { agent_id } = access.agent
  const approved = requestOf(await ask(access))
  await decide(approved, 'approve')
  const waiting = requestOf(await ask(access, { body: '{}' }))
  await operator.send('POST', `/admin/agents/${agent_id}/kill`, { reason: 'test' })
  assert.deepEqual(
    [(await shown(approved)).status, (await shown(waiting)).status],
    ['cancelled', 'cancelled'],
  )
  await decide(waiting, 'approve', {}, 409)
  await operator.send('POST', `/admin/agents/${agent_id}/reactivate`, { reason: 'test' })
  await decide(waiting, 'approve', {}, 409)
  assert.notEqual(requestOf(await ask(access)), approved)
})

const made = async (email: string, role: string): Promise<string> => {
  const { token } = await operator.send('POST', '/admin/tokens', { email, role, name: email })
  return token
}
const decideAs = async (token: string, request_id: string, what: string, body: object = {}) => {
  const path = `${stack.apiUrl}/admin/access-requests/${request_id}/${what}`
  const headers = { authorization: `Bearer ${token}`, ...JSON_TYPE }
  const answer = await fetch(path, { method: 'POST', headers, body: JSON.stringify(body) })
  const decided = (await answer.json()) as any
  return [answer.status, decided.status, decided] as const
}

test('two people are two e-mails, neither the shared one; a viewer decides nothing', async () => {
  const access = await makeAccess({ needed: 2 })
  const request_id = requestOf(await ask(access))
  const [ann, ann2, bob, viewer] = await Promise.all([
    made('ann@example.com', 'operator'),
    made('Ann@example.com', 'admin'),
    made('bob@example.com', 'operator'),
    made('viewer@example.com', 'viewer'),
  ])
  await decide(request_id, 'approve', {}, 403)
  const owner = { labels: { owner: 'eve' } }
  await operator.send('PATCH', `/admin/agents/${access.agent.agent_id}`, owner)
  const eve = await made('eve@example.com', 'operator')
  assert.equal((await decideAs(eve, request_id, 'approve'))[0], 403)
  assert.equal((await decideAs(viewer, request_id, 'approve'))[0], 403)
  assert.equal((await decideAs(viewer, request_id, 'deny'))[0], 403)
  assert.equal((await decideAs(ann, request_id, 'approve'))[1], 'pending')
  assert.equal((await decideAs(ann2, request_id, 'approve'))[0], 409)
  assert.equal(requestOf(await ask(access)), request_id)
  assert.equal((await decideAs(bob, request_id, 'approve'))[1], 'approved')
  assert.equal((await ask(access)).status, 200)

  // Whoever created the agent, by whatever token; and the first admin, who has not.
  const cat = await Promise.all([
    made('cat@example.com', 'admin'),
    made('CAT@example.com', 'admin'),
  ])
  const [creator] = cat
  const rules = [{ methods: ['POST'], paths: ['/charges/**'], approval: { needed: 2 } }]
  const own = await operatorAt(stack.apiUrl, creator).makeAccess(stack.ownBaseUrl(), { rules })
  const theirs = requestOf(await ask(own))
  for (const token of cat) assert.equal((await decideAs(token, theirs, 'approve'))[0], 403)
  await decide(theirs, 'approve', {}, 403)
  assert.deepEqual((await shown(theirs)).approvals, [])
  assert.equal((await decideAs(ann2, theirs, 'approve'))[1], 'pending')
  assert.equal((await decideAs(ann, theirs, 'approve'))[0], 409)
  assert.equal((await decideAs(bob, theirs, 'approve'))[1], 'approved')

  const strict = await makeAccess({ approvers: 'admin' })
  const other = requestOf(await ask(strict))
  assert.equal((await decideAs(bob, other, 'approve'))[0], 403)
  const seen = await fetch(`${stack.apiUrl}/admin/access-requests/${other}`, {
    headers: { authorization: `Bearer ${viewer}` },
  })
  assert.equal(((await seen.json()) as any).call.excerpt, null)
})

test('the refusal of an MCP tool call is a tool result, and its repetition passes', async () => {
  const access = await makeAccess()
  const tool = (name: string) => ({
    headers: { accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 4, method: 'tools/call', params: { name } }),
  })
  const refused = await ask(access, tool('pay'))
  assert.equal(refused.status, 200)
  assert.equal(refused.header('x-agw-reason'), 'approval_required')
  const { id, result } = refused.json()
  assert.deepEqual([id, result.isError], [4, true])
  const [request_id = ''] = /arq_[A-Za-z0-9]+/.exec(result.content[0].text) ?? []
  await decide(request_id, 'approve')
  const received = api.mark()
  assert.equal((await ask(access, tool('pay'))).header('x-agw-reason'), undefined)
  assert.equal(received().length, 1)
})

test('who decides sees what else a call names, what matters in its body, and what the agent did before', async () => {
  const rules = [{ methods: ['*'], paths: ['/charges/**'], approval: {} }]
  const access = await makeAccess({}, { rules })
  const plain = await shown(requestOf(await ask(access)))
  assert.deepEqual(plain.call.fields, [
    { name: 'amount', value: '5000' },
    { name: 'to', value: 'acct_1' },
  ])
  // The words for a POST would be wrong.
  for (const [more, path] of [
    [{ headers: { 'x-http-method-override': 'DELETE' } }],
    [{}, '/charges?_method=DELETE'],
    [{ body: '{"_method":"DELETE"}' }],
  ] as const) {
    const { call: named } = await shown(requestOf(await ask(access, more, path)))
    assert.deepEqual([named.names_others, named.action], [true, null], JSON.stringify(more))
  }
  assert.deepEqual([plain.call.names_others, plain.call.action], [false, null])
  const id = String(plain.request_id)
  const { refusals, kills } = await until('its refusals are counted', async () => {
    const { last_hour } = await shown(id)
    return last_hour.refusals >= 4 && last_hour
  })
  assert.deepEqual([refusals, kills], [4, 0])
})

test('an approval whose call cannot be sent is used up, and says so', async () => {
  const access = await operator.makeAccess('https://nowhere.invalid/v1', {
    rules: [{ methods: ['POST'], paths: ['/**'], approval: {} }],
    auth: {
      type: 'oauth2_client_credentials',
      token_url: 'http://127.0.0.1:1/token',
      client_id: 'us',
      client_secret: 'the secret of the approval test',
    },
  })
  const request_id = requestOf(await ask(access))
  await decide(request_id, 'approve')
  const failed = await ask(access)
  assertRefusal(failed, 502, 'credential_unavailable')
  const { approval } = (await entryOf(failed)).data
  assert.deepEqual([approval.request_id, approval.was_sent], [request_id, false])
  const again = await ask(access)
  assert.notEqual(requestOf(again), request_id)
  assert.deepEqual(again.json().details.used, { request_id, was_sent: false })
  assert.equal((await shown(request_id)).status, 'failed')
})

test('whether a call was sent is not known until its edge has noted it', async () => {
  const access = await makeAccess()
  const { agent_id } = access.agent
  const request_id = requestOf(await ask(access))
  const { call: asked } = await decide(request_id, 'approve')
  const redis = connectRedis(stack.redisUrl, { name: 'test', role: 'queue' })
  try {
    // An edge that takes it and dies.
    const { revision } = JSON.parse(
      (await redis.hget(REDIS_KEYS.agents('org_default'), agent_id)) ?? '',
    )
    const by = { request_id: 'req_of_the_dead', edge_id: 'dead' }
    const call = {
      organization_id: 'org_default',
      agent_id,
      revision,
      digest: asked.digest,
      grant_digest: null,
      by,
    }
    const { kind } = await takeApproval(redis, { ...call, now: new Date() }, null)
    assert.equal(kind, 'taken')
  } finally {
    redis.disconnect()
  }
  // Each repetition says so: the edge that answers the first may die too.
  for (const again of [await ask(access), await ask(access)]) {
    assert.notEqual(requestOf(again), request_id)
    assert.deepEqual(again.json().details.used, { request_id, was_sent: null })
    assert.equal((await entryOf(again)).data.used.request_id, request_id)
  }
})

const HOUR_MS = 3_600_000
const later = (ms = HOUR_MS): string => new Date(Date.now() + ms).toISOString()
const REFUND = '/refunds/1'
/** Two rules with grants, and one that needs no approval. */
const grantAccess = (more: object = {}): Promise<Access> =>
  makeAccess(undefined, {
    rules: [
      { methods: ['POST', 'PUT'], paths: ['/charges/**'], approval: { reuse: 'rule' } },
      { methods: ['POST'], paths: ['/refunds/**'], approval: { reuse: 'rule' } },
      { methods: ['GET'], paths: ['/**'] },
    ],
    ...more,
  })

test('an approval for a time allows the calls of its rule, and no other', async () => {
  const access = await grantAccess()
  const first = requestOf(await ask(access))
  const expires_at = later()
  const approved = await decide(first, 'approve', { expires_at })
  const { scope_id } = approved.result
  assert.deepEqual([approved.status, approved.expires_at], ['approved', expires_at])
  const scope = await operator.send('GET', `/admin/scopes/${scope_id}`)
  assert.deepEqual(
    [scope.origin, scope.expires_at, scope.agent_id, scope.integration_id, scope.rules],
    [
      first,
      expires_at,
      access.agent.agent_id,
      access.integration.integration_id,
      [{ methods: ['POST', 'PUT'], paths: ['/charges/**'] }],
    ],
  )
  await operator.send('PATCH', `/admin/scopes/${scope_id}`, { expires_at: later(2 * HOUR_MS) }, 409)
  const received = api.mark()
  const passing: readonly (readonly [Partial<HttpCall>, string?])[] = [
    [{}],
    [{}],
    [{ body: '{"amount":1}' }],
    [{ method: 'PUT', headers: { 'x-account': 'other' } }, '/charges/2'],
  ]
  for (const [more, path] of passing) {
    const answer = await ask(access, more, path)
    assert.equal(answer.status, 200, answer.body.toString())
    const { approval } = (await entryOf(answer)).data
    assert.deepEqual(
      [approval.request_id, approval.scope_id, approval.decided_by],
      [first, scope_id, 'admin@localhost'],
    )
  }
  assert.equal(received().length, passing.length)
  assert.notEqual(requestOf(await ask(access, {}, REFUND)), first)
  assertRefusal(await ask(access, { method: 'DELETE' }), 403, 'permission_denied')
  const other = await operator.send('POST', '/admin/agents', { agent_name: 'other of the grant' })
  await operator.send('POST', '/admin/scopes', {
    name: 'other of the grant',
    agent_id: other.agent_id,
    integration_id: access.integration.integration_id,
    rules: [{ methods: ['POST'], paths: ['/charges/**'], approval: { reuse: 'rule' } }],
  })
  const as = { ...access, headers: { authorization: `Bearer ${other.api_key}` } } as Access
  assert.notEqual(requestOf(await ask(as)), first)
  assert.equal(received().length, passing.length)
})

test('agw requests approve --for makes a grant that ends then', async () => {
  const access = await grantAccess()
  const request_id = requestOf(await ask(access))
  const written: string[] = []
  const out = new Writable({
    write: (chunk, _, done) => done(void written.push(String(chunk))),
  })
  const options = { url: stack.apiUrl, token: stack.adminToken }
  const run = (more: object): Promise<number> =>
    runDecideRequest('approve', request_id, { ...options, ...more }, out, out)
  assert.equal(await run({ for: 900_000, until: later() }), 2)
  assert.equal(await run({ for: 900_000 }), 0)
  assert.match(written.join(''), /all calls by its rule, until .* \(scp_/)
  const left_ms = Date.parse((await shown(request_id)).expires_at) - Date.now()
  assert.ok(left_ms > 0 && left_ms <= 900_000)
  assert.equal((await ask(access, { body: '{}' })).status, 200)
})

test('what an approval has made allows nothing once its rule is gone', async () => {
  const access = await grantAccess()
  const request_id = requestOf(await ask(access))
  await decide(request_id, 'approve', { expires_at: later() })
  assert.equal((await ask(access)).status, 200)
  const rules = [{ methods: ['GET'], paths: ['/**'] }]
  await operator.send('PUT', `/admin/scopes/${access.scope_id}`, { rules })
  assertRefusal(await ask(access), 403, 'permission_denied')
})

type Ends = Readonly<Record<string, (access: Access, made: any, token_id: string) => unknown>>
const change = (access: Access, what: string, changed: object): Promise<unknown> =>
  what === 'scope'
    ? operator.send('PATCH', `/admin/scopes/${access.scope_id}`, changed)
    : operator.send('PUT', `/admin/integrations/${access.integration.integration_id}`, changed)
const ENDS: Ends = {
  'its scope is deleted': (_, { result }) =>
    operator.send('DELETE', `/admin/scopes/${result.scope_id}`),
  'it is withdrawn': (_, { request_id }) => decide(request_id, 'cancel'),
  'the agent is killed': async ({ agent: { agent_id } }) => {
    await operator.send('POST', `/admin/agents/${agent_id}/kill`, { reason: 'test' })
    await operator.send('POST', `/admin/agents/${agent_id}/reactivate`, { reason: 'test' })
  },
  'the integration changes': (access) => change(access, 'integration', { name: 'renamed' }),
  'who approved has lost the token': (_, __, token_id) =>
    operator.send('DELETE', `/admin/tokens/${token_id}`),
}
/** One who approves, and whose token may be deleted. */
const approver = (): Promise<any> =>
  operator.send('POST', '/admin/tokens', { email: 'b@example.com', role: 'admin', name: 'b' })

test('a grant ends with its time, its scope, and all that its approval depends on', async () => {
  const rules = [{ methods: ['POST'], paths: ['/charges/**'], approval: { reuse: 'rule' } }]
  const ends: Ends = {
    ...ENDS,
    'the scope changes': (access) => change(access, 'scope', { priority: 3 }),
    'the rule changes': (access) => change(access, 'scope', { rules }),
  }
  for (const [why, end] of Object.entries(ends)) {
    const access = await grantAccess()
    const request_id = requestOf(await ask(access))
    const { token, token_id } = await approver()
    const [, , made] = await decideAs(token, request_id, 'approve', { expires_at: later() })
    assert.equal((await ask(access)).status, 200, why)
    await end(access, made, token_id)
    const received = api.mark()
    assert.notEqual(requestOf(await ask(access)), request_id, why)
    assert.equal(received().length, 0, why)
  }
  const access = await grantAccess()
  await decide(requestOf(await ask(access)), 'approve', { expires_at: later(3_000) })
  assert.equal((await ask(access)).status, 200)
  await until('the grant has ended', async () => (await ask(access)).status === 403)
})

test('a lock of the scope that an approval has made ends what it allows', async () => {
  const access = await grantAccess()
  const { result } = await decide(requestOf(await ask(access)), 'approve', { expires_at: later() })
  assert.equal((await ask(access)).status, 200)
  const target = { scope_id: result.scope_id }
  const { lock_id } = await operator.send('POST', '/admin/locks', { target, message: 'stop' })
  const received = api.mark()
  assertRefusal(await ask(access), 403, 'locked')
  assert.equal(received().length, 0)
  await operator.send('DELETE', `/admin/locks/${lock_id}`, {})
  assert.equal((await ask(access)).status, 200)
})

test('an approval is for a time only if its rule says so, for at most 30 days, and if all say so', async () => {
  const once = requestOf(await ask(await makeAccess()))
  await decide(once, 'approve', { expires_at: later() }, 409)
  const access = await grantAccess()
  const request_id = requestOf(await ask(access))
  for (const expires_at of [later(-1_000), later(31 * 24 * HOUR_MS), 'tomorrow'])
    await decide(request_id, 'approve', { expires_at }, 400)
  await decide(request_id, 'deny', { expires_at: later() }, 400)
  await decide(request_id, 'approve')
  assert.equal((await ask(access)).status, 200)
  assert.notEqual(requestOf(await ask(access)), request_id)

  const [ann, bob] = await Promise.all([
    made('ann-2@example.com', 'operator'),
    made('bob-2@example.com', 'operator'),
  ])
  const [sooner, latest] = [later(), later(2 * HOUR_MS)]
  for (const [first, second, end] of [
    [latest, sooner, sooner],
    [latest, undefined, null],
  ] as const) {
    const pair = await makeAccess({ needed: 2, reuse: 'rule' })
    const id = requestOf(await ask(pair))
    assert.equal((await decideAs(ann, id, 'approve', { expires_at: first }))[1], 'pending')
    const [, status, approved] = await decideAs(bob, id, 'approve', { expires_at: second })
    assert.equal(status, 'approved')
    assert.equal(approved.result.scope_id === null, end === null)
    if (end !== null) assert.equal(approved.expires_at, end)
  }
})

const REQUESTS = '/.well-known/agw/me/requests'
const WHY = 'to close the ticket'
const askAccess = (of: Pick<Access, 'headers'>, method: string, url: string, more: object = {}) =>
  call({
    to: stack.proxyUrl,
    method: 'POST',
    path: REQUESTS,
    headers: { ...of.headers, ...JSON_TYPE },
    body: JSON.stringify({ method, url, justification: WHY, ...more }),
  })
const readingAccess = (): Promise<Access> =>
  stack.makeAccess({ rules: [{ methods: ['GET'], paths: ['/things/**'] }] })

test('an agent asks for access as the refusal says; an administrator allows this call for a time', async () => {
  const access = await readingAccess()
  const close = (more: Partial<HttpCall> = {}, path = '/things/1?a=1') => ask(access, more, path)
  const refused = await close()
  assertRefusal(refused, 403, 'permission_denied')
  const { endpoint, template } = refused.json().details.access_request
  assert.equal(endpoint, `${stack.proxyUrl}${REQUESTS}`)
  const { method, url } = template
  const requested_until = later()
  const answer = await askAccess(access, method, url, { requested_until })
  assert.equal(answer.status, 200, answer.body.toString())
  const { request_id, kind, status } = answer.json()
  assert.deepEqual([kind, status, url], ['access', 'pending', `${access.base_url}/things/1`])
  assert.equal((await askAccess(access, method, url)).json().request_id, request_id)
  const pending = await shown(request_id)
  assert.deepEqual(
    [pending.justification, pending.justification_findings, pending.requested_until],
    [WHY, [], requested_until],
  )
  assert.equal(pending.call.integration_name, access.integration.name)
  assert.equal(
    (await decideAs(await made('op@example.com', 'operator'), request_id, 'approve'))[0],
    403,
  )
  await decide(request_id, 'approve', {}, 400)
  const received = api.mark()
  assertRefusal(await close(), 403, 'permission_denied')
  const approved = await decide(request_id, 'approve', { expires_at: requested_until })
  for (const path of ['/things/1', '/things/1?a=1'])
    assert.equal((await close({}, path)).status, 200)
  const { approval } = (await entryOf(await close())).data
  assert.deepEqual([approval.request_id, approval.scope_id], [request_id, approved.result.scope_id])
  assert.equal(received().length, 3)
  for (const [more, path] of [
    [{ method: 'DELETE' }, '/things/1'],
    [{}, '/things/1/x'],
    [{}, '/things/2'],
    [{}, '/things/1?_method=DELETE'],
    [{ headers: { 'x-http-method-override': 'PUT' } }, '/things/1'],
  ] as const)
    assertRefusal(await close(more, path), 403, 'permission_denied')
  assert.equal(received().length, 3)
  assert.equal((await close({ method: 'GET' })).status, 200)
})

test('access that an agent has asked for ends with all that its approval depends on, and explain says so', async () => {
  for (const [why, end] of Object.entries(ENDS)) {
    const access = await readingAccess()
    const { agent_id } = access.agent
    const url = `${access.base_url}/things/1`
    const explained = async (): Promise<string> =>
      (await operator.send('POST', '/admin/explain', { agent_id, method: 'POST', url })).error
    const { request_id } = (await askAccess(access, 'POST', url)).json()
    const { token, token_id } = await approver()
    const [, , made] = await decideAs(token, request_id, 'approve', { expires_at: later() })
    assert.equal((await ask(access, {}, '/things/1')).status, 200, JSON.stringify(made))
    assert.equal(await explained(), null)
    await end(access, made, token_id)
    const received = api.mark()
    const refused = await ask(access, {}, '/things/1')
    assertRefusal(refused, 403, 'permission_denied')
    assert.equal(await explained(), 'permission_denied', why)
    assert.equal(received().length, 0, why)
    // It can be asked for again.
    const again = (await askAccess(access, 'POST', url)).json()
    assert.notEqual(again.request_id, request_id, why)
  }
})

test('to ask for access says nothing of integrations that the agent does not know', async () => {
  const [access, hidden] = [await readingAccess(), await readingAccess()]
  const urls = [`${hidden.base_url}/things/1`, `${stack.ownBaseUrl()}/things/1`]
  const answers = await Promise.all(urls.map((url) => askAccess(access, 'GET', url)))
  const [seen, unseen] = answers.map((answer) => {
    const { request_id: _, url: __, expires_at: ___, ...told } = answer.json()
    return { status: answer.status, headers: Object.keys(answer.headers), told }
  })
  assert.deepEqual(seen, unseen)
  const [ofHidden, ofNone] = answers.map((answer) => answer.json().request_id)
  assert.equal((await shown(ofHidden)).call.integration_name, hidden.integration.name)
  assert.equal((await shown(ofNone)).call.integration_name, null)
  await decide(ofNone, 'approve', { expires_at: later() }, 409)
  await operator.send('POST', '/admin/integrations', {
    name: 'made for a request',
    base_url: urls[1]?.replace('/things/1', ''),
    auth: { type: 'bearer', token: 'stored-credential-1' },
  })
  await decide(ofNone, 'approve', { expires_at: later() })
  const path = `/${urls[1]}`
  assert.equal((await call({ to: stack.proxyUrl, path, headers: access.headers })).status, 200)
  await decide(ofHidden, 'deny', { comment: 'not yours' })
  const again = (await askAccess(access, 'GET', urls[0] ?? '')).json()
  assert.deepEqual(
    [again.request_id, again.status, again.comment],
    [ofHidden, 'denied', 'not yours'],
  )
})

test('access is asked for one plain call: no pattern becomes a rule', async () => {
  const access = await readingAccess()
  const base = access.base_url
  for (const [method, url, more] of [
    ['*', `${base}/x`],
    ['post', `${base}/x`],
    ['TRACE', `${base}/x`],
    ['POST', `${base}/a%2Fb`],
    ['POST', `${base}//x`],
    ['POST', `${base}/../x`],
    ['POST', `${base}/ü`],
    ['POST', 'things'],
    ['GET', `${base}/things/1`],
    ['POST', `${base}/sk_live_${'a1B2c3D4'.repeat(4)}`],
    ['POST', `${base}/x`, { justification: '' }],
    ['POST', `${base}/x`, { justification: 'x'.repeat(1_001) }],
    ['POST', `${base}/x`, { requested_until: '2020-01-01T00:00:00Z' }],
  ] as const) {
    const answer = await askAccess(access, method, url, more)
    assert.ok(answer.status >= 400, `${method} ${url} ${answer.body.toString()}`)
  }
  for (const path of ['/**', '/a/*', '/%2A%2A']) {
    const { request_id } = (await askAccess(access, 'POST', `${base}${path}`)).json()
    await decide(request_id, 'approve', { expires_at: later() })
    assert.equal((await ask(access, {}, path)).status, 200, path)
    for (const other of ['/x', '/a/x', '/a/b/c'])
      assertRefusal(await ask(access, {}, other), 403, 'permission_denied')
  }
})

test('an id counts unless the integration is an MCP server, whatever the body looks like', async () => {
  const access = await makeAccess()
  const message = (id: string) => ({
    headers: { accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'pay' } }),
  })
  const requestIn = async (id: string) =>
    /arq_[A-Za-z0-9]+/.exec((await ask(access, message(id))).body.toString())?.[0]
  const request_id = await requestIn('acct_shown')
  assert.ok(request_id !== undefined)
  await decide(request_id, 'approve')
  const received = api.mark()
  assert.notEqual(await requestIn('acct_other'), request_id)
  assert.equal(received().length, 0)
})
