import assert from 'node:assert/strict'
import { Writable } from 'node:stream'
import { after, before, test } from 'node:test'
import { runKill } from '../../cli/commands/kill.ts'
import { runReactivate } from '../../cli/commands/reactivate.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { fromRoot } from '../../core/system/root.ts'
import { STORE_FORMAT } from '../../core/store/stored-record.ts'
import { logEntries } from '../kit/log-entries.ts'
import { startAdmin } from '../kit/start-admin.ts'
import { closeOpenCalls, openCall } from '../kit/open-call.ts'
import { type Access, operatorAt } from '../kit/operator.ts'
import { type Fleet, startFleet } from '../kit/start-fleet.ts'
import { until } from '../kit/until.ts'

let fleet: Fleet

before(async () => {
  fleet = await startFleet({ edges: [{ region: 'north' }, { region: 'south' }] })
})

after(async () => {
  closeOpenCalls()
  await fleet.stop()
})

let count = 0
const makeAccess = (): Promise<Access> =>
  fleet.operator.makeAccess(`${fleet.upstream.origin}/t${++count}`)

const callOf = (access: Access, path: string) =>
  openCall(fleet.envoys[0]?.url ?? '', `${access.base_url}${path}`, access.headers)

const entries = async (query: string): Promise<any[]> => {
  const log: any[] = await logEntries(fleet.redis, 'org_default')
  return log.filter(({ event, data, agent_id }) =>
    `${event} ${data.action} ${agent_id}`.includes(query),
  )
}

test('a kill ends calls in flight with 503 before the answer and by a cut after it, and spares other agents', async () => {
  const [killed, other] = [await makeAccess(), await makeAccess()]
  const waiting = [1, 2, 3].map(() => callOf(killed, '/wait'))
  const streams = [1, 2, 3].map(() => callOf(killed, '/sse'))
  const others = [callOf(other, '/sse'), callOf(other, '/wait')]
  for (const stream of [...streams, others[0]]) assert.equal(await stream?.answered, 200)
  await until('all calls have begun', () => {
    const waits = fleet.upstream.begun.filter(({ path }) => path.includes('/wait'))
    return waits.length >= 4
  })
  const { agent_id } = killed.agent
  const receipt = await fleet.operator.send('POST', `/admin/agents/${agent_id}/kill`, {
    reason: 'test of the switch',
    notify: ['email', 'pigeon'],
  })
  for (const { ended } of waiting) {
    const end = await ended
    assert.equal(end.status, 503)
    assert.equal(end.reason, 'agent_killed')
    assert.equal(JSON.parse(end.text).details.killed_at, receipt.killed_at)
  }
  for (const { ended } of streams) assert.equal((await ended).is_whole, false)
  assert.deepEqual(
    others.map(({ isOpen }) => isOpen()),
    [true, true],
  )
  for (const one of others) one.abort()
  assert.equal(receipt.status, 'killed')
  assert.equal(receipt.complete, true)
  assert.equal(receipt.credentials_revoked, 1)
  assert.equal(receipt.in_flight_requests_terminated, 6)
  assert.deepEqual(receipt.notify_ignored, ['pigeon'])
  assert.deepEqual(receipt.still_usable_keys, [])
  assert.deepEqual(receipt.edges.map(({ region }: any) => region).sort(), ['north', 'south'])
  for (const edge of receipt.edges) assert.ok(edge.acknowledged_ms <= receipt.propagation_ms)

  const refused = await callOf(killed, '/after').ended
  assert.equal(refused.status, 403)
  const body = JSON.parse(refused.text)
  assert.equal(body.error, 'agent_killed')
  assert.deepEqual(body.details, { killed_at: receipt.killed_at })
  assert.ok(!refused.text.includes('test of the switch'))
  assert.ok(!fleet.upstream.begun.some(({ path }) => path.includes('/after')))

  const [event, ...more] = await entries(`agent_killed undefined ${agent_id}`)
  assert.equal(more.length, 0)
  assert.equal(event.data.requests_terminated, 6)
  assert.equal(event.data.propagation_ms, receipt.propagation_ms)
  for (const count of [receipt.propagation_ms, event.data.requests_terminated])
    assert.ok(Number.isInteger(count), String(count))
  assert.equal(event.data.kill_method, 'api')
  assert.equal(event.data.triggered_by, 'admin@localhost')
  assert.equal(event.data.reason, 'test of the switch')
  assert.equal(await fleet.redis.hlen('{agw}:kills'), 0)
})

