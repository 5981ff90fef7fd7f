import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { checkEnvoyConfig } from '../../cli/doctor/envoy/check-envoy.ts'
import { call } from '../kit/call.ts'
import { startCompanyApi } from '../kit/company-calls.ts'
import { companyEnvoy, managerOf } from '../kit/company-envoy.ts'
import { openCall } from '../kit/open-call.ts'
import { ForwardClient } from '../kit/forward-client.ts'
import { startAll, stopAll } from '../kit/shared-stack.ts'
import { startFleet } from '../kit/start-fleet.ts'
import { type ReceivedSpan, startSpanReceiver } from '../kit/start-span-receiver.ts'
import { until } from '../kit/until.ts'

const receiver = await startSpanReceiver()
const SECRET = 'planted-5ecre7'
const stack = await startAll({
  AGW_TRACE_URL: receiver.url,
  AGW_TRACE_HEADERS: 'x-of-receiver=known%20to%20it',
  AGW_TRACE_SAMPLE: '100',
})
const { operator, api } = stack
after(async () => {
  await stopAll(stack)
  receiver.stop()
})

/** A credential in the query: Envoy sees it in the path. */
const access = await stack.makeAccess({
  auth: { type: 'query', name: 'key', value: `${SECRET}-credential` },
  rules: [{ methods: ['GET', 'POST'], paths: ['/allowed/**'] }],
  scope: {
    injection_detection: { enabled: true, mode: 'block', sensitivity: 'medium' },
    rate_limiting: { requests_per_minute: 600 },
  },
})

const attributesOf = ({ attributes }: ReceivedSpan): Record<string, string> =>
  Object.fromEntries(
    attributes.map(({ key, value }) => [key, value.stringValue ?? value.intValue ?? '']),
  )

/** The trace of a call, once all these spans of it are there. */
const traceOf = (
  request_id: string | undefined,
  wanted: readonly string[],
): Promise<readonly ReceivedSpan[]> =>
  until('the trace is whole', () => {
    const decision = receiver.spans.find(
      (span) => span.name === 'agw.decision' && attributesOf(span)['agw.request.id'] === request_id,
    )
    const trace = receiver.spans.filter(({ traceId }) => traceId === decision?.traceId)
    return wanted.every((name) => trace.some((span) => span.name === name)) && trace
  })
const OF_ENVOY = ['agw.call', 'agw.ext_proc']

const names = (trace: readonly ReceivedSpan[]): readonly string[] =>
  trace.map(({ name }) => name).sort()
function named(trace: readonly ReceivedSpan[], name: string): ReceivedSpan {
  const span = trace.find((one) => one.name === name)
  assert.ok(span, name)
  return span
}

/** Each span begins and ends within the one that it belongs to; the clocks may differ a little. */
function assertLinks(trace: readonly ReceivedSpan[]): void {
  const [root, ...others] = trace.filter(({ parentSpanId }) => parentSpanId === '')
  assert.deepEqual([root?.name, others.length], ['agw.call', 0])
  assert.equal(new Set(trace.map(({ spanId }) => spanId)).size, trace.length)
  for (const span of trace) {
    assert.ok(BigInt(span.startTimeUnixNano) <= BigInt(span.endTimeUnixNano), span.name)
    if (span === root) continue
    const parent = trace.find(({ spanId }) => spanId === span.parentSpanId)
    assert.ok(parent, `${span.name} has a parent`)
    const early_ns = BigInt(parent.startTimeUnixNano) - BigInt(span.startTimeUnixNano)
    assert.ok(early_ns < 5_000_000n, `${span.name} begins ${early_ns} ns before ${parent.name}`)
  }
}

const PARENTS = {
  'agw.upstream': 'agw.call',
  'agw.ext_proc': 'agw.call',
  'agw.decision': 'agw.ext_proc',
} as const

const CALLER = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00'
const planted = {
  ...access.headers,
  'user-agent': `${SECRET}-agent`,
  cookie: `a=${SECRET}-cookie`,
  'x-request-id': `${SECRET}-id`,
  'x-client-trace-id': `${SECRET}-client`,
  tracestate: `a=${SECRET}-state`,
  baggage: `a=${SECRET}-baggage`,
}

