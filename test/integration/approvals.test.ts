import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { takeApproval } from '../../core/approval/take-approval.ts'
import { connectRedis } from '../../core/redis/connect-redis.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { assertRefusal } from '../kit/assert-refusal.ts'
import { call, type HttpAnswer, type HttpCall } from '../kit/call.ts'
import type { Access } from '../kit/operator.ts'
import { sharedStack } from '../kit/shared-stack.ts'
import { until } from '../kit/until.ts'

const stack = await sharedStack()
const { operator, api } = stack
const JSON_TYPE = { 'content-type': 'application/json' }
const BODY = '{"amount":5000,"to":"acct_1"}'

const makeAccess = (approval: object = {}, more: object = {}): Promise<Access> =>
  operator.makeAccess(stack.ownBaseUrl(), {
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

  const again = await ask(access)
  assert.notEqual(requestOf(again), request_id)
  assert.deepEqual(again.json().details.used, { request_id, was_sent: true })
  assert.equal(received().length, 1)
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

const form = (boundary: string, amount = '5'): Partial<HttpCall> => ({
  headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
  body: `--${boundary}\r\ncontent-disposition: form-data; name="amount"\r\n\r\n${amount}\r\n--${boundary}--\r\n`,
})

test('a multipart body is the same with another boundary, unless one stands in a part', async () => {
  const access = await makeAccess()
  const request_id = requestOf(await ask(access, form('one')))
  assert.equal(requestOf(await ask(access, form('another'))), request_id)
  assert.notEqual(requestOf(await ask(access, form('one', '6'))), request_id)
  const hidden = '5\n--two\ncontent-disposition: form-data; name="amount"\n\n9'
  const other = requestOf(await ask(access, form('one', hidden)))
  assert.notEqual(requestOf(await ask(access, form('two', hidden))), other)
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

test('a change of the rule, the scope or the integration voids an approval', async () => {
  const access = await makeAccess()
  const approve = async (): Promise<string> => {
    const request_id = requestOf(await ask(access))
    await decide(request_id, 'approve')
    return request_id
  }
  const rules = [{ methods: ['*'], paths: ['/**'], approval: {} }]
  const changes = [
    () => operator.send('PUT', `/admin/scopes/${access.scope_id}`, { rules }),
    () => operator.send('PUT', `/admin/scopes/${access.scope_id}`, { priority: 7 }),
    () =>
      operator.send('PUT', `/admin/integrations/${access.integration.integration_id}`, {
        auth: { type: 'bearer', token: 'stored-credential-2' },
      }),
  ]
  for (const change of changes) {
    const request_id = await approve()
    await change()
    assert.notEqual(requestOf(await ask(access)), request_id)
  }
})

test('who approved must still be allowed to when the call is made', async () => {
  const access = await makeAccess()
  const request_id = requestOf(await ask(access))
  const token = await operator.send('POST', '/admin/tokens', {
    email: 'short@example.com',
    role: 'operator',
    name: 'short',
  })
  const answer = await fetch(`${stack.apiUrl}/admin/access-requests/${request_id}/approve`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token.token}` },
  })
  assert.equal(answer.status, 200, await answer.text())
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
const decideAs = async (token: string, request_id: string, what: string) => {
  const path = `${stack.apiUrl}/admin/access-requests/${request_id}/${what}`
  const headers = { authorization: `Bearer ${token}` }
  const answer = await fetch(path, { method: 'POST', headers })
  return [answer.status, ((await answer.json()) as any).status] as const
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
  assert.deepEqual(await decideAs(ann, request_id, 'approve'), [200, 'pending'])
  assert.equal((await decideAs(ann2, request_id, 'approve'))[0], 409)
  assert.equal(requestOf(await ask(access)), request_id)
  assert.deepEqual(await decideAs(bob, request_id, 'approve'), [200, 'approved'])
  assert.equal((await ask(access)).status, 200)

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
    const call = { organization_id: 'org_default', agent_id, revision, digest: asked.digest, by }
    const { kind } = await takeApproval(redis, { ...call, now: new Date() }, null)
    assert.equal(kind, 'taken')
  } finally {
    redis.disconnect()
  }
  const again = await ask(access)
  assert.notEqual(requestOf(again), request_id)
  assert.deepEqual(again.json().details.used, { request_id, was_sent: null })
})