test('a kill ends the calls of an agent that a newer version has stored since, and leaves what it does not know', async () => {
  const access = await makeAccess()
  const { agent_id } = access.agent
  const stream = callOf(access, '/sse')
  assert.equal(await stream.answered, 200)
  const hash = REDIS_KEYS.agents('org_default')
  const storedAgent = async () => JSON.parse((await fleet.redis.hget(hash, agent_id)) ?? '')
  const newer = { ...(await storedAgent()), later: [1], store_format: STORE_FORMAT + 1 }
  await fleet.redis.hset(hash, agent_id, JSON.stringify(newer))
  const path = `/admin/agents/${agent_id}`
  const receipt = await fleet.operator.send('POST', `${path}/kill`, { reason: 'not stalled' })
  assert.equal((await stream.ended).is_whole, false)
  assert.equal(receipt.complete, true)
  assert.equal(receipt.in_flight_requests_terminated, 1)
  assert.deepEqual(receipt.edges.map(({ region }: any) => region).sort(), ['north', 'south'])
  const stored = await storedAgent()
  const { killed_at } = receipt
  assert.deepEqual(stored, {
    ...newer,
    status: 'killed',
    revision: stored.revision,
    killed_at,
    kill_reason: 'not stalled',
  })
  assert.equal((await entries(`agent_killed undefined ${agent_id}`)).length, 1)
  // As edges of that version read it.
  await fleet.redis.hset(hash, agent_id, JSON.stringify({ ...stored, store_format: STORE_FORMAT }))
  const refused = await callOf(access, '/after-newer').ended
  assert.deepEqual([refused.status, refused.reason], [403, 'agent_killed'])
  assert.ok(!fleet.upstream.begun.some((call) => call.path.includes('/after-newer')))
})

test('the receipt of a kill is kept, for its organization and every role', async () => {
  const { operator, admin } = fleet
  const { agent } = await makeAccess()
  const path = `/admin/agents/${agent.agent_id}/kill`
  const receipt = await operator.send('POST', path, { reason: 'to be kept' })
  const kept = await operator.send('GET', `/admin/kills/${receipt.kill_id}`)
  assert.equal(kept.agent_id, agent.agent_id)
  assert.equal(kept.agent_name, agent.agent_name)
  assert.equal(kept.reason, 'to be kept')
  assert.equal(kept.triggered_by, 'admin@localhost')
  assert.equal(kept.kill_method, 'api')
  assert.equal(kept.complete, true)
  assert.equal(kept.propagation_ms, receipt.propagation_ms)
  const byName = (a: any, b: any) => (a.edge_id < b.edge_id ? -1 : 1)
  assert.deepEqual(kept.edges.toSorted(byName), receipt.edges.toSorted(byName))
  const again = await operator.send('POST', path, { reason: 'again' })
  const list = await operator.send('GET', `/admin/kills?agent_id=${agent.agent_id}`)
  assert.deepEqual(
    list.data.map(({ kill_id, repeated }: any) => [kill_id, repeated]),
    [
      [again.kill_id, true],
      [receipt.kill_id, false],
    ],
  )
  const [event] = await entries(`agent_killed undefined ${agent.agent_id}`)
  assert.equal(event.data.kill_id, receipt.kill_id)

  const { token } = await operator.send('POST', '/admin/tokens', {
    email: 'viewer@example.com',
    role: 'viewer',
  })
  const viewer = operatorAt(admin.url, token)
  const seen = await until('its providers were asked', async () => {
    const found = await viewer.send('GET', `/admin/kills/${receipt.kill_id}`)
    return found.credentials !== null && found
  })
  const { credentials_settled_at: _, ...rest } = seen
  const { credentials_settled_at: __, ...before } = kept
  assert.deepEqual(rest, { ...before, credentials: [] })
  const other = await operator.send('POST', '/admin/organizations', { name: 'other' })
  const foreign = operatorAt(admin.url, other.admin_token)
  await foreign.send('GET', `/admin/kills/${receipt.kill_id}`, undefined, 404)
  assert.deepEqual((await foreign.send('GET', '/admin/kills')).data, [])
  await operator.send('GET', '/admin/kills/kil_unknown', undefined, 404)
})

test('a kill of a killed agent publishes again, answers with the first time, and makes no second event', async () => {
  const { agent } = await makeAccess()
  const path = `/admin/agents/${agent.agent_id}/kill`
  const first = await fleet.operator.send('POST', path, { reason: 'first' })
  const second = await fleet.operator.send('POST', path, { reason: 'second' })
  assert.equal(second.killed_at, first.killed_at)
  assert.equal(second.credentials_revoked, 0)
  assert.equal(second.edges.length, 2)
  assert.equal(second.complete, true)
  const shown = await fleet.operator.send('GET', `/admin/agents/${agent.agent_id}`)
  assert.equal(shown.kill_reason, 'first')
  assert.equal((await entries(`agent_killed undefined ${agent.agent_id}`)).length, 1)
  assert.equal((await entries(`agent.kill ${agent.agent_id}`)).length, 2)
})