test('an allowed call is one trace: of Envoy, of the decision, of each step, of the API', async () => {
  const sentFrom = api.mark()
  const answer = await call({
    to: stack.proxyUrl,
    method: 'POST',
    path: `/${access.base_url}/allowed/${SECRET}-path?q=${SECRET}-query`,
    headers: { ...planted, traceparent: CALLER, 'content-type': 'text/plain' },
    body: `${SECRET}-body`,
  })
  assert.equal(answer.status, 200, answer.body.toString())
  const trace = await traceOf(answer.header('x-agw-request-id'), [...OF_ENVOY, 'agw.upstream'])
  assert.deepEqual(names(trace), [
    'agw.call',
    'agw.decision',
    'agw.ext_proc',
    'agw.step.agent',
    'agw.step.body',
    'agw.step.credential',
    'agw.step.integration',
    'agw.step.rate',
    'agw.step.scan',
    'agw.step.scope',
    'agw.step.target',
    'agw.upstream',
  ])
  assertLinks(trace)
  const decision = named(trace, 'agw.decision')
  for (const [child, parent] of Object.entries(PARENTS))
    assert.equal(named(trace, child).parentSpanId, named(trace, parent).spanId, child)
  for (const span of trace)
    if (span.name.startsWith('agw.step.')) assert.equal(span.parentSpanId, decision.spanId)
  const { agent, integration } = access
  assert.deepEqual(attributesOf(decision), {
    'agw.decision': 'allowed',
    'agw.organization.id': 'org_default',
    'agw.agent.id': agent.agent_id,
    'agw.integration.id': integration.integration_id,
    'agw.request.id': answer.header('x-agw-request-id'),
    'agw.edge.id': attributesOf(decision)['agw.edge.id'],
  })
  assert.equal(attributesOf(named(trace, 'agw.call'))['http.response.status_code'], '200')
  // The API is told nothing of it, and what the caller says goes on as it came.
  assert.notEqual(decision.traceId, CALLER.split('-')[1])
  const [seen] = sentFrom()
  const sent = new Map(seen?.headers.map(([name, value]) => [name.toLowerCase(), value]))
  assert.equal(sent.get('traceparent'), CALLER)
  assert.equal(sent.get('tracestate'), planted.tracestate)
  assert.equal(sent.get('baggage'), planted.baggage)
  assert.equal(
    [...sent.values()].some((value) => value.includes(decision.traceId)),
    false,
  )
})

test('without a trace context of the caller, the API gets none', async () => {
  const sentFrom = api.mark()
  const path = `/${access.base_url}/allowed/plain`
  const forged = { ...access.headers, 'x-agw-traceparent': CALLER }
  assert.equal((await call({ to: stack.proxyUrl, path, headers: forged })).status, 200)
  const [seen] = sentFrom()
  const sent = seen?.headers.map(([name]) => name.toLowerCase()) ?? []
  for (const name of ['traceparent', 'tracestate', 'baggage', 'x-agw-traceparent'])
    assert.ok(!sent.includes(name), name)
})

test('a refused call is a trace that ends with the step that refused it', async () => {
  for (const [path, reason, step] of [
    [`/${access.base_url}/${SECRET}-denied?q=${SECRET}`, 'permission_denied', 'scope'],
    [`/https://${SECRET}.test/a`, 'integration_not_found', 'integration'],
  ] as const) {
    const answer = await call({ to: stack.proxyUrl, path, headers: planted })
    const trace = await traceOf(answer.header('x-agw-request-id'), OF_ENVOY)
    assertLinks(trace)
    const decision = attributesOf(named(trace, 'agw.decision'))
    assert.equal(decision['agw.decision'], 'blocked')
    assert.equal(decision['agw.reason'], reason)
    assert.equal(decision['http.response.status_code'], String(answer.status))
    const steps = trace.filter(({ name }) => name.startsWith('agw.step.'))
    const refused = steps.filter((span) => attributesOf(span)['agw.outcome'] === 'deny')
    assert.deepEqual(names(refused), [`agw.step.${step}`])
    assert.ok(!names(trace).includes('agw.upstream'), 'nothing reached the API')
  }
})

test('a call that is cut by a kill says so', async () => {
  const killed = await stack.makeAccess()
  const open = openCall(
    stack.proxyUrl,
    `${killed.base_url}/sse?ticks=100000&interval_ms=20`,
    killed.headers,
  )
  assert.equal(await open.answered, 200)
  await operator.send('POST', `/admin/agents/${killed.agent.agent_id}/kill`, { reason: SECRET })
  await open.ended
  const end = await until('its end', () =>
    receiver.spans.find(
      (span) =>
        span.name === 'agw.end' && attributesOf(span)['agw.agent.id'] === killed.agent.agent_id,
    ),
  )
  assert.equal(attributesOf(end)['agw.decision'], 'terminated')
  assert.equal(attributesOf(end)['agw.reason'], 'agent_killed')
})

test('a call of the forward proxy is a trace, and so is its tunnel', async () => {
  const ca = await (await fetch(`${stack.apiUrl}/ca.pem`)).text()
  const client = new ForwardClient(stack.forwardPort ?? 0, ca)
  const to = stack.origin('other')
  const inside = await operator.makeAccess(to)
  const connections = client.agent({
    key: inside.agent.api_key,
    lines: [`traceparent: ${CALLER}`, `x-of-caller: ${SECRET}`],
  })
  try {
    const headers = { traceparent: CALLER, 'x-of-caller': SECRET }
    const answer = await call({ to, path: '/echo', connections, headers })
    assert.equal(answer.status, 200)
    assertLinks(await traceOf(answer.header('x-agw-request-id'), [...OF_ENVOY, 'agw.upstream']))
  } finally {
    connections.destroy()
    client.close()
  }
  // That of the tunnel ends with it.
  const decisions = await until('the tunnel has ended', () => {
    const ids = receiver.spans
      .filter((span) => attributesOf(span)['agw.agent.id'] === inside.agent.agent_id)
      .map(({ traceId }) => traceId)
    const roots = receiver.spans.filter(
      ({ name, traceId }) => name === 'agw.call' && ids.includes(traceId),
    )
    return roots.length === 2 && ids
  })
  assert.equal(decisions.length, 2)
})

