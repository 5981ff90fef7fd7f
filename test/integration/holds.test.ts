import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { test } from 'node:test'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { connectRedis } from '../../core/redis/connect-redis.ts'
import { AGENT_HELD_MAX, HeldCalls } from '../../ext-proc/hold/held-calls.ts'
import { assertRefusal } from '../kit/assert-refusal.ts'
import { call, type HttpAnswer, type HttpCall } from '../kit/call.ts'
import type { Access } from '../kit/operator.ts'
import { sharedStack } from '../kit/shared-stack.ts'
import { until } from '../kit/until.ts'

const stack = await sharedStack()
const { operator, api } = stack
/** Longer than any test takes. */
const LONG = { prefer: 'respond-async, wait=19' }

const makeAccess = (approval: object = {}): Promise<Access> =>
  stack.makeAccess({ rules: [{ methods: ['POST', 'GET'], paths: ['/charges/**'], approval }] })

const ask = (access: Access, more: Partial<HttpCall> = {}) =>
  call({
    to: stack.proxyUrl,
    method: 'POST',
    path: `/${access.base_url}/charges`,
    body: 'amount=5',
    ...more,
    headers: { ...access.headers, 'content-type': 'text/plain', ...(more.headers as object) },
  })

const decide = (request_id: string, what: string, body?: object) =>
  operator.send('POST', `/admin/access-requests/${request_id}/${what}`, body)

const requestsOf = async ({ agent }: Access): Promise<readonly any[]> =>
  (await operator.send('GET', `/admin/access-requests?agent_id=${agent.agent_id}`)).data

/** A call that is held, once its request is there. */
async function held(access: Access, more: Partial<HttpCall> = {}) {
  const answer = ask(access, { ...more, headers: { ...LONG, ...(more.headers as object) } })
  const [{ request_id }] = await until('the call is held', async () => {
    const found = await requestsOf(access)
    const count = await heldOf(access)
    return found.length > 0 && count > 0 && found
  })
  return { answer, request_id: String(request_id) }
}

async function heldOf({ agent }: Access): Promise<number> {
  const redis = connectRedis(stack.redisUrl, { name: 'test', role: 'queue' })
  try {
    return await redis.zcard(REDIS_KEYS.heldCalls('org_default', agent.agent_id))
  } finally {
    redis.disconnect()
  }
}

const entriesOf = async (answer: HttpAnswer): Promise<readonly any[]> => {
  const id = answer.header('x-agw-request-id') ?? ''
  return await until('the entry of the call is in the log', async () => {
    const { data } = await operator.send('GET', `/admin/activity?request_id=${id}`)
    const calls = data.filter(({ event }: any) => event !== 'access_requested')
    return calls.length > 0 && calls
  })
}

test('a held call passes at the yes, with or without a body, and counts once', async () => {
  for (const method of ['POST', 'GET']) {
    const access = await makeAccess()
    const received = api.mark()
    const more = method === 'GET' ? { method, body: '' } : { method }
    const { answer, request_id } = await held(access, more)
    assert.equal(received().length, 0)
    await decide(request_id, 'approve')
    const passed = await answer
    assert.equal(passed.status, 200, passed.body.toString())
    assert.equal(passed.header('preference-applied'), 'wait=19')
    const [got, ...others] = received()
    assert.equal(others.length, 0)
    // It may mean something to the API, too.
    assert.equal(got?.header('prefer'), LONG.prefer)
    assert.equal(got?.body.toString(), method === 'GET' ? '' : 'amount=5')
    const entries = await entriesOf(passed)
    assert.deepEqual(
      entries.map(({ decision, data }) => [decision, data.approval.request_id]),
      [['allowed', request_id]],
    )
    await until('it is held no more', async () => (await heldOf(access)) === 0)
  }
})

test('a held call ends with a no, a withdrawal, the end of its request, and the end of its time', async () => {
  const access = await makeAccess()
  const denied = await held(access)
  await decide(denied.request_id, 'deny', { comment: 'not today' })
  const no = await denied.answer
  assertRefusal(no, 403, 'approval_denied')
  assert.equal(no.json().details.comment, 'not today')

  const withdrawn = await held(await makeAccess())
  await decide(withdrawn.request_id, 'cancel')
  assertRefusal(await withdrawn.answer, 403, 'approval_expired')

  // The rule says how long, and the caller may ask for less.
  const other = await makeAccess({ wait_seconds: 1 })
  const over = await ask(other)
  assertRefusal(over, 403, 'approval_required')
  assert.equal(over.header('preference-applied'), undefined)
  const { request_id } = over.json().details
  const at_once = await ask(other, { headers: { prefer: 'wait=0' } })
  assert.equal(at_once.json().details.request_id, request_id)
  const received = api.mark()
  await decide(request_id, 'approve')
  assert.equal((await ask(other)).status, 200)
  assert.equal(received().length, 1)
})

