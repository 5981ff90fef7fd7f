import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { ALL_LOCKS_MAX } from '../../core/kill/publish-lock.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { chunksOf } from '../../core/system/chunks-of.ts'
import { logEntries } from '../kit/log-entries.ts'
import { closeOpenCalls, openCall } from '../kit/open-call.ts'
import { type Access, type Operator, operatorAt } from '../kit/operator.ts'
import { LOCKS } from '../kit/restrictions.ts'
import { type Fleet, startFleet } from '../kit/start-fleet.ts'
import { until } from '../kit/until.ts'

let fleet: Fleet
/** Of another organization. */
let bystander: { readonly operator: Operator; readonly access: Access }

before(async () => {
  fleet = await startFleet({ edges: [{ region: 'north' }, { region: 'south' }] })
  const other = await fleet.operator.send('POST', '/admin/organizations', { name: 'other' })
  const operator = operatorAt(fleet.admin.url, other.admin_token)
  bystander = { operator, access: await operator.makeAccess(`${fleet.upstream.origin}/bystander`) }
})

after(async () => {
  closeOpenCalls()
  await fleet.stop()
})

let count = 0
const makeAccess = (scope = {}): Promise<Access> =>
  fleet.operator.makeAccess(`${fleet.upstream.origin}/l${++count}`, { scope })

const url = (): string => fleet.envoys[0]?.url ?? ''
/** With a body it is a POST. */
const callOf = (access: Access, path: string, body?: string, more = {}) =>
  openCall(url(), `${access.base_url}${path}`, { ...access.headers, ...more }, body)
const lock = (body: object, expect?: number): Promise<any> =>
  fleet.operator.send('POST', '/admin/locks', body, expect)
const unlock = (lock_id: string): Promise<unknown> =>
  fleet.operator.send('DELETE', `/admin/locks/${lock_id}`, { reason: 'test' })

for (const { name, impose, lift } of LOCKS)
  test(`${name}: cuts what it refuses, answers a receipt, and lets all pass when it is lifted`, async () => {
    const access = await makeAccess()
    const reads = [callOf(access, '/sse'), callOf(access, '/wait')]
    const writes = [callOf(access, '/sse', 'x'), callOf(access, '/wait', 'x')]
    const others = name.includes('everything') ? [] : [callOf(bystander.access, '/sse', 'x')]
    for (const stream of [reads[0], writes[0], ...others]) assert.equal(await stream?.answered, 200)
    const from = `/l${count}/wait`
    await until('all calls have begun', () => {
      return fleet.upstream.begun.filter(({ path }) => path === from).length === 2
    })
    const isReadOnly = name.includes('read_only')
    const receipt = await impose(fleet.operator, access)
    assert.deepEqual([receipt.complete, receipt.ignored], [true, []])
    assert.equal(receipt.in_flight_requests_terminated, isReadOnly ? 2 : 4)
    assert.deepEqual(receipt.edges.map(({ region }: any) => region).sort(), ['north', 'south'])
    const cut = isReadOnly ? writes : [...reads, ...writes]
    const ends = await Promise.all(cut.map(({ ended }) => ended))
    const [streamed, waited] = ends.slice(-2)
    assert.equal(streamed?.is_whole, false)
    assert.deepEqual([waited?.status, waited?.reason], [503, 'locked'])
    assert.equal(JSON.parse(waited?.text ?? '').details.lock_id, receipt.lock_id)
    assert.deepEqual(
      [...reads, ...others].map(({ isOpen }) => isOpen()),
      [isReadOnly, isReadOnly, ...others.map(() => true)],
    )
    for (const one of [...reads, ...others]) one.abort()
    const write = await callOf(access, '/dead', 'x').ended
    assert.deepEqual([write.status, write.reason], [403, 'locked'])
    const read = await callOf(access, isReadOnly ? '/read' : '/dead').ended
    assert.equal(read.status, isReadOnly ? 200 : 403)
    assert.ok(!fleet.upstream.begun.some(({ path }) => path.includes('/dead')))
    await lift(fleet.operator, access)
    assert.equal((await callOf(access, '/after', 'x').ended).status, 200)
    await until('nothing is left to do', async () => {
      return (await fleet.redis.hlen(REDIS_KEYS.lockings)) === 0
    })
  })

