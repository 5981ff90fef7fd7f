import assert from 'node:assert/strict'
import { once } from 'node:events'
import { after, test } from 'node:test'
import { ForwardClient } from '../kit/forward-client.ts'
import { closeOpenCalls, type OpenCall, openCall } from '../kit/open-call.ts'
import type { Access } from '../kit/operator.ts'
import { sharedStack } from '../kit/shared-stack.ts'
import { until } from '../kit/until.ts'

// Running calls are decided again when what they depend on has changed (threat model, rule 44).

const stack = await sharedStack()
const { operator, api, origin } = stack
const ca = await (await fetch(`${stack.apiUrl}/ca.pem`)).text()
const client = new ForwardClient(stack.forwardPort ?? 0, ca)
after(() => {
  client.close()
  closeOpenCalls()
})

const STREAM = 'sse?ticks=100000&interval_ms=50'

interface Open {
  readonly stream: OpenCall
  readonly waiting: OpenCall
}

/** An event stream that has begun, and a call whose response has not. */
async function openBoth({ base_url }: Access, key: string, below = ''): Promise<Open> {
  const headers = { authorization: `Bearer ${key}` }
  const sent = api.mark()
  const call = (path: string): OpenCall =>
    openCall(stack.proxyUrl, `${base_url}${below}/${path}`, headers)
  const open = { stream: call(STREAM), waiting: call('slow') }
  assert.equal(await open.stream.answered, 200)
  await until('both have begun', () => sent().length >= 2)
  return open
}

/** What a new call would get, in flight. */
async function assertEnded({ stream, waiting }: Open, error: string): Promise<void> {
  const [cut, refused] = await Promise.all([stream.ended, waiting.ended])
  assert.deepEqual([cut.status, cut.is_whole], [200, false])
  assert.deepEqual([refused.status, refused.reason], [503, error])
  assert.equal(JSON.parse(refused.text).error, error)
}

const keyOf = async ({ agent }: Access): Promise<{ key: string; key_id: string }> =>
  await operator.send('POST', `/admin/agents/${agent.agent_id}/keys`, { name: 'another' })

test('the deletion of a key ends its calls, and no calls of other keys', async () => {
  const access = await stack.makeAccess()
  const { key, key_id } = await keyOf(access)
  const [kept, lost] = [await openBoth(access, access.agent.api_key), await openBoth(access, key)]
  await operator.send('DELETE', `/admin/agents/${access.agent.agent_id}/keys/${key_id}`)
  await assertEnded(lost, 'invalid_api_key')
  assert.ok(kept.stream.isOpen() && kept.waiting.isOpen())
  const { data } = await until('both ends are in the log', async () => {
    const path = `/admin/activity?agent_id=${access.agent.agent_id}&decision=terminated`
    const page = await operator.send('GET', path)
    return page.data.length >= 2 && page
  })
  for (const entry of data) assert.equal(entry.reason, 'invalid_api_key')
  // Other files use the stack after this one.
  closeOpenCalls()
})

test('the deletion of a key of the organization ends the calls that it made for agents', async () => {
  const access = await stack.makeAccess()
  const { key, key_id } = await operator.makeOrganizationKey()
  const headers = { authorization: `Bearer ${key}`, 'x-agw-agent-id': access.agent.agent_id }
  const stream = openCall(stack.proxyUrl, `${access.base_url}/${STREAM}`, headers)
  assert.equal(await stream.answered, 200)
  await operator.send('DELETE', `/admin/keys/${key_id}`)
  assert.equal((await stream.ended).is_whole, false)
})