test('a kill never fails on form', async () => {
  const forms: { body?: string; headers?: Record<string, string> }[] = [
    {},
    { body: '' },
    { body: '{"reason": ' },
    { body: '[]' },
    { body: '"text"', headers: { 'content-type': 'application/json' } },
    { body: '<kill/>', headers: { 'content-type': 'text/xml' } },
    { body: 'reason=form', headers: { 'content-type': 'application/x-www-form-urlencoded' } },
    { body: '{"reason": 5, "notify": "email"}', headers: { 'content-type': 'application/json' } },
    { body: '{"notify": {"a": 1}, "unknown": true}', headers: { 'content-type': 'nonsense' } },
    { body: 'x'.repeat(3_000_000), headers: { 'content-type': 'application/json' } },
    { headers: { 'idempotency-key': 'has spaces and is no key' } },
  ]
  for (const { body, headers = {} } of forms) {
    const { agent } = await makeAccess()
    const answer = await fetch(`${fleet.admin.url}/admin/agents/${agent.agent_id}/kill?odd=1`, {
      method: 'POST',
      headers: { authorization: `Bearer ${fleet.admin.token}`, ...headers },
      ...(body === undefined ? {} : { body }),
    })
    const text = await answer.text()
    assert.equal(answer.status, 200, `${body?.slice(0, 40)}: ${text}`)
    assert.equal(JSON.parse(text).complete, true)
  }
})

test('threat 5: a kill names the organization keys that the agent used, which it does not revoke', async () => {
  const access = await makeAccess()
  const { agent_id } = access.agent
  const shared = await fleet.operator.makeOrganizationKey()
  const withShared = () =>
    openCall(fleet.envoys[0]?.url ?? '', `${access.base_url}/shared`, {
      authorization: `Bearer ${shared.key}`,
      'x-agw-agent-id': agent_id,
    }).ended
  assert.equal((await withShared()).status, 200)
  const receipt = await fleet.operator.send('POST', `/admin/agents/${agent_id}/kill`)
  assert.deepEqual(receipt.still_usable_keys, [shared.key_id])
  assert.equal((await withShared()).reason, 'agent_killed')
  const [event] = await entries(`agent_killed undefined ${agent_id}`)
  assert.equal(event.data.metadata.requests_last_hour, 1)
  assert.equal(event.data.metadata.last_request, `${new URL(access.base_url).pathname}/shared`)
  // The key opens the proxy and nothing else.
  const asked = await fetch(`${fleet.admin.url}/webhooks`, {
    headers: { authorization: `Bearer ${shared.key}` },
  })
  assert.equal(asked.status, 403)
})

test('a reactivation gives back the keys that the kill revoked, and no other', async () => {
  const access = await makeAccess()
  const { agent_id } = access.agent
  const path = `/admin/agents/${agent_id}`
  const spare = await fleet.operator.send('POST', `${path}/keys`, { name: 'spare' })
  await fleet.operator.send('DELETE', `${path}/keys/${spare.key_id}`)
  await fleet.operator.send('POST', `${path}/kill`)
  const answer = await fleet.operator.send('POST', `${path}/reactivate`, { reason: 'fixed' })
  assert.equal(answer.status, 'active')
  assert.equal(answer.killed_at, null)
  assert.equal(answer.credentials_restored, 1)
  assert.equal((await callOf(access, '/again').ended).status, 200)
  const headers = { authorization: `Bearer ${spare.key}` }
  const withSpare = openCall(fleet.envoys[0]?.url ?? '', `${access.base_url}/x`, headers)
  assert.equal((await withSpare.ended).status, 401)
  const again = await fleet.operator.send('POST', `${path}/reactivate`, { reason: 'twice' })
  assert.equal(again.credentials_restored, 0)
  assert.equal((await entries(`agent_reactivated undefined ${agent_id}`)).length, 1)
})

test('a key that an operator revokes while its agent is killed does not come back with it', async () => {
  const access = await makeAccess()
  const path = `/admin/agents/${access.agent.agent_id}`
  const { data } = await fleet.operator.send('GET', `${path}/keys`)
  await fleet.operator.send('POST', `${path}/kill`)
  await fleet.operator.send('DELETE', `${path}/keys/${data[0].key_id}`)
  const answer = await fleet.operator.send('POST', `${path}/reactivate`, { reason: 'fixed' })
  assert.equal(answer.credentials_restored, 0)
  assert.equal((await callOf(access, '/revoked').ended).reason, 'invalid_api_key')
  assert.ok(!fleet.upstream.begun.some((call) => call.path.includes('/revoked')))
})