test('an agent whose record cannot be read is locked', async () => {
  const { agent } = await makeAccess()
  const agents = REDIS_KEYS.agents('org_default')
  const stored = (await fleet.redis.hget(agents, agent.agent_id)) ?? ''
  await fleet.redis.hset(agents, agent.agent_id, stored.slice(0, -1))
  const { lock_id } = await lock({ target: { agent_id: agent.agent_id } })
  await fleet.redis.hset(agents, agent.agent_id, stored)
  await unlock(lock_id)
})

test('with one known target nothing else in the body makes it fail; without, nothing is locked', async () => {
  const access = await makeAccess()
  const { agent_id } = access.agent
  const send = async (body: string, headers: Record<string, string> = {}) => {
    const answer = await fetch(`${fleet.admin.url}/admin/locks`, {
      method: 'POST',
      headers: { authorization: `Bearer ${fleet.admin.token}`, ...headers },
      body,
    })
    return { status: answer.status, body: (await answer.json()) as any }
  }
  const odd = {
    target: { agent_id, key_id: null, team: 'x' },
    mode: 'pause',
    message: 7,
    expires_at: 'tomorrow',
    reason: 'x',
    lock_id: 'lck_mine',
  }
  const types = [
    'text/plain',
    'application/x-www-form-urlencoded',
    'not a type',
    'application/json',
  ]
  for (const type of types) {
    const made = await send(JSON.stringify(odd), { 'content-type': type })
    assert.equal(made.status, 201, type)
    const { mode, expires_at, message, ignored, lock_id } = made.body
    assert.deepEqual([mode, expires_at, message], ['deny', null, '7'])
    assert.deepEqual(ignored.toSorted(), ['expires_at', 'lock_id', 'mode', 'reason', 'target.team'])
    assert.equal((await callOf(access, '/x').ended).reason, 'locked')
    await unlock(lock_id)
  }
  const long = { message: 'x'.repeat(500_000), target: { agent_id }, mode: 'read_only' }
  const made = await send(JSON.stringify(long))
  assert.deepEqual([made.status, made.body.mode, made.body.ignored], [201, 'read_only', []])
  await unlock(made.body.lock_id)
  // What is above the limit is not read, so that only the target is.
  const cut = await send(JSON.stringify({ target: { agent_id }, message: 'x'.repeat(2_000_000) }))
  assert.deepEqual([cut.status, cut.body.mode, cut.body.ignored], [201, 'deny', ['body']])
  await unlock(cut.body.lock_id)
  const past = await lock({ target: { agent_id }, expires_at: '2020-01-01T00:00:00Z' })
  assert.deepEqual([past.expires_at, past.ignored], [null, ['expires_at']])
  await unlock(past.lock_id)
  const foreign = bystander.access
  const wrong: [number, object | string][] = [
    [400, ''],
    [400, '{"target"'],
    [400, { target: {} }],
    [400, { agent_id }],
    [400, { target: agent_id }],
    [400, { target: { team: 'x' } }],
    [400, { target: { agent_id, everything: true } }],
    [400, { target: { agent_id, scope_id: access.scope_id } }],
    [400, { target: { everything: 'yes' } }],
    [400, { target: { agent_selector: {} } }],
    [400, { target: { agent_selector: { match_labels: {} } } }],
    [400, { target: { agent_id: ['x'] } }],
    // Above what is read, there is no target.
    [400, { message: 'x'.repeat(2_000_000), target: { agent_id } }],
    [404, { target: { agent_id: foreign.agent.agent_id } }],
    [404, { target: { scope_id: foreign.scope_id } }],
    [404, { target: { integration_id: foreign.integration.integration_id } }],
    [404, { target: { organization_id: 'org_none' } }],
    [404, { target: { key_id: 'key_none' } }],
  ]
  for (const [status, body] of wrong) {
    const answer = await send(typeof body === 'string' ? body : JSON.stringify(body))
    assert.equal(answer.status, status, JSON.stringify(body))
  }
  assert.deepEqual((await fleet.operator.send('GET', '/admin/locks')).data, [])
  assert.equal(await fleet.redis.hlen(REDIS_KEYS.lockPlaces), 0)
})

