import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { call } from '../kit/call.ts'
import type { Operator } from '../kit/operator.ts'
import { type SharedStack, startAll, stopAll } from '../kit/shared-stack.ts'
import type { ChildRole } from '../kit/start-stack.ts'
import { tempFolder } from '../kit/temp-folder.ts'
import { until } from '../kit/until.ts'

/** Calls go on until what is being stopped cuts those that last. */
const DRAIN = { AGW_DRAIN_TIMEOUT: '3s' }
const stack = await startAll({
  ...DRAIN,
  AGW_EXT_PROC_WORKERS: '1',
  AGW_UPSTREAM_IDLE_TIMEOUT: '2s',
})
after(() => stopAll(stack))

const KILLED: readonly ChildRole[] = ['ext-proc', 'admin']
/** Of each kind of call. */
const CALLERS = 4

/** Every entry of an agent that is a call. */
async function entriesOf(
  agent_id: string,
  filter = '',
  operator: Pick<Operator, 'send'> = stack.operator,
): Promise<any[]> {
  const entries: any[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const query: string = `agent_id=${agent_id}&limit=200${filter}`
    const page: any = await operator.send(
      'GET',
      `/admin/activity?${query}${cursor ? `&cursor=${cursor}` : ''}`,
    )
    entries.push(...page.data.filter(({ method }: any) => method !== null))
    cursor = page.next_cursor
  }
  return entries
}

/** Sums the counts of refusals that have no entry of their own, by reason. */
async function countsOf(path: string, isMine: (row: any) => boolean): Promise<Map<string, number>> {
  const counts = new Map<string, number>()
  for (const row of (await stack.operator.send('GET', path)).data)
    if (isMine(row)) counts.set(row.reason, (counts.get(row.reason) ?? 0) + row.count)
  return counts
}

/** Invariant 6, also for what Envoy itself answers because the only processor died under the call or is not there. */
test('every refusal that a client received is in the log or in a count, though edges and admin are killed -9', async () => {
  const { operator } = stack
  const access = await operator.makeAccess(stack.ownBaseUrl(), {
    rules: [{ methods: ['GET'], paths: ['/slow'] }],
  })
  const { agent_id } = access.agent
  const nobody = { authorization: 'Bearer nobody' }
  const kinds = [
    { path: '/denied', headers: access.headers },
    { path: '/slow', headers: access.headers },
    { path: '/denied', headers: nobody },
  ]
  const received = new Map<string, string[]>()
  const unknownBefore = await countsOf('/admin/activity/unknown-calls', () => true)
  let calling = true
  const caller = async ({ path, headers }: (typeof kinds)[number]): Promise<void> => {
    while (calling) {
      const one = { to: stack.proxyUrl, path: `/${access.base_url}${path}`, headers }
      const answer = await call(one).catch(() => null)
      const reason = answer?.header('x-agw-reason')
      if (reason === undefined) continue
      const ids = received.get(reason) ?? []
      received.set(reason, [...ids, answer?.header('x-agw-request-id') ?? ''])
      // As fast as it goes would be all flood, and would slow the restart it waits for; the log and the count are both
      // to be seen.
      await wait(reason === 'permission_denied' ? 20 : 40)
    }
  }
  const callers = kinds.flatMap((kind) => Array.from({ length: CALLERS }, () => caller(kind)))
  for (const role of KILLED) {
    const before = received.get('permission_denied')?.length ?? 0
    await until(
      'refusals come',
      () => (received.get('permission_denied')?.length ?? 0) > before + 60,
    )
    for (const pid of await stack.pids(role)) process.kill(pid, 'SIGKILL')
    await wait(Math.random() * 200)
  }
  // The last calls that wait for an API in vain end by a timeout.
  await until('the gateway decides again', () => {
    const before = received.get('permission_denied')?.length ?? 0
    return wait(20).then(() => (received.get('permission_denied')?.length ?? 0) > before)
  })
  calling = false
  await Promise.all(callers)
  await stack.ready()
  assert.deepEqual([...received.keys()].toSorted(), [
    'gateway_unavailable',
    'invalid_api_key',
    'permission_denied',
    'upstream_timeout',
  ])
  const missing = async (): Promise<string[]> => {
    const logged = new Map((await entriesOf(agent_id)).map((entry) => [entry.request_id, entry]))
    const counts = await countsOf('/admin/activity/counts', (row) => row.agent_id === agent_id)
    const unknown = await countsOf('/admin/activity/unknown-calls', () => true)
    return [...received].flatMap(([reason, ids]) => {
      const unlogged = ids.filter((id) => logged.get(id)?.reason !== reason).length
      const ofNobody = (unknown.get(reason) ?? 0) - (unknownBefore.get(reason) ?? 0)
      const counted = (counts.get(reason) ?? 0) + ofNobody
      const text = `${reason}: ${ids.length} received, ${unlogged} not logged, ${counted} counted`
      return unlogged > counted ? [text] : []
    })
  }
  await until('nothing is missing', async () => (await missing()).length === 0).catch(async () =>
    assert.fail((await missing()).join('\n')),
  )
  const cut = (await entriesOf(agent_id)).filter(({ reason }) => reason === 'gateway_unavailable')
  assert.ok(cut.length > 0, 'no passed call was cut by a death')
})