test('a scope that no longer allows a path ends its calls, and not those that it still allows', async () => {
  const access = await stack.makeAccess()
  const key = access.agent.api_key
  const [kept, lost] = [await openBoth(access, key, '/kept'), await openBoth(access, key, '/lost')]
  await operator.send('PUT', `/admin/scopes/${access.scope_id}`, {
    rules: [{ methods: ['GET'], paths: ['/kept/**'] }],
  })
  await assertEnded(lost, 'permission_denied')
  // What a call is limited to changes nothing for one that was allowed.
  await operator.send('PUT', `/admin/scopes/${access.scope_id}`, {
    rate_limiting: { requests_per_minute: 1 },
    injection_detection: { enabled: true, sensitivity: 'high' },
  })
  await operator.send('PATCH', `/admin/agents/${access.agent.agent_id}`, { agent_name: 'renamed' })
  const again = await keyOf(access)
  await operator.send('DELETE', `/admin/agents/${access.agent.agent_id}/keys/${again.key_id}`)
  assert.ok(kept.stream.isOpen() && kept.waiting.isOpen())
  await operator.send('DELETE', `/admin/scopes/${access.scope_id}`)
  await assertEnded(kept, 'permission_denied')
})

test('an integration that is deleted, or loses a path to another one, ends its calls', async () => {
  const access = await stack.makeAccess()
  const key = access.agent.api_key
  const [kept, lost] = [await openBoth(access, key), await openBoth(access, key, '/inner')]
  const inner = await operator.makeIntegration(`${access.base_url}/inner`)
  await assertEnded(lost, 'permission_denied')
  assert.ok(kept.stream.isOpen() && kept.waiting.isOpen())
  for (const { integration_id } of [inner, access.integration])
    await operator.send('DELETE', `/admin/integrations/${integration_id}?cascade=true`)
  await assertEnded(kept, 'integration_not_found')
})

test('a tunnel that is passed through unread ends with its key, and when its host gets an integration', async () => {
  const { hostname, host } = new URL(origin('blind'))
  const access = await stack.makeAccess()
  const { key, key_id } = await keyOf(access)
  const open = async (with_key: string) => {
    const { socket, status } = await client.tunnel(host, { key: with_key })
    assert.equal(status, 200)
    return { closed: once(socket.on('error', () => undefined).resume(), 'close'), socket }
  }
  const [first, second] = [await open(key), await open(access.agent.api_key)]
  await operator.send('DELETE', `/admin/agents/${access.agent.agent_id}/keys/${key_id}`)
  await first.closed
  assert.equal(second.socket.destroyed, false)
  const { integration_id } = await operator.makeIntegration(`https://${hostname}:1`)
  await second.closed
  await operator.send('DELETE', `/admin/integrations/${integration_id}`)
})

test('an intercepted tunnel, and the calls in it, end with their key', async () => {
  const access = await stack.makeAccess()
  const { key, key_id } = await keyOf(access)
  const { host, hostname, pathname } = new URL(access.base_url)
  const { socket } = await client.tunnel(host, { key })
  const secure = await client.tls(socket, { servername: hostname })
  let text = ''
  secure
    .on('error', () => undefined)
    .on('data', (part: Buffer) => {
      text += part.toString('latin1')
    })
  const closed = once(secure, 'close')
  secure.write(`GET ${pathname}/slow HTTP/1.1\r\nHost: ${host}\r\n\r\n`)
  const sent = api.mark()
  await until(
    'it has begun',
    () => sent().some(({ path }) => path === `${pathname}/slow`) || text !== '',
  )
  await operator.send('DELETE', `/admin/agents/${access.agent.agent_id}/keys/${key_id}`)
  await closed
  assert.match(text, /^HTTP\/1.1 503 [^]*invalid_api_key/)
})

const soon = (ms: number): string => new Date(Date.now() + ms).toISOString()

