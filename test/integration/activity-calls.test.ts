import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { call } from '../kit/call.ts'
import { type Access, STORED_CREDENTIAL } from '../kit/operator.ts'
import { startAll, stopAll } from '../kit/shared-stack.ts'
import { until } from '../kit/until.ts'

// Of its own, since a process of it is killed, and for a trusted proxy in front.
const stack = await startAll({ AGW_EXT_PROC_WORKERS: '2', AGW_TRUSTED_HOPS: '1' })
after(() => stopAll(stack))
const { operator } = stack

const entriesOf = async (access: Access): Promise<any[]> =>
  (await operator.send('GET', `/admin/activity?agent_id=${access.agent.agent_id}`)).data.filter(
    ({ method }: any) => method !== null,
  )

/** The one entry of the only call that was made with this access. */
async function entryOf(access: Access): Promise<any> {
  await until('the call is in the log', async () => (await entriesOf(access)).length > 0)
  // Anything else that would report the call has done so by the time a later call is in the log.
  const later = await stack.makeAccess()
  await send(later, '/later')
  await until('a later call is in the log', async () => (await entriesOf(later)).length > 0)
  const entries = await entriesOf(access)
  assert.equal(entries.length, 1, JSON.stringify(entries))
  return entries[0]
}

const send = (access: Access, path: string, more: object = {}) =>
  call({
    to: stack.proxyUrl,
    path: `/${access.base_url}${path}`,
    headers: access.headers,
    ...more,
  })

test('behind a trusted proxy, its address with a port or in brackets is that of the caller', async () => {
  const rows = [
    ['6.6.6.6, 198.51.100.7:50123', '198.51.100.7'],
    ['6.6.6.6, [2001:DB8::7]:443', '2001:db8::7'],
    ['6.6.6.6, 198.51.100.8', '198.51.100.8'],
  ] as const
  for (const [forwarded, address] of rows) {
    const access = await stack.makeAccess()
    const headers = { ...access.headers, 'x-forwarded-for': forwarded }
    const sent = stack.api.mark()
    assert.equal((await send(access, '/x', { headers })).status, 200)
    assert.equal(JSON.stringify(sent()[0]?.headers).includes(address), false)
    assert.equal((await entryOf(access)).source_ip, address)
    const name = `behind a proxy ${address}`
    await call({
      to: stack.proxyUrl,
      path: '/admin/agents',
      method: 'POST',
      headers: {
        authorization: `Bearer ${stack.adminToken}`,
        'content-type': 'application/json',
        'x-forwarded-for': forwarded,
      },
      body: JSON.stringify({ agent_name: name }),
    })
    const { data } = await operator.send('GET', '/admin/activity?event=admin_action&limit=20')
    const made = data.find((entry: unknown) => JSON.stringify(entry).includes(name))
    assert.equal(made?.source_ip, address)
  }
})

test('an allowed call is one entry with status, bytes, duration and what came of it upstream', async () => {
  const access = await stack.makeAccess()
  const answer = await send(access, '/thing?q=1', { method: 'POST', body: 'x'.repeat(1234) })
  assert.equal(answer.status, 200)
  const entry = await entryOf(access)
  assert.equal(entry.event, 'request_allowed')
  assert.equal(entry.decision, 'allowed')
  assert.equal(entry.reason, null)
  assert.equal(entry.status, 200)
  assert.equal(entry.bytes_in, 1234)
  assert.equal(entry.bytes_out, answer.body.length)
  assert.ok(entry.duration_ms > 0)
  assert.deepEqual(entry.data.upstream, { outcome: 'answered' })
  assert.equal(entry.request_id, answer.header('x-agw-request-id'))
  assert.equal(entry.integration_id, access.integration.integration_id)
  assert.equal(entry.scope_id, access.scope_id)
  assert.equal(entry.rule, 0)
  assert.match(entry.endpoint, /\/thing$/)
  assert.ok(entry.steps.length > 3)
  assert.ok(Math.abs(Date.parse(entry.timestamp) - Date.now()) < 60_000)
  assert.deepEqual(await operator.send('GET', `/admin/activity/${entry.id}`), entry)
})

test('names that are not ASCII come back as they are', async () => {
  const agent_name = 'Zoë 🦊 "quoted" \\ 中'
  const made = await operator.makeAgent({ agent_name })
  const integration = await operator.makeIntegration(stack.ownBaseUrl())
  await operator.makeScope(made.agent_id, integration.integration_id)
  const access = {
    agent: made,
    base_url: integration.base_url,
    headers: { authorization: `Bearer ${made.api_key}` },
  } as Access
  await send(access, '/caf%C3%A9')
  assert.equal((await entryOf(access)).agent_name, agent_name)
})