test('a request that is sent again with its Idempotency-Key locks once; no key prevents a lock', async () => {
  const access = await makeAccess()
  const { agent_id } = access.agent
  const send = async (key: string, more: object = {}, token = fleet.admin.token) => {
    const answer = await fetch(`${fleet.admin.url}/admin/locks`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'idempotency-key': key },
      body: JSON.stringify({ target: { agent_id }, ...more }),
    })
    assert.equal(answer.status, 201, key)
    const is_replayed = answer.headers.get('idempotent-replayed') === 'true'
    return { ...((await answer.json()) as any), is_replayed }
  }
  const stands = async (lock_ids: readonly string[]): Promise<void> => {
    const { data } = await fleet.operator.send('GET', '/admin/locks')
    const found = data.map((one: { lock_id: string }) => one.lock_id)
    assert.deepEqual(found.toSorted(), lock_ids.toSorted())
  }
  const stream = callOf(access, '/sse')
  assert.equal(await stream.answered, 200)
  const first = await send('one')
  assert.deepEqual(
    [first.is_replayed, first.complete, first.in_flight_requests_terminated],
    [false, true, 1],
  )
  assert.deepEqual(await send('one'), { ...first, is_replayed: true })
  // With UTF-8 of two bytes the caller has to sign in first; the script is another.
  const large = { message: 'é'.repeat(100_000) }
  const signed = await send('one', large)
  assert.equal((await send('one', large)).lock_id, signed.lock_id)
  const at_once = await Promise.all(Array.from({ length: 8 }, () => send('two')))
  assert.equal(new Set(at_once.map(({ lock_id }) => lock_id)).size, 1)
  assert.ok(at_once.every(({ complete }) => complete))
  const { token } = await fleet.operator.send('POST', '/admin/tokens', {
    email: 'second@example.com',
    role: 'operator',
  })
  const of_others = await send('one', {}, token)
  const of_body = await send('one', { mode: 'read_only' })
  const odd = [await send('two keys'), await send('two keys'), await send('k'.repeat(256))]
  const made = [first, signed, at_once[0], of_others, of_body, ...odd]
  assert.ok(made.slice(3).every(({ is_replayed }) => !is_replayed))
  await stands(made.map(({ lock_id }) => lock_id))
  // Page by page they are the same, in the same order, and the one that a page ends with may have been lifted since.
  const all = (await fleet.operator.send('GET', '/admin/locks')).data
  const paged: object[] = []
  let lifted = ''
  for (let cursor: string | null = ''; cursor !== null; ) {
    const query = `limit=3${cursor && `&cursor=${cursor}`}`
    const page = await fleet.operator.send('GET', `/admin/locks?${query}`)
    assert.ok(page.data.length <= 3)
    paged.push(...page.data)
    if (cursor === '') await unlock((lifted = page.data.at(-1).lock_id))
    cursor = page.next_cursor
  }
  assert.deepEqual(paged, all)
  for (const query of ['limit=0', 'limit=201', 'limit=x', 'cursor=x', 'cursor='])
    await fleet.operator.send('GET', `/admin/locks?${query}`, undefined, 400)
  // What it has created is in force no more.
  await unlock(first.lock_id)
  const again = await send('one')
  assert.notEqual(again.lock_id, first.lock_id)
  assert.equal(again.is_replayed, false)
  for (const { lock_id } of [again, ...made.slice(1)]) if (lock_id !== lifted) await unlock(lock_id)
  assert.equal((await callOf(access, '/after').ended).status, 200)
})