test('a kill cuts a held call at once, and a yes that comes later is void', async () => {
  const access = await makeAccess()
  const { answer, request_id } = await held(access)
  const received = api.mark()
  const path = `/admin/agents/${access.agent.agent_id}/kill`
  const receipt = await operator.send('POST', path, { reason: 'test' })
  assert.equal(receipt.in_flight_requests_terminated, 1)
  assertRefusal(await answer, 503, 'agent_killed')
  const { error } = await operator.send(
    'POST',
    `/admin/access-requests/${request_id}/approve`,
    undefined,
    409,
  )
  assert.equal(error, 'conflict')
  assert.equal(received().length, 0)
})

test('a scope that is taken away while a call is held ends it, although it was approved', async () => {
  const access = await makeAccess()
  const { answer, request_id } = await held(access)
  const received = api.mark()
  await operator.send('PUT', `/admin/scopes/${access.scope_id}`, {
    name: 'other',
    rules: [{ methods: ['GET'], paths: ['/nothing'] }],
  })
  await decide(request_id, 'approve')
  assert.notEqual((await answer).status, 200)
  assert.equal(received().length, 0)
})

test('a caller that leaves ends its hold, and its approval waits for the next', async () => {
  const access = await makeAccess()
  const { hostname, port } = new URL(stack.proxyUrl)
  const socket = connect(Number(port), hostname)
  const head = { ...access.headers, ...LONG, host: 'x', 'content-length': '8' }
  const lines = Object.entries({ ...head, 'content-type': 'text/plain' })
  socket.write(
    `POST /${access.base_url}/charges HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\namount=5`,
  )
  await until('it is held', async () => (await heldOf(access)) === 1)
  socket.destroy()
  await until('it is held no more', async () => (await heldOf(access)) === 0)
  const [{ request_id, status }] = await requestsOf(access)
  assert.equal(status, 'pending')
  const received = api.mark()
  await decide(request_id, 'approve')
  assert.equal(received().length, 0)
  const again = { prefer: 'respond-async', host: new URL(stack.proxyUrl).host }
  const passed = await ask(access, { headers: again })
  assert.equal(passed.status, 200, passed.body.toString())
})

test('of an agent with too many held calls the next is answered at once, over all edges', async () => {
  const access = await makeAccess()
  const redis = connectRedis(stack.redisUrl, { name: 'test', role: 'queue' })
  const key = REDIS_KEYS.heldCalls('org_default', access.agent.agent_id)
  const until_ms = Date.now() + 60_000
  const others = Array.from({ length: AGENT_HELD_MAX }, (_, i) => [until_ms, `call_${i}`])
  await redis.zadd(key, ...(others.flat() as [number, string]))
  const refused = await ask(access, { headers: LONG })
  assertRefusal(refused, 403, 'approval_required')
  assert.equal(refused.header('preference-applied'), undefined)
  assert.equal(await redis.zcard(key), AGENT_HELD_MAX)
  // Calls of a process that has died count until their time is over.
  await redis.zadd(key, Date.now() - 1, 'call_0')
  const { request_id } = refused.json().details
  const answer = ask(access, { headers: LONG })
  await until('it is held', async () => (await redis.zscore(key, 'call_0')) === null)
  await decide(request_id, 'deny')
  assertRefusal(await answer, 403, 'approval_denied')
  redis.disconnect()
})

test('a decision whose message is lost is found in the store', async () => {
  const access = await makeAccess()
  const { answer, request_id } = await held(access)
  const redis = connectRedis(stack.redisUrl, { name: 'test', role: 'queue' })
  await redis.hset(REDIS_KEYS.accessRequest('org_default', request_id), 'status', 'denied')
  redis.disconnect()
  assertRefusal(await answer, 403, 'approval_denied')
})

test('a process that drains answers its held calls, and holds no others', async () => {
  const access = await makeAccess()
  const request_id = String((await ask(access)).json().details.request_id)
  const redis = connectRedis(stack.redisUrl, { name: 'test', role: 'queue' })
  const calls = new HeldCalls(redis)
  const one = { organization_id: 'org_default', agent_id: access.agent.agent_id, request_id }
  const wait = (call_id: string, ended = new Promise<void>(() => undefined)) =>
    calls.wait({ ...one, call_id }, 60_000, ended, () => undefined)
  const waiting = [wait('a'), wait('b')]
  assert.equal(await wait('c', Promise.resolve()), 'ended')
  await until('both are held', async () => (await heldOf(access)) === 2)
  calls.drain()
  assert.deepEqual(await Promise.all(waiting), ['draining', 'draining'])
  assert.equal(await wait('d'), 'draining')
  await until('none is held', async () => (await heldOf(access)) === 0)
  assert.equal(calls.size, 0)
  redis.disconnect()
})
