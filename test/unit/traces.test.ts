import assert from 'node:assert/strict'
import { afterEach, describe, test } from 'node:test'
import { resolveAlerts } from '../../admin/alerts/resolve-alerts.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { Header } from '../../core/request/header.ts'
import { beginRecord } from '../../ext-proc/record/begin-record.ts'
import { readEnvoySpans } from '../../ext-proc/trace/read-envoy-spans.ts'
import { readTraceParent } from '../../ext-proc/trace/read-trace-parent.ts'
import type { Span } from '../../ext-proc/trace/span.ts'
import { SpanExporter, type SpanExporterParts } from '../../ext-proc/trace/span-exporter.ts'
import { CallTraces } from '../../ext-proc/trace/call-traces.ts'
import { type SpanReceiver, startSpanReceiver } from '../kit/start-span-receiver.ts'
import { unitStore } from '../kit/unit-store.ts'
import { until } from '../kit/until.ts'

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const PARENT = 'b7ad6b7169203331'
const SAMPLED = `00-${TRACE}-${PARENT}-01`
const REQUEST_ID = '6e3e2c02-2ade-9d9b-9b9c-6c1acb2404db'

test('only a well-formed context of a sampled call is a parent', () => {
  const parent = { trace_id: TRACE, span_id: PARENT }
  for (const text of [SAMPLED, `00-${TRACE}-${PARENT}-03`, `01-${TRACE}-${PARENT}-01-more`])
    assert.deepEqual(readTraceParent(text), parent, text)
  for (const text of [
    '',
    `00-${TRACE}-${PARENT}-00`,
    `00-${TRACE}-${PARENT}-02`,
    `ff-${TRACE}-${PARENT}-01`,
    `00-${'0'.repeat(32)}-${PARENT}-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    `00-${TRACE.toUpperCase()}-${PARENT}-01`,
    `00-${TRACE}-${PARENT}-01more`,
    `00-${TRACE}-${PARENT}`,
    ` ${SAMPLED}`,
  ])
    assert.equal(readTraceParent(text), null, text)
})

/** A length-delimited field of protobuf. */
function field(number: number, content: Buffer | string): Buffer {
  const bytes = Buffer.from(content)
  return Buffer.concat([varint(number * 8 + 2), varint(bytes.length), bytes])
}
function varint(value: number): Buffer {
  const bytes: number[] = []
  let rest = value
  for (; rest >= 128; rest >>>= 7) bytes.push((rest & 127) | 128)
  return Buffer.from([...bytes, rest])
}
function fixed64(number: number, value: bigint): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(value)
  return Buffer.concat([varint(number * 8 + 1), bytes])
}
const attribute = (key: string, value: string): Buffer =>
  field(9, Buffer.concat([field(1, key), field(2, field(1, value))]))
const requestOf = (...spans: readonly Buffer[]): Buffer =>
  field(
    1,
    Buffer.concat([
      field(1, attribute('service.name', 'secret-resource')),
      field(2, Buffer.concat([field(1, 'secret-scope'), ...spans.map((span) => field(2, span))])),
    ]),
  )
const spanWith = (name: string, ...more: readonly Buffer[]): Buffer =>
  Buffer.concat([
    field(1, Buffer.from(TRACE, 'hex')),
    field(2, Buffer.from(PARENT, 'hex')),
    field(3, 'a=secret-state'),
    field(5, name),
    Buffer.from([0x30, 2]),
    fixed64(7, 1_700_000_000_123_456_789n),
    fixed64(8, 1_700_000_000_223_456_789n),
    ...more,
  ])

describe('spans of Envoy', () => {
  test('only what is on the list is passed on, and only in the form that it must have', () => {
    const spans = readEnvoySpans(
      requestOf(
        spanWith(
          'ingress',
          attribute('http.url', 'https://secret-url'),
          attribute('user_agent', 'secret-agent'),
          attribute('peer.address', '/secret-address'),
          attribute('__proto__', 'secret'),
          attribute('http.status_code', '503'),
          attribute('response_flags', 'UF,URX'),
          attribute('guid:x-request-id', REQUEST_ID),
          field(11, 'secret-event'),
          field(15, Buffer.concat([field(2, 'secret-status'), Buffer.from([0x18, 2])])),
        ),
      ),
    )
    assert.deepEqual(spans, [
      {
        traceId: TRACE,
        spanId: PARENT,
        parentSpanId: '',
        name: 'agw.call',
        kind: 2,
        startTimeUnixNano: '1700000000123456789',
        endTimeUnixNano: '1700000000223456789',
        attributes: [
          { key: 'http.response.status_code', value: { intValue: '503' } },
          { key: 'agw.envoy.response_flags', value: { stringValue: 'UF,URX' } },
          { key: 'agw.request.id', value: { stringValue: REQUEST_ID } },
        ],
        status: { code: 2 },
      },
    ] satisfies Span[])
    const planted = readEnvoySpans(
      requestOf(
        spanWith(
          'secret-name',
          attribute('http.status_code', 'secret'),
          attribute('response_flags', 'secret flags'),
          attribute('guid:x-request-id', 'secret'),
          attribute('grpc.status_code', '1secret'),
        ),
      ),
    )
    assert.deepEqual([planted[0]?.name, planted[0]?.attributes], ['agw.envoy', []])
    assert.doesNotMatch(JSON.stringify([spans, planted]), /secret/)
  })

  test('names are those of a closed list', () => {
    for (const [name, shown] of [
      ['router upstream_https egress', 'agw.upstream'],
      ['router own.secret egress', 'agw.upstream'],
      ['async envoy.service.ext_proc.v3.ExternalProcessor.Process egress', 'agw.ext_proc'],
      ['ingress secret', 'agw.envoy'],
    ] as const)
      assert.equal(readEnvoySpans(requestOf(spanWith(name)))[0]?.name, shown)
  })

  test('a malformed message throws or has no spans, wherever it is cut', () => {
    const whole = requestOf(spanWith('ingress', attribute('http.status_code', '200')))
    for (let length = 0; length < whole.length; length++) {
      let spans: readonly Span[] = []
      try {
        spans = readEnvoySpans(whole.subarray(0, length))
      } catch {
        // As it should.
      }
      assert.deepEqual(spans, [], String(length))
    }
    assert.deepEqual(readEnvoySpans(requestOf(field(1, 'short'))), [])
  })

  test('a request has a bound', () => {
    const many = Array.from({ length: 5_000 }, () => spanWith('ingress'))
    assert.equal(readEnvoySpans(requestOf(...many)).length, 4_096)
  })
})

const headers: readonly Header[] = [
  { name: ':method', value: 'GET' },
  { name: 'x-request-id', value: REQUEST_ID },
]

describe('traces of calls', () => {
  let spans: Span[] = []
  let dropped = 0
  let clock_ms = 0
  afterEach(() => {
    spans = []
    dropped = 0
    clock_ms = 0
  })
  const tracesOf = (): CallTraces =>
    new CallTraces({
      exporter: {
        add: (more) => void spans.push(...more),
        drop: (count) => {
          dropped += count
        },
        metrics: { agw_trace_spans_dropped_total: 0, agw_trace_spans_exported_total: 0 },
        stop: () => Promise.resolve(),
      },
      edge_id: 'edge-1',
      clockMs: () => clock_ms,
      wallMs: () => Math.floor(1_700_000_000_000 + clock_ms),
    })
  const stream = { traceparent: SAMPLED }
  const allowed = { decision: 'allowed', reason: null, status: null } as const

  test('a decision is a span below that of Envoy, with the times of its steps', () => {
    const record = beginRecord(headers, 'edge-1', () => clock_ms)
    clock_ms = 2
    record.note('target', 'pass')
    clock_ms = 5
    record.note('agent', 'deny')
    clock_ms = 6
    tracesOf().decided(
      stream,
      record,
      { decision: 'blocked', reason: 'agent_killed', status: 403 },
      null,
    )
    assert.deepEqual(
      spans.map(({ name, parentSpanId, startTimeUnixNano, endTimeUnixNano }) => [
        name,
        parentSpanId === PARENT,
        startTimeUnixNano.slice(-8),
        endTimeUnixNano.slice(-8),
      ]),
      [
        ['agw.decision', true, '00000000', '06000000'],
        ['agw.step.target', false, '00000000', '02000000'],
        ['agw.step.agent', false, '02000000', '05000000'],
      ],
    )
    assert.deepEqual(
      spans[0]?.attributes.map(({ key, value }) => [key, Object.values(value)[0]]),
      [
        ['agw.decision', 'blocked'],
        ['agw.reason', 'agent_killed'],
        ['agw.request.id', REQUEST_ID],
        ['agw.edge.id', 'edge-1'],
        ['http.response.status_code', '403'],
      ],
    )
    assert.ok(spans.every(({ traceId }) => traceId === TRACE))
  })

  test('what happens to a call after it was passed is a span of its own', () => {
    const record = beginRecord(headers, 'edge-1', () => clock_ms)
    clock_ms = 9
    const outcome = { decision: 'terminated', reason: 'agent_killed', status: null } as const
    tracesOf().decided(stream, record, outcome, 4)
    assert.deepEqual(
      spans.map(({ name, startTimeUnixNano }) => [name, startTimeUnixNano.slice(-8)]),
      [['agw.end', '04000000']],
    )
  })

  test('a request id that is not of the form of Envoy is not in a span', () => {
    const record = beginRecord([{ name: 'x-request-id', value: 'secret' }], 'e', () => 0)
    tracesOf().decided(stream, record, allowed, null)
    assert.doesNotMatch(JSON.stringify(spans), /secret/)
  })

  test('a call that is not sampled has no span, and of too many in a second the others have none', () => {
    const traces = tracesOf()
    const record = beginRecord(headers, 'edge-1', () => clock_ms)
    for (const traceparent of ['', `00-${TRACE}-${PARENT}-00`])
      traces.decided({ traceparent }, record, allowed, null)
    assert.deepEqual([spans.length, dropped], [0, 0])
    for (let i = 0; i < 150; i++) traces.decided(stream, record, allowed, null)
    assert.deepEqual([spans.length, dropped], [100, 50])
    clock_ms = 1_000
    traces.decided(stream, record, allowed, null)
    assert.deepEqual([spans.length, dropped], [101, 50])
  })

  test('a span that Envoy reports again is passed on once', () => {
    const traces = tracesOf()
    for (let i = 0; i < 3; i++) traces.passOn(requestOf(spanWith('ingress')))
    assert.equal(spans.length, 1)
  })
})

describe('export of spans', () => {
  let receiver: SpanReceiver | null = null
  let exporter: SpanExporter | null = null
  let warnings: object[] = []
  afterEach(async () => {
    await exporter?.stop()
    receiver?.stop()
    receiver = exporter = null
    warnings = []
    const { redis } = await unitStore()
    await redis.flushall()
  })

  async function start(
    status: () => number | null,
    more: Partial<SpanExporterParts> = {},
  ): Promise<readonly [SpanExporter, SpanReceiver]> {
    const { redis } = await unitStore()
    receiver = await startSpanReceiver(status)
    exporter = new SpanExporter({
      url: receiver.url,
      headers: { authorization: 'Bearer secret-of-receiver' },
      proxy: null,
      installation: () => 'unit',
      redis,
      organization_id: 'org_default',
      log: {
        info: () => undefined,
        warn: (what: object) => void warnings.push(what),
      } as never,
      nowMs: () => performance.now(),
      now: () => new Date(),
      pause_ms: 1,
      ...more,
    })
    return [exporter, receiver]
  }
  const spansOf = (count: number): readonly Span[] =>
    Array.from({ length: count }, (_, i) => ({
      traceId: TRACE,
      spanId: i.toString(16).padStart(16, '0'),
      parentSpanId: PARENT,
      name: 'agw.call',
      kind: 1,
      startTimeUnixNano: '1',
      endTimeUnixNano: '2',
      attributes: [],
      status: {},
    }))

  test('all spans arrive once, in batches, with the name of the gateway and the header', async () => {
    const [one, { spans, headers: got, text }] = await start(() => 200)
    one.add(spansOf(600))
    await until('all are counted', () => one.metrics.agw_trace_spans_exported_total === 600)
    assert.equal(new Set(spans.map(({ spanId }) => spanId)).size, 600)
    assert.deepEqual([spans.length, got.length], [600, 3])
    assert.match(text(), /"agent-access-gateway".*"service.namespace".*"unit"/)
    assert.equal(got[0]?.authorization, 'Bearer secret-of-receiver')
  })

  test('while the receiver fails, the oldest spans are dropped and counted; the log says so once', async () => {
    let status = 503
    const [one, { spans, headers: got }] = await start(() => status)
    for (let i = 0; i < 20; i++) one.add(spansOf(1_000))
    await until('some attempts', () => got.length >= 3)
    const { agw_trace_spans_dropped_total: dropped } = one.metrics
    assert.ok(dropped >= 20_000 - 8_192 && dropped < 20_000, String(dropped))
    assert.equal(warnings.length, 1)
    assert.doesNotMatch(JSON.stringify(warnings), /secret-of-receiver/)
    status = 200
    await until('the others arrive', () => spans.length === 20_000 - dropped)
  })

  test('what a receiver refuses as a whole is dropped, and nothing is sent again', async () => {
    const [one, { headers: got }] = await start(() => 400)
    one.add(spansOf(3))
    await until('it is counted', () => one.metrics.agw_trace_spans_dropped_total === 3)
    assert.equal(got.length, 1)
    assert.equal(warnings.length, 1)
  })

  test('a receiver that never answers holds up neither a call nor the stop', async () => {
    const [one, { headers: got }] = await start(() => null, { stop_limit_ms: 50 })
    one.add(spansOf(300))
    await until('the request has arrived', () => got.length === 1)
    one.add(spansOf(1))
    await one.stop()
    one.add(spansOf(1))
    assert.deepEqual(one.metrics, {
      agw_trace_spans_exported_total: 0,
      agw_trace_spans_dropped_total: 302,
    })
  })

  test('a stop sends what waits, without waiting for its time', async () => {
    const [one, { spans }] = await start(() => 200, { pause_ms: 3_600_000, stop_limit_ms: 60_000 })
    one.add(spansOf(2))
    await one.stop()
    assert.equal(spans.length, 2)
    assert.equal(one.metrics.agw_trace_spans_exported_total, 2)
  })

  test('a failure that lasts raises one alert, which is resolved when spans arrive again', async () => {
    const { redis } = await unitStore()
    let status = 503
    const [one] = await start(() => status, { alert_after_ms: 0 })
    one.add(spansOf(1))
    const alerts = async (): Promise<readonly string[]> =>
      await redis.hvals(REDIS_KEYS.alertsOpen('org_default'))
    await until('the alert is open', async () => (await alerts()).length === 1)
    const [id = ''] = await alerts()
    const kind = await redis.hget(REDIS_KEYS.alert('org_default', id), 'kind')
    assert.equal(kind, 'trace_export_failing')
    await resolveAlerts(redis, ['org_default'], new Date())
    assert.equal((await alerts()).length, 1)
    status = 200
    await until('spans are exported', () => one.metrics.agw_trace_spans_exported_total === 1)
    await until(
      'the problem is gone',
      async () => (await redis.exists(REDIS_KEYS.traceExportProblem)) === 0,
    )
    await resolveAlerts(redis, ['org_default'], new Date())
    assert.equal((await alerts()).length, 0)
  })
})