test('who may lock what, and who sees and lifts it', async () => {
  const access = await makeAccess()
  const target = { agent_id: access.agent.agent_id }
  const as = async (role: string) => {
    const { token } = await fleet.operator.send('POST', '/admin/tokens', {
      email: `${role}@example.com`,
      role,
      name: role,
    })
    return operatorAt(fleet.admin.url, token)
  }
  const [viewer, worker] = [await as('viewer'), await as('operator')]
  await viewer.send('POST', '/admin/locks', { target }, 403)
  await worker.send('POST', '/admin/locks', { target: { everything: true } }, 403)
  await bystander.operator.send('POST', '/admin/locks', { target: { everything: true } }, 403)
  const { organization_id: other } = await bystander.operator.send('GET', '/admin/whoami')
  await worker.send('POST', '/admin/locks', { target: { organization_id: other } }, 404)
  await bystander.operator.send(
    'POST',
    '/admin/locks',
    { target: { organization_id: 'org_default' } },
    404,
  )
  const own = await worker.send('POST', '/admin/locks', { target })
  await worker.send('DELETE', `/admin/locks/${own.lock_id}`, {}, 403)
  await bystander.operator.send('DELETE', `/admin/locks/${own.lock_id}`, {}, 404)
  await bystander.operator.send('GET', `/admin/locks/${own.lock_id}`, undefined, 404)
  assert.equal(
    (await viewer.send('GET', `/admin/locks/${own.lock_id}`)).created_by,
    'operator@example.com',
  )
  await fleet.operator.send('DELETE', `/admin/locks/${own.lock_id}`, { reason: null })
  await fleet.operator.send('DELETE', `/admin/locks/${own.lock_id}`, {}, 404)
  // Another organization sees that it is locked, and by nobody that it knows, and cannot lift it.
  const foreign = await lock({
    target: { organization_id: other },
    message: 'unpaid',
    reference: 'R',
  })
  const call = await callOf(bystander.access, '/x').ended
  assert.deepEqual([call.status, call.reason], [403, 'locked'])
  assert.equal((await callOf(access, '/x').ended).status, 200)
  const { data } = await bystander.operator.send('GET', '/admin/locks')
  assert.deepEqual(
    data.map(({ lock_id, created_by, reference, message }: any) => ({
      lock_id,
      created_by,
      reference,
      message,
    })),
    [{ lock_id: foreign.lock_id, created_by: null, reference: null, message: 'unpaid' }],
  )
  await bystander.operator.send('DELETE', `/admin/locks/${foreign.lock_id}`, {}, 403)
  await unlock(foreign.lock_id)
  assert.equal((await callOf(bystander.access, '/x').ended).status, 200)
  // So does its log.
  const logged = (await logEntries(fleet.redis, other)).filter(({ event }: any) =>
    event.endsWith('locked'),
  )
  assert.deepEqual(
    logged.map(({ event, source_ip, data }: any) => ({
      event,
      source_ip,
      message: data.message,
      hidden: [data.triggered_by, data.reference, data.reason ?? null],
    })),
    ['locked', 'unlocked'].map((event) => ({
      event,
      source_ip: null,
      message: 'unpaid',
      hidden: [null, null, null],
    })),
  )
  const named = (await logEntries(fleet.redis, 'org_default')).filter(
    ({ event, data }: any) => event.endsWith('locked') && data.lock_id === own.lock_id,
  )
  const { agent_name } = access.agent
  assert.deepEqual(
    named.map((entry: any) => [entry.event, entry.agent_name]),
    [
      ['locked', agent_name],
      ['unlocked', agent_name],
    ],
  )
})