test('at the end of a scope with end_streams its calls end; those of another scope, and of one that lets them, run on', async () => {
  const access = await stack.makeAccess()
  const key = access.agent.api_key
  const change = (members: object) =>
    operator.send('PATCH', `/admin/scopes/${access.scope_id}`, members)
  const open = await openBoth(access, key)
  const expires_at = soon(1_500)
  await change({ expires_at, end_streams: true })
  await assertEnded(open, 'permission_denied')
  assert.ok(Date.now() >= Date.parse(expires_at) - 50, 'not before its end')
  const ask = () => fetch(`${stack.proxyUrl}/${access.base_url}/hello`, { headers: access.headers })
  const sent = api.mark()
  const refused = await ask()
  const { error, details } = (await refused.json()) as { error: string; details: any }
  assert.deepEqual([refused.status, error], [403, 'permission_denied'])
  assert.deepEqual(
    [details.reason, details.expires_at, details.agent_scopes],
    ['scope_expired', expires_at, [details.scope]],
  )
  assert.equal(sent().length, 0)
  // An entry is explained by the scopes of its own time.
  const question = {
    agent_id: access.agent.agent_id,
    method: 'GET',
    url: `${access.base_url}/hello`,
  }
  const explain = (at?: string) => operator.send('POST', '/admin/explain', { ...question, at })
  assert.equal((await explain()).details.reason, 'scope_expired')
  assert.equal(
    (await explain(new Date(Date.parse(expires_at) - 1).toISOString())).answer,
    'allowed',
  )

  await change({ expires_at: null, end_streams: false, not_before: soon(60_000) })
  const early = (await (await ask()).json()) as { details: { reason: string } }
  assert.equal(early.details.reason, 'scope_not_yet')
  await change({ not_before: null, expires_at: soon(1_500) })
  const outlives = await openBoth(access, key)
  await until('the scope has ended', async () => (await ask()).status === 403)
  assert.ok(outlives.stream.isOpen() && outlives.waiting.isOpen())
  // Any change of the end is a decision about what runs.
  await change({ expires_at: soon(-1_000) })
  await assertEnded(outlives, 'permission_denied')
})

test('a scope that selects agents by labels follows them: for new calls, and for those that run', async () => {
  const integration = await operator.makeIntegration(stack.ownBaseUrl())
  const team = `team-${integration.integration_id.slice(4)}`
  const scope = await operator.send('POST', '/admin/scopes', {
    name: 'team',
    agent_selector: { match_labels: { team } },
    integration_id: integration.integration_id,
    rules: [{ methods: ['*'], paths: ['/**'] }],
    injection_detection: { enabled: false },
  })
  assert.deepEqual([scope.agent_id, scope.affected_agents], [null, 0])
  const agent = await operator.makeAgent({ labels: { team } })
  const other = await operator.makeAgent()
  const ref = { scope_id: scope.scope_id, name: 'team' }
  assert.deepEqual((agent as any).scopes_gained, [ref])
  const access = { agent, base_url: integration.base_url } as Access
  const statusOf = async ({ api_key }: typeof agent): Promise<number> => {
    const headers = { authorization: `Bearer ${api_key}` }
    const answer = await fetch(`${stack.proxyUrl}/${integration.base_url}/hello`, { headers })
    await answer.arrayBuffer()
    return answer.status
  }
  assert.deepEqual([await statusOf(agent), await statusOf(other)], [200, 403])
  const path = `/admin/agents/${agent.agent_id}`
  const effective = () => operator.send('GET', `${path}/scopes?effective=true`)
  assert.deepEqual(
    (await effective()).data.map((one: any) => one.scope_id),
    [scope.scope_id],
  )
  assert.deepEqual((await operator.send('GET', `${path}/scopes`)).data, [])
  const agents = await operator.send('GET', `/admin/scopes/${scope.scope_id}/agents`)
  assert.deepEqual(
    agents.data.map((one: any) => one.agent_id),
    [agent.agent_id],
  )
  const question = { agent_id: agent.agent_id, method: 'GET', url: `${integration.base_url}/x` }
  assert.equal((await operator.send('POST', '/admin/explain', question)).scope.name, 'team')

  const open = await openBoth(access, agent.api_key)
  const dry = await operator.send('PATCH', `${path}?dry_run=true`, { labels: { team: null } })
  assert.deepEqual(dry.scopes_lost, [ref])
  const wider = { agent_selector: { match_labels: { team: 'none' } } }
  const place = `/admin/scopes/${scope.scope_id}`
  assert.equal((await operator.send('PATCH', `${place}?dry_run=true`, wider)).affected_agents, 0)
  assert.equal(await statusOf(agent), 200)
  assert.ok(open.stream.isOpen() && open.waiting.isOpen())
  const lost = await operator.send('PATCH', path, { labels: { team: null } })
  assert.deepEqual([lost.scopes_lost, lost.labels], [[ref], {}])
  assert.equal(await statusOf(agent), 403)
  await assertEnded(open, 'permission_denied')

  await operator.send('PATCH', path, { labels: { team } })
  const again = await openBoth(access, agent.api_key)
  await operator.send('PATCH', place, wider)
  assert.equal(await statusOf(agent), 403)
  await assertEnded(again, 'permission_denied')
  await operator.send('DELETE', place)
})