/** Begins calls that last, and answers when the first bytes of each are there. */
async function holdCalls(
  access: Awaited<ReturnType<typeof stack.operator.makeAccess>>,
  number: number,
): Promise<{ readonly ended: Promise<unknown> }> {
  const ended: Promise<void>[] = []
  const begun = Array.from(
    { length: number },
    (_, i) =>
      new Promise<void>((resolve) => {
        const path = `/${access.base_url}/sse?ticks=100000&interval_ms=50&n=${i}`
        const one = { to: stack.proxyUrl, path, headers: access.headers, limit_ms: 120_000 }
        const held = call({ ...one, onData: () => resolve() })
        ended.push(assert.rejects(held))
      }),
  )
  await Promise.all(begun)
  return { ended: Promise.all(ended) }
}

test('calls that the death of the only processor cuts are each in the log, once', async () => {
  const access = await stack.makeAccess()
  const calls = 60
  const { ended } = await holdCalls(access, calls)
  for (const pid of await stack.pids('ext-proc')) process.kill(pid, 'SIGKILL')
  await ended
  await stack.ready()
  const entries = await until('all are in the log', async () => {
    const found = await entriesOf(access.agent.agent_id)
    return found.length >= calls && found
  })
  assert.deepEqual(
    new Set(entries.map(({ decision, reason }) => `${decision} ${reason}`)),
    new Set(['terminated gateway_unavailable']),
  )
  assert.equal(new Set(entries.map(({ request_id }) => request_id)).size, calls)
  assert.equal(entries.length, calls)
})

/** Whether Envoy has its streams to the receiver, and none of any thread to a fallback. */
async function receiverIsAsked(): Promise<boolean> {
  const { cluster_statuses } = JSON.parse(await stack.envoyAdmin('/clusters?format=json'))
  const { host_statuses } = cluster_statuses.find(({ name }: any) => name === 'access_log')
  const [receiver, ...fallbacks] = host_statuses.map(({ stats }: any) =>
    Number(stats.find(({ name }: any) => name === 'rq_active')?.value ?? 0),
  )
  return receiver > 0 && fallbacks.every((streams: number) => streams === 0)
}

test('stopping the receiver under load, with a processor as fallback, loses no entry', async () => {
  const access = await stack.makeAccess({
    scope: { rate_limiting: { requests_per_minute: null } },
  })
  const one = { to: stack.proxyUrl, path: `/${access.base_url}/x`, headers: access.headers }
  const ids: string[] = []
  let calling = true
  const caller = async (): Promise<void> => {
    while (calling) {
      const answer = await call(one)
      if (answer.status === 200) ids.push(answer.header('x-agw-request-id') ?? '')
      await wait(120)
    }
  }
  await until('a processor decides', async () => (await call(one)).status === 200)
  const callers = Array.from({ length: 8 }, caller)
  await until('the receiver is asked', receiverIsAsked)
  const [receiver = 0] = await stack.pids('access-log')
  process.kill(receiver, 'SIGTERM')
  await until('it is gone', async () => !(await stack.pids('access-log')).includes(receiver))
  await until('the receiver is asked', receiverIsAsked)
  calling = false
  await Promise.all(callers)
  // The threads of Envoy write by themselves, so the last call may be in the log before one that came earlier.
  const missing = async (): Promise<readonly string[]> => {
    const logged = new Set(
      (await entriesOf(access.agent.agent_id)).map(({ request_id }) => request_id),
    )
    return ids.filter((id) => !logged.has(id))
  }
  await until('every call is in the log', async () => (await missing()).length === 0).catch(
    async () => assert.deepEqual(await missing(), [], `of ${ids.length}`),
  )
  const entries = await entriesOf(access.agent.agent_id)
  assert.equal(entries.length, new Set(entries.map(({ request_id }) => request_id)).size)
})