test('a preview counts what a lock would concern, and locks nothing', async () => {
  const access = await makeAccess()
  const { agent_id } = access.agent
  const stream = callOf(access, '/sse')
  assert.equal(await stream.answered, 200)
  const preview = (target: object): Promise<any> =>
    fleet.operator.send('POST', '/admin/locks?preview=true', { target })
  await until('the call is counted', async () => (await preview({ agent_id })).in_flight === 1)
  const { agents, tunnels, edges } = await preview({ agent_id })
  assert.deepEqual([agents, tunnels, edges], [1, 0, 2])
  const all = await preview({ everything: true })
  assert.ok(all.agents > 2 && all.in_flight >= 1, JSON.stringify(all))
  for (const target of [{ scope_id: access.scope_id }, { organization_id: 'org_default' }])
    assert.ok((await preview(target)).agents >= 1)
  // By labels too: of agents, of integrations, and of an agent with a scope of its own once.
  const labels = { preview: 'yes' }
  const labelled = await fleet.operator.makeAgent({ labels })
  await fleet.operator.makeAgent({ labels })
  const integration = await fleet.operator.makeIntegration(`${fleet.upstream.origin}/lp`, {
    labels,
  })
  const { integration_id } = integration
  const agent_selector = { match_labels: labels }
  const by = (more: object): Promise<any> =>
    fleet.operator.makeScope('', '', { agent_id: undefined, integration_id, ...more })
  const selecting = await by({ agent_selector })
  await by({ agent_id: labelled.agent_id })
  await by({ agent_id, integration_id: undefined, integration_selector: agent_selector })
  assert.equal((await preview({ scope_id: selecting.scope_id })).agents, 2)
  assert.equal((await preview({ integration_id })).agents, 3)
  const selected = await preview({ agent_selector })
  assert.deepEqual([selected.agents, selected.in_flight], [2, 0])
  await fleet.operator.send('PATCH', `/admin/agents/${agent_id}`, { labels })
  await until('the call is counted by labels', async () => {
    return (await preview({ agent_selector })).in_flight === 1
  })
  // Whoever means a trial must not get a lock, nor a kill.
  for (const query of ['dry_run=true', 'dry_run', 'dry_run=1']) {
    const path = `/admin/agents/${agent_id}/kill?${query}`
    const trial = await fleet.operator.send('POST', path, { reason: 'a trial' })
    assert.deepEqual([trial.in_flight, trial.keys], [1, 1])
  }
  for (const query of ['preview=1', 'preview', 'preview=true&preview=true', 'dry_run=true']) {
    const trial = await fleet.operator.send('POST', `/admin/locks?${query}`, {
      target: { agent_id },
    })
    assert.equal(trial.agents, 1, query)
  }
  assert.equal(await fleet.redis.hlen(REDIS_KEYS.lockPlaces), 0)
  assert.ok(stream.isOpen())
  stream.abort()
})

test('locks that are over make room where a deployment has as many as it may', async () => {
  const { lockPlaces, lockEnds } = REDIS_KEYS
  const { agent } = await makeAccess()
  const target = { agent_id: agent.agent_id }
  const filler = Array.from({ length: ALL_LOCKS_MAX - 1 }, (_, i) => `lck_filler_${i}`)
  for (const some of chunksOf(filler, 10_000))
    await fleet.redis.hset(lockPlaces, ...some.flatMap((id) => [id, 'org_default']))
  const soon = new Date(Date.now() + 300).toISOString()
  const last = await lock({ target, expires_at: soon })
  assert.equal(await fleet.redis.zcard(lockEnds), 1)
  const made = await until('it is over', () => lock({ target }).catch(() => null))
  assert.equal(await fleet.redis.hexists(lockPlaces, last.lock_id), 0)
  assert.equal(await fleet.redis.hexists(REDIS_KEYS.locks('org_default'), last.lock_id), 0)
  assert.equal(await fleet.redis.zcard(lockEnds), 0)
  await lock({ target }, 409)
  await unlock(made.lock_id)
  for (const some of chunksOf(filler, 10_000)) await fleet.redis.hdel(lockPlaces, ...some)
})