test('a reactivation with rotate_keys answers a new key, and no later one gives back the old', async () => {
  const access = await makeAccess()
  const path = `/admin/agents/${access.agent.agent_id}`
  await fleet.operator.send('POST', `${path}/kill`)
  const rotated = await fleet.operator.send('POST', `${path}/reactivate`, {
    reason: 'leaked',
    rotate_keys: true,
  })
  assert.equal(rotated.credentials_restored, 0)
  const headers = { authorization: `Bearer ${rotated.api_key}` }
  const fresh = () => openCall(fleet.envoys[0]?.url ?? '', `${access.base_url}/fresh`, headers)
  assert.equal((await fresh().ended).status, 200)
  assert.equal((await callOf(access, '/old').ended).reason, 'invalid_api_key')
  // A repeated request gets a key as well, and takes none away.
  const again = await fleet.operator.send('POST', `${path}/reactivate`, {
    reason: 'leaked',
    rotate_keys: true,
  })
  assert.equal(again.credentials_restored, 0)
  assert.match(again.api_key, /^agw_live_/)
  assert.equal((await fresh().ended).status, 200)
  await fleet.operator.send('POST', `${path}/kill`)
  const back = await fleet.operator.send('POST', `${path}/reactivate`, { reason: 'again' })
  assert.equal(back.credentials_restored, 2)
  assert.equal((await fresh().ended).status, 200)
  assert.equal((await callOf(access, '/old').ended).status, 401)
})

test('an operator may kill and not reactivate, a viewer neither', async () => {
  const { agent } = await makeAccess()
  const path = `${fleet.admin.url}/admin/agents/${agent.agent_id}`
  const post = async (role: string, verb: string): Promise<number> => {
    const made = await fleet.operator.send('POST', '/admin/tokens', {
      email: `${role}@example.test`,
      role,
      name: role,
    })
    const answer = await fetch(`${path}/${verb}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${made.token}`, 'content-type': 'application/json' },
      body: '{"reason":"roles"}',
    })
    return answer.status
  }
  assert.equal(await post('viewer', 'kill'), 403)
  assert.equal(await post('operator', 'kill'), 200)
  assert.equal(await post('operator', 'reactivate'), 403)
  assert.equal(await post('admin', 'reactivate'), 200)
})

test('agw kill and agw reactivate do the same from the command line, by id or by name', async () => {
  const { agent } = await makeAccess()
  const common = { url: fleet.admin.url, token: fleet.admin.token, output: 'json' }
  const run = async (
    command: (stdout: Writable, stderr: Writable) => Promise<number>,
  ): Promise<{ code: number; out: string; err: string }> => {
    const texts = { out: '', err: '' }
    const sink = (name: 'out' | 'err'): Writable =>
      new Writable({
        write: (chunk, _encoding, done) => {
          texts[name] += String(chunk)
          done()
        },
      })
    return { code: await command(sink('out'), sink('err')), ...texts }
  }
  const killed = await run((...io) =>
    runKill(agent.agent_name, { ...common, reason: 'cli' }, ...io),
  )
  assert.equal(killed.code, 0)
  assert.equal(JSON.parse(killed.out).agent_id, agent.agent_id)
  assert.equal(killed.err, '')
  const [event] = await entries(`agent_killed undefined ${agent.agent_id}`)
  assert.equal(event.data.kill_method, 'cli')
  const back = await run((...io) =>
    runReactivate(agent.agent_id, { ...common, output: 'table', reason: 'cli' }, ...io),
  )
  assert.equal(back.code, 0)
  assert.match(back.out, /is active\. 1 key works again\./)
  const printed = await run((...io) =>
    runKill(agent.agent_id, { ...common, output: 'table' }, ...io),
  )
  assert.match(printed.out, /^0 calls in flight ended, 1 key revoked, /m)
  const notify = ['pager', 'email']
  const untold = await run((...io) => runKill(agent.agent_id, { ...common, notify }, ...io))
  assert.equal(untold.code, 0)
  assert.match(untold.err, /Not notified: pager, email/)
  const token = 'not-a-token'
  const refused = await run((...io) => runKill(agent.agent_id, { ...common, token }, ...io))
  assert.equal(refused.code, 1)
  await assert.rejects(
    run((...io) => runKill('nobody', common, ...io)),
    /No agent has the id or name/,
  )
})