test('processors receive the access log while its receiver is unavailable, and Envoy returns to it', async () => {
  const access = await stack.makeAccess()
  const [receiver = 0] = await stack.pids('access-log')
  const one = { to: stack.proxyUrl, path: `/${access.base_url}/away`, headers: access.headers }
  await until('a processor decides', async () => (await call(one)).status === 200)
  process.kill(receiver, 'SIGSTOP')
  const before = (await entriesOf(access.agent.agent_id)).length
  // Entries sent to a hanging receiver before Envoy noticed are taken when it continues, or lost with it.
  await until('a call is in the log without the receiver', async () => {
    assert.equal((await call(one)).status, 200)
    return (await entriesOf(access.agent.agent_id)).length > before
  })
  process.kill(receiver, 'SIGKILL')
  await until('another receiver is asked again', async () => {
    assert.equal((await call(one)).status, 200)
    return receiverIsAsked()
  })
  const { ended } = await holdCalls(access, 20)
  for (const pid of await stack.pids('ext-proc')) process.kill(pid, 'SIGKILL')
  await ended
  await stack.ready()
  await until(
    'all cut calls are in the log',
    async () => (await entriesOf(access.agent.agent_id, '&decision=terminated')).length === 20,
  )
})

/** What is started after a stop; it logs allowed calls first. */
let again: SharedStack | null = null
after(() => (again === null ? undefined : stopAll(again)))

test('a stop of everything under load loses no entry, neither of a call in flight nor of one that has just ended', async () => {
  const env = { ...DRAIN, AGW_DATA_DIR: tempFolder('stopped') }
  const first = await startAll(env)
  const access = await first.makeAccess({
    scope: { rate_limiting: { requests_per_minute: null } },
  })
  const { agent_id } = access.agent
  const one = { to: first.proxyUrl, headers: access.headers }
  let hasBegun = (): void => undefined
  const begun = new Promise<void>((resolve) => {
    hasBegun = resolve
  })
  const path = `/${access.base_url}/sse?ticks=100000&interval_ms=50`
  const longEnded = assert.rejects(call({ ...one, path, onData: () => hasBegun() }))
  await begun
  const ids: string[] = []
  // Each continues until the gateway refuses connections.
  const caller = async (): Promise<void> => {
    for (;;) {
      const answer = await call({ ...one, path: `/${access.base_url}/x` }).catch(() => null)
      if (answer === null) return
      // What comes while the gateway stops is refused, as it would be without a processor.
      if (answer.status === 200) ids.push(answer.header('x-agw-request-id') ?? '')
      await wait(40)
    }
  }
  const callers = Array.from({ length: 8 }, caller)
  await until('calls pass', () => ids.length > 200)
  assert.equal(await first.stop(), 0)
  await Promise.all([...callers, longEnded])
  await stopAll(first)
  again = await startAll({ ...env, AGW_ACTIVITY_STRICT: 'on' })
  const entries = await entriesOf(agent_id, '', again.operator)
  const logged = new Set(entries.map(({ request_id }) => request_id))
  assert.deepEqual(
    ids.filter((id) => !logged.has(id)),
    [],
  )
  assert.equal(entries.length, logged.size)
  assert.deepEqual(
    entries.filter(({ decision }) => decision === 'terminated').map(({ endpoint }) => endpoint),
    [new URL(`${access.base_url}/sse`).pathname],
  )
})

test('strict: an allowed call is logged once, before it is forwarded', async () => {
  assert.ok(again !== null, 'the stack of the test before runs')
  const strict = again
  const { operator } = strict
  const access = await operator.makeAccess(strict.ownBaseUrl())
  const one = { to: strict.proxyUrl, headers: access.headers }
  const mine = async (): Promise<any[]> =>
    (await operator.send('GET', `/admin/activity?agent_id=${access.agent.agent_id}`)).data.filter(
      ({ method }: any) => method !== null,
    )
  const left = new AbortController()
  const path = `/${access.base_url}/sse?ticks=100000&interval_ms=20`
  let started = (): void => undefined
  const first = new Promise<void>((resolve) => {
    started = resolve
  })
  const long = call({ ...one, path, signal: left.signal, onData: () => started() })
  const ended = assert.rejects(long)
  await first
  assert.deepEqual(
    (await mine()).map(({ decision, status }) => [decision, status]),
    [['allowed', null]],
  )
  left.abort()
  await ended
  const short = { ...one, path: `/${access.base_url}/status/404` }
  assert.equal((await call(short)).status, 404)
  assert.equal((await call(short)).status, 404)
  assert.equal((await mine()).length, 3)
})