test('read_only refuses whatever may make the API do more than read', async () => {
  const access = await makeAccess({
    injection_detection: { enabled: false },
    rules: [{ methods: ['*'], paths: ['/**'], upgrade: ['websocket'] }],
  })
  const { lock_id } = await lock({ target: { scope_id: access.scope_id }, mode: 'read_only' })
  const ask = async (method: string, path: string, headers = {}, body?: string) => {
    const answer = await fetch(`${url()}/${access.base_url}${path}`, {
      method,
      headers: { ...access.headers, ...headers },
      ...(body === undefined ? {} : { body }),
    })
    return `${answer.status} ${answer.headers.get('x-agw-reason') ?? ''}`.trim()
  }
  for (const method of ['GET', 'HEAD', 'OPTIONS']) assert.equal(await ask(method, '/ok'), '200')
  assert.equal(await ask('GET', '/ok', { 'x-http-method-override': 'GET' }), '200')
  const refused = '403 locked'
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'REPORT'])
    assert.equal(await ask(method, '/bad', {}, 'x'), refused, method)
  for (const name of ['x-http-method-override', 'x-http-method', 'x-method-override'])
    for (const method of ['DELETE', 'post', 'PUT'])
      assert.equal(await ask('GET', '/bad', { [name]: method }), refused, `${name}: ${method}`)
  const query = 'query A { a } mutation B { b }'
  const mutations = [
    query,
    encodeURIComponent(query),
    '%6dutation%20%7B%20b%20%7D',
    'mutation%257Bb%257D',
  ]
  for (const text of ['_method=DELETE', ...mutations.map((one) => `query=${one}`)])
    for (const method of ['GET', 'HEAD', 'OPTIONS'])
      assert.equal(await ask(method, `/bad?${text}`), refused, text)
  for (const text of ['query={mutations{id}}', 'q=gene+mutation', 'query=subscription{a}'])
    assert.equal(await ask('GET', `/ok?${text}`), '200', text)
  assert.match(await ask('GET', '/bad', { 'x-http-method-override': 'TRACE' }), /^403/)
  const socket = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' }
  const shaken = callOf(access, '/bad', undefined, {
    ...socket,
    'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
  })
  assert.deepEqual([(await shaken.ended).status, (await shaken.ended).reason], [403, 'locked'])
  assert.ok(!fleet.upstream.begun.some(({ path }) => path.includes('/bad')))
  await unlock(lock_id)
})

test('of MCP, read_only lets pass what only reads, by the scope and not by the server', async () => {
  const access = await makeAccess({
    read_tools: ['read_*', 'list_files'],
    rules: [{ methods: ['*'], paths: ['/mcp'] }],
  })
  const none = await makeAccess({ rules: [{ methods: ['*'], paths: ['/mcp'] }] })
  const target = { organization_id: 'org_default' }
  const { lock_id } = await lock({ target, mode: 'read_only', message: 'Ledger audit' })
  const post = async (body: object | string, by = access) => {
    const answer = await fetch(`${url()}/${by.base_url}/mcp`, {
      method: 'POST',
      headers: { ...by.headers, 'content-type': 'application/json' },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })
    return {
      status: answer.status,
      text: await answer.text(),
      reason: answer.headers.get('x-agw-reason'),
    }
  }
  const message = (method: string, params?: object) => ({ jsonrpc: '2.0', id: 1, method, params })
  const tool = (name: unknown) => message('tools/call', { name, arguments: {} })
  for (const body of [
    message('initialize'),
    message('tools/list'),
    { jsonrpc: '2.0', method: 'notifications/initialized' },
    tool('read_file'),
    tool('list_files'),
  ])
    assert.deepEqual(await post(body), { status: 200, text: 'ok', reason: null })
  const before = fleet.upstream.begun.length
  for (const body of [
    tool('write_file'),
    tool('Read_file'),
    tool('read_file\u200b'),
    tool(null),
    message('Tools/Call', { name: 'write_file' }),
    message('resources/subscribe'),
    message('delete_everything'),
    [tool('read_file'), tool('read_file')],
    [tool('read_file'), { method: 'x' }],
    { jsonrpc: '2.0', id: 1, result: {} },
    { amount: 5 },
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read_file","name":"write_file"}}',
    '{"jsonrpc":"2.0","id":1,"method":"ping"} {"jsonrpc":"2.0","id":1,"method":"x"}',
    '',
  ])
    assert.equal((await post(body)).reason !== null, true, JSON.stringify(body))
  assert.equal((await post(tool('read_file'), none)).reason, 'locked')
  assert.equal(fleet.upstream.begun.length, before)
  const shown = await post(tool('write_file'))
  assert.equal(shown.status, 200)
  const { id, result } = JSON.parse(shown.text)
  assert.deepEqual([id, result.isError], [1, true])
  assert.match(result.content[0].text, /Ledger audit/)
  await unlock(lock_id)
})