test('no secret, header, path or body is in what the receiver got, and it got its own header', () => {
  const text = receiver.text()
  assert.ok(receiver.spans.length > 30)
  assert.ok(
    !text.includes(SECRET),
    text.slice(Math.max(0, text.indexOf(SECRET) - 200)).slice(0, 400),
  )
  for (const secret of operator.secrets) assert.ok(!text.includes(secret))
  assert.ok(!text.includes(CALLER.split('-')[1] ?? ''))
  for (const headers of receiver.headers) assert.equal(headers['x-of-receiver'], 'known to it')
})

const KNOWN = { egress_allow_cidrs: ['127.0.0.0/8'], verdict_secrets: null }

test('agw doctor finds nothing wrong with a listener that traces', async () => {
  const dump = JSON.parse(await stack.envoyAdmin('/config_dump'))
  const found = checkEnvoyConfig(dump, '', KNOWN).filter(
    ({ check, state, says }) =>
      (state === 'failed' && !check.startsWith('envoy forward: ')) || says.includes('tracing'),
  )
  assert.deepEqual(found, [])
})

test('a caller cannot have its calls traced', async () => {
  const few = await startSpanReceiver()
  const own = await startAll({ AGW_TRACE_URL: few.url, AGW_TRACE_SAMPLE: '0.01' })
  const called = await own.makeAccess()
  const sampled = CALLER.replace(/00$/, '01')
  const CALLS = 40
  for (let i = 0; i < CALLS; i++) {
    const headers = {
      ...called.headers,
      traceparent: sampled,
      'x-agw-traceparent': sampled,
      'x-client-trace-id': String(i),
      'x-envoy-force-trace': 'true',
      'x-b3-sampled': '1',
      b3: `${sampled.slice(3, 35)}-b7ad6b7169203331-1`,
    }
    const answer = await call({ to: own.proxyUrl, path: `/${called.base_url}/a`, headers })
    assert.equal(answer.status, 200)
  }
  // A stop sends what waits.
  await stopAll(own)
  few.stop()
  // One in 10,000 is sampled.
  assert.ok(few.spans.filter(({ name }) => name === 'agw.decision').length < CALLS / 10)
  assert.ok(!few.text().includes(CALLER.split('-')[1] ?? ''))
})

test('in the Envoy of a company its own tracing stays, and the decision is a part of its traces', async () => {
  const ours = await startSpanReceiver()
  const company = await startCompanyApi()
  const fleet = await startFleet({ env: { AGW_TRACE_URL: ours.url } })
  try {
    let port = 0
    const edit = (yaml: string): string => {
      port = Number(/name: agents\s+address:[\s\S]*?port_value: (\d+)/.exec(yaml)?.[1])
      return companyEnvoy('filter', { company: port, api: company.port }, (config) => {
        managerOf(config).tracing = OF_THE_COMPANY
      })(yaml)
    }
    // `agw envoy-config` adds no tracing here (test/unit/envoy-config.test.ts).
    await fleet.addEnvoy(edit, { AGW_TRACE_URL: undefined })
    const traced = await fleet.operator.makeAccess(`${company.origin}/traced`)
    const traceparent = CALLER.replace(/00$/, '01')
    const path = `/${traced.base_url}/a`
    const to = `http://127.0.0.1:${port}`
    const answer = await call({ to, path, headers: { ...traced.headers, traceparent } })
    assert.equal(answer.status, 200, answer.body.toString())
    const decision = await until('the decision', () =>
      ours.spans.find(
        (span) => attributesOf(span)['agw.integration.id'] === traced.integration.integration_id,
      ),
    )
    const [, trace_id = '', span_id] = CALLER.split('-')
    assert.equal(decision.traceId, trace_id)
    assert.notEqual(decision.parentSpanId, span_id, 'it belongs to a span of Envoy')
    const [seen = ''] = company.seen.filter((one) => one.includes('/traced/a'))
    assert.ok(seen.includes(trace_id), 'the context of the caller goes on')
  } finally {
    await fleet.stop()
    await company.stop()
    ours.stop()
  }
})

/** It follows its callers, and nobody takes its spans. */
const OF_THE_COMPANY = {
  provider: {
    name: 'envoy.tracers.opentelemetry',
    typed_config: {
      '@type': 'type.googleapis.com/envoy.config.trace.v3.OpenTelemetryConfig',
      service_name: 'company',
      grpc_service: { envoy_grpc: { cluster_name: 'company_api' } },
    },
  },
}