test('an answered call has the status of the upstream, and an unanswered one has a reason', async () => {
  const failing = await stack.makeAccess()
  assert.equal((await send(failing, '/status/503')).status, 503)
  const answered = await entryOf(failing)
  assert.equal(answered.status, 503)
  assert.equal(answered.reason, null)
  assert.equal(answered.data.upstream.outcome, 'answered')

  const absent = await operator.makeAccess('http://127.0.0.1:9/absent')
  const answer = await send(absent, '/x')
  assert.equal(answer.status, 502)
  const entry = await entryOf(absent)
  assert.equal(entry.decision, 'allowed')
  assert.equal(entry.status, answer.status)
  assert.equal(entry.reason, answer.header('x-agw-reason'))
  assert.equal(entry.data.upstream.outcome, 'unreachable')

  const dropped = await stack.makeAccess()
  const gone = await send(dropped, '/drop')
  const dropEntry = await entryOf(dropped)
  assert.equal(dropEntry.reason, gone.header('x-agw-reason'))
  assert.equal(dropEntry.data.upstream.outcome, 'reset')
})

test('a caller that disconnects is distinguished from an upstream that fails', async () => {
  const access = await stack.makeAccess()
  const left = new AbortController()
  const ticks = send(access, '/sse?ticks=100000&interval_ms=20', {
    signal: left.signal,
    onData: () => left.abort(),
  })
  await assert.rejects(ticks)
  const entry = await entryOf(access)
  assert.equal(entry.status, 200)
  assert.equal(entry.data.upstream.outcome, 'caller_left')
})

test('a refused call is one entry', async () => {
  const access = await stack.makeAccess({ rules: [{ methods: ['GET'], paths: ['/allowed'] }] })
  assert.equal((await send(access, '/other')).status, 403)
  const entry = await entryOf(access)
  assert.equal(entry.event, 'permission_denied')
  assert.equal(entry.decision, 'blocked')
  assert.equal(entry.status, 403)
})

test('a call that a kill cuts is one entry, before and after the first byte of its response', async () => {
  for (const [path, status] of [
    ['/slow', 503],
    ['/sse?ticks=100000&interval_ms=20', null],
  ] as const) {
    const access = await stack.makeAccess()
    let started = (): void => undefined
    const first = new Promise<void>((resolve) => {
      started = resolve
    })
    const sent = stack.api.mark()
    const cut = send(access, path, { onData: () => started() }).then(
      (answer) => answer.status,
      () => null,
    )
    if (status === null) await first
    else await until('the upstream has the call', () => sent().length > 0)
    await operator.send('POST', `/admin/agents/${access.agent.agent_id}/kill`)
    assert.equal(await cut, status)
    const entry = await entryOf(access)
    assert.equal(entry.decision, 'terminated')
    assert.equal(entry.reason, 'agent_killed')
    // Only Envoy knows whether the first byte was out, so the entry does not say.
    assert.equal(entry.status, null)
  }
})

test('the log continues after kill -9 of every processor, and a call that was cut has at most one entry', async () => {
  const access = await stack.makeAccess()
  let started = (): void => undefined
  const first = new Promise<void>((resolve) => {
    started = resolve
  })
  const cut = send(access, '/sse?ticks=100000&interval_ms=20', { onData: () => started() })
  const ended = assert.rejects(cut)
  await first
  for (const pid of await stack.pids('ext-proc')) process.kill(pid, 'SIGKILL')
  await ended
  await stack.ready()
  const later = await stack.makeAccess()
  // One processor is enough to be ready; Envoy refuses calls that it gives to the other until that is back as well.
  await until('a later call passes', async () => (await send(later, '/later')).status === 200)
  await until('a later call is in the log', async () => (await entriesOf(later)).length > 0)
  // What Envoy was writing to the processor that died is lost with it (docs/guides/activity.md); nothing is written twice.
  const entries = await entriesOf(access)
  assert.ok(entries.length <= 1, JSON.stringify(entries))
  for (const entry of entries) {
    assert.equal(entry.decision, 'terminated')
    assert.equal(entry.reason, 'gateway_unavailable')
    assert.equal(entry.status, 200)
    assert.equal(entry.data.upstream.outcome, 'cut')
  }
})

test('metrics tell of calls, steps, edges and kills, and name no organization, agent or secret', async () => {
  const access = await stack.makeAccess()
  await send(access, '/x')
  await operator.send('POST', `/admin/agents/${access.agent.agent_id}/kill`)
  const text = await until('the metrics have the call and the kill', async () => {
    const metrics = await (await fetch(`${stack.apiUrl}/metrics`)).text()
    const has = (pattern: RegExp): boolean => pattern.test(metrics)
    return (
      has(/^agw_calls_total\{edge="[^"]+",verdict="allowed",reason=""\} [1-9]/m) &&
      has(/^agw_kills_total\{method="api"\} [1-9]/m) &&
      metrics
    )
  })
  assert.match(text, /^agw_step_duration_seconds_count\{edge="[^"]+",step="agent"\} [1-9]/m)
  assert.match(text, /^agw_kill_propagation_seconds_count [1-9]/m)
  assert.match(text, /^agw_edges 2$/m)
  for (const hidden of ['org_default', 'agt_', 'key_', stack.adminToken, STORED_CREDENTIAL])
    assert.equal(text.includes(hidden), false, hidden)
})