test('a scope that selects integrations by labels follows them', async () => {
  const { agent_id, api_key } = await operator.makeAgent()
  const integration = await operator.makeIntegration(stack.ownBaseUrl())
  const set = `set-${integration.integration_id.slice(4)}`
  const scope = await operator.send('POST', '/admin/scopes', {
    name: 'set',
    agent_id,
    integration_selector: { match_expressions: [{ key: 'set', operator: 'In', values: [set] }] },
    rules: [{ methods: ['GET'], paths: ['/**'] }],
    injection_detection: { enabled: false },
  })
  const statusOf = async (): Promise<number> => {
    const headers = { authorization: `Bearer ${api_key}` }
    const answer = await fetch(`${stack.proxyUrl}/${integration.base_url}/hello`, { headers })
    await answer.arrayBuffer()
    return answer.status
  }
  assert.equal(await statusOf(), 403)
  const label = (labels: object) =>
    operator.send('PATCH', `/admin/integrations/${integration.integration_id}`, { labels })
  const { scopes_gained } = await label({ set })
  assert.deepEqual(scopes_gained, [{ scope_id: scope.scope_id, name: 'set' }])
  assert.equal(await statusOf(), 200)
  const access = { agent: { agent_id }, base_url: integration.base_url } as Access
  const open = await openBoth(access, api_key)
  assert.equal((await label({ set: null })).scopes_lost.length, 1)
  await assertEnded(open, 'permission_denied')
  assert.equal(await statusOf(), 403)
})

test('a selector is refused that selects everything, or by exclusion without the number; a dry run makes nothing', async () => {
  const integration = await operator.makeIntegration(stack.ownBaseUrl())
  const body = {
    name: 'refused',
    integration_id: integration.integration_id,
    rules: [{ methods: ['GET'], paths: ['/**'] }],
  }
  const create = (more: object, expect?: number, query = '') =>
    operator.send('POST', `/admin/scopes${query}`, { ...body, ...more }, expect)
  const { agent_id } = await operator.makeAgent({ labels: { excluded: 'yes' } })
  const excluding = {
    agent_selector: { match_expressions: [{ key: 'excluded', operator: 'DoesNotExist' }] },
  }
  for (const more of [
    {},
    { agent_selector: null },
    { agent_selector: {} },
    { agent_selector: { match_labels: {} } },
    { agent_id, agent_selector: { match_labels: { a: 'b' } } },
    { agent_selector: { match_labels: { 'a b': 'c' } } },
    { agent_id: '*', agent_selector: null },
    { agent_selector: { match_labels: { a: 'b' } }, integration_id: '*' },
    excluding,
    { ...excluding, confirm_affected: 0 },
  ])
    assert.equal((await create(more, 400)).error, 'validation_failed', JSON.stringify(more))
  const { details } = await create(excluding, 400)
  const [, count = ''] = /must be (\d+):/.exec(details.issues[0].message) ?? []
  assert.ok(Number(count) > 0, JSON.stringify(details))
  const confirmed = { ...excluding, confirm_affected: Number(count) }
  const dry = await create(confirmed, 200, '?dry_run=true')
  assert.equal(dry.affected_agents, Number(count))
  await operator.send('GET', `/admin/scopes/${dry.scope_id}`, undefined, 404)
  const made = await operator.send('POST', '/admin/agents?dry_run=true', { agent_name: 'dry' }, 200)
  assert.equal('api_key' in made, false)
  await operator.send('GET', `/admin/agents/${made.agent_id}`, undefined, 404)
  const narrow = await create({ agent_selector: { match_labels: { excluded: 'yes' } } })
  const place = `/admin/scopes/${narrow.scope_id}`
  await operator.send('PATCH', place, excluding, 400)
  await operator.send('PATCH', place, { agent_selector: null }, 400)
  await operator.send('DELETE', place)
})