test('the deletion of an agent ends its calls in flight, before it is answered', async () => {
  const [deleted, other] = [await makeAccess(), await makeAccess()]
  const stream = callOf(deleted, '/sse')
  const others = callOf(other, '/sse')
  for (const call of [stream, others]) assert.equal(await call.answered, 200)
  await fleet.operator.send('DELETE', `/admin/agents/${deleted.agent.agent_id}?cascade=true`)
  assert.equal((await stream.ended).is_whole, false)
  assert.equal(others.isOpen(), true)
  others.abort()
  const after = await callOf(deleted, '/after').ended
  assert.equal(after.reason, 'invalid_api_key')
  assert.deepEqual(await entries('agent.kill_lost'), [])
})

test('the deletion of an organization ends the calls in flight of its agents; its new name ends none', async () => {
  const { operator, admin, upstream } = fleet
  const made = await operator.send('POST', '/admin/organizations', { name: 'short-lived' })
  const path = `/admin/organizations/${made.organization_id}`
  const base_url = `${upstream.origin}/t${++count}`
  const own = await operatorAt(admin.url, made.admin_token).makeAccess(base_url)
  const [stream, others] = [callOf(own, '/sse'), callOf(await makeAccess(), '/sse')]
  for (const call of [stream, others]) assert.equal(await call.answered, 200)
  await operator.send('PATCH', path, { name: 'renamed' })
  assert.deepEqual([stream.isOpen(), others.isOpen()], [true, true])
  await operator.send('DELETE', `${path}?cascade=true`)
  assert.equal((await stream.ended).is_whole, false)
  assert.equal(others.isOpen(), true)
  others.abort()
})

test('threat 22: a killed agent stays dead over deletion, re-creation and a written status', async () => {
  const { agent } = await makeAccess()
  const path = `/admin/agents/${agent.agent_id}`
  await fleet.operator.send('POST', `${path}/kill`)
  await fleet.operator.send('PATCH', path, { status: 'active' }, 400)
  await fleet.operator.send('POST', `${path}/keys`, {}, 409)
  await fleet.operator.send('DELETE', `${path}?cascade=true`)
  const { agent_id } = agent
  await fleet.operator.send('POST', '/admin/agents', { agent_name: 'again', agent_id }, 409)
  await fleet.operator.send('POST', `${path}/kill`, undefined, 404)
})

const HANGS = /the API thread does not answer and is ended/

test('threat 33: kills and reactivations are served while the thread of all other requests does not respond, or has ended', async () => {
  const file = fromRoot('test', 'kit', 'block-api-thread.mjs')
  const admin = await startAdmin(fleet.valkey.url, fleet.identity, {
    NODE_OPTIONS: `--import ${file}`,
    AGW_WATCHDOG_TIMEOUT: '3s',
  })
  try {
    const operator = operatorAt(admin.url, admin.token)
    const access = await makeAccess()
    const path = `/admin/agents/${access.agent.agent_id}`
    const authorization = `Bearer ${admin.token}`
    await fetch(`${admin.url}/admin/die`, { headers: { authorization } })
    const stream = callOf(access, '/sse')
    assert.equal(await stream.answered, 200)
    const first = await operator.send('POST', `${path}/kill`)
    assert.equal(first.complete, true)
    assert.equal(first.in_flight_requests_terminated, 1)
    assert.equal((await stream.ended).is_whole, false)
    await operator.send('POST', `${path}/reactivate`, { reason: 'test' })
    // The thread is replaced, and serves again.
    const agent = await until('other requests are served again', () =>
      operator.send('GET', path).catch(() => null),
    )
    assert.equal(agent.status, 'active')
    const stuck = fetch(`${admin.url}/admin/block`).then(
      ({ status }) => status,
      () => 'cut',
    )
    for (let i = 0; i < 5; i++) {
      const receipt = await operator.send('POST', `${path}/kill`)
      assert.equal(receipt.complete, true)
      if (i === 0) assert.doesNotMatch(admin.log(), HANGS)
      await operator.send('POST', `${path}/reactivate`, { reason: 'test' })
    }
    assert.equal((await callOf(access, '/after').ended).status, 200)
    // A thread that hangs is replaced too, and the request that held it up is not answered with success.
    await until('it is ended', () => HANGS.test(admin.log()))
    assert.notEqual(await stuck, 200)
    const again = await until('other requests are served again', () =>
      operator.send('GET', path).catch(() => null),
    )
    assert.equal(again.status, 'active')
  } finally {
    await admin.kill()
  }
})