test('labels that come under a lock end what runs, in whichever order edits, locks, lifts and kills arrive', async () => {
  const access = await makeAccess()
  const { agent_id } = access.agent
  const label = (quarantine: string | null) =>
    fleet.operator.send('PATCH', `/admin/agents/${agent_id}`, { labels: { quarantine } })
  const target = { agent_selector: { match_labels: { quarantine: 'yes' } } }
  const ends: Promise<{ readonly is_whole: boolean }>[] = []
  const stream = async (): Promise<void> => {
    const { answered, ended } = callOf(access, '/sse', 'x')
    assert.equal(await answered, 200)
    ends.push(ended)
  }
  const answer = async (): Promise<string> => {
    const { status, reason } = await callOf(access, '/raced', 'x').ended
    return `${status} ${reason}`
  }
  const first = await lock({ target })
  await stream()
  await label('yes')
  assert.equal(await answer(), '403 locked')
  await label(null)
  await stream()
  await unlock(first.lock_id)
  // Both at once.
  const [{ lock_id }] = await Promise.all([lock({ target }), label('yes')])
  assert.equal(await answer(), '403 locked')
  // One ends while another begins.
  const [next] = await Promise.all([lock({ target }), unlock(lock_id)])
  assert.equal(await answer(), '403 locked')
  const kill = () => fleet.operator.send('POST', `/admin/agents/${agent_id}/kill`, {})
  await Promise.all([kill(), label(null), unlock(next.lock_id)])
  assert.equal(await answer(), '403 agent_killed')
  for (const { is_whole } of await Promise.all(ends)) assert.equal(is_whole, false)
  assert.ok(!fleet.upstream.begun.some(({ path }) => path.includes('/raced')))
  await fleet.operator.send('POST', `/admin/agents/${agent_id}/reactivate`, { reason: 'test' })
  const { labels } = await fleet.operator.send('GET', `/admin/agents/${agent_id}`)
  assert.deepEqual(labels, {})
  assert.equal(await answer(), '200 null')
})

test('a lock goes with its organization', async () => {
  const made = await fleet.operator.send('POST', '/admin/organizations', { name: 'short-lived' })
  const operator = operatorAt(fleet.admin.url, made.admin_token)
  const { organization_id } = made
  await operator.send('POST', '/admin/locks', { target: { organization_id } })
  await fleet.operator.send('DELETE', `/admin/organizations/${organization_id}?cascade=true`)
  await until('nothing of it is left', async () => {
    const names = await fleet.redis.keys(`*${organization_id}*`)
    return names.length === 0 && (await fleet.redis.hlen(REDIS_KEYS.lockPlaces)) === 0
  })
})

/** The lock is refused with, listed, and the admin service killed, before it is over, on a machine that is busy too. */
const LASTS_MS = 10_000

test('what a lock says is shown to the caller, with its end, and it ends by itself', async () => {
  const access = await makeAccess()
  const expires_at = new Date(Date.now() + LASTS_MS).toISOString()
  const target = { agent_id: access.agent.agent_id }
  const made = await lock({
    target,
    message: 'Maintenance of the ledger',
    expires_at,
    reference: 'INC-1',
  })
  const refused = await fetch(`${url()}/${access.base_url}/x`, { headers: access.headers })
  assert.equal(refused.status, 403)
  const { details } = (await refused.json()) as any
  const { lock_id, message } = made
  assert.deepEqual(details, { lock_id, message, expires_at })
  assert.equal(message, 'Maintenance of the ledger')
  const after_s = Number(refused.headers.get('retry-after'))
  assert.ok(after_s >= 1 && after_s <= LASTS_MS / 1_000, String(after_s))
  const listed = await fleet.operator.send('GET', '/admin/locks')
  const { ignored: _, ...view } = made
  assert.deepEqual(
    listed.data.find((one: any) => one.lock_id === lock_id),
    view,
  )
  // Also while no admin service runs: each edge decides by the clock of the store.
  await fleet.admin.kill()
  try {
    await until('the lock is over', async () => (await callOf(access, '/x').ended).status === 200)
    assert.ok(Date.now() >= Date.parse(expires_at) - 1_000)
  } finally {
    await fleet.restartAdmin()
  }
  // A process that reads the lock from the store knows that it is over.
  const [edge] = fleet.edges
  edge?.signal('SIGKILL')
  await edge?.exited()
  await edge?.restart()
  await until('the edge serves', async () => (await callOf(access, '/x').ended).status !== 503)
  for (let i = 0; i < 4; i++) assert.equal((await callOf(access, '/x').ended).status, 200)
})
