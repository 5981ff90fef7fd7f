import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { test } from 'node:test'
import { loadPackageDefinition, type ServiceDefinition } from '@grpc/grpc-js'
import { loadSync } from '@grpc/proto-loader'
import fc from 'fast-check'
import { fromRoot } from '../../core/system/root.ts'
import { AccessLog } from '../../ext-proc/access-log/access-log.ts'
import type { AccessLogStream } from '../../ext-proc/envoy/start-server.ts'
import type { ActivityRecorder } from '../../ext-proc/record/activity-recorder.ts'
import { lineOfCall } from '../../ext-proc/access-log/line-of-call.ts'
import { writeCallFacts } from '../../ext-proc/record/write-call-facts.ts'
import { endOfCall } from '../../ext-proc/access-log/end-of-call.ts'
import { type FinishedCall, readAccessLog } from '../../ext-proc/access-log/read-access-log.ts'
import { CallRecord } from '../../ext-proc/record/call-record.ts'
import { anyCharacter } from '../kit/any-character.ts'
import { finishedCall } from '../kit/finished-call.ts'

const loaded: any = loadPackageDefinition(
  loadSync('envoy/service/accesslog/v3/als.proto', {
    includeDirs: [fromRoot('proto')],
    keepCase: true,
  }),
)
const service = loaded.envoy.service.accesslog.v3.AccessLogService.service as ServiceDefinition
const encode = (message: object): Buffer =>
  service['StreamAccessLogs']?.requestSerialize(message) as Buffer

const text = fc.string({ unit: anyCharacter })
const orNull = fc.option(text)

/** A call as a decision has left it. */
const record = fc
  .record({
    agent_id: orNull,
    agent_name: orNull,
    endpoint: orNull,
    method: text,
    key: text,
    value: fc.jsonValue(),
    has_data: fc.boolean(),
  })
  .map(({ agent_id, agent_name, endpoint, method, key, value, has_data }) => {
    const one = new CallRecord(
      {
        organization_id: 'org_default',
        agent_id,
        agent_name,
        key_id: 'key_1',
        integration_id: 'int_1',
        scope_id: null,
        rule: 2,
        method,
        endpoint,
        source_ip: '203.0.113.9',
        request_id: 'r',
        bytes_in: null,
        data: has_data ? JSON.parse(JSON.stringify({ [`k${key}`]: value })) : {},
      },
      null,
      'edge-1',
      () => 5,
      Date.UTC(2026, 0, 1),
    )
    one.note('target', 'pass')
    return one
  })

test('the facts attached to a pass are ASCII, and the resulting line equals the entry of the record', () => {
  fc.assert(
    fc.property(record, (one) => {
      const passed = one.passed()
      const entry = one.allowed()
      assert.ok(passed !== null && entry !== null)
      const facts = writeCallFacts(passed)
      assert.match(facts, /^[\t -~]*$/)
      const call = finishedCall(facts)
      const line = lineOfCall(call, endOfCall(call), Date.now())
      assert.equal(line?.organization_id, 'org_default')
      const [delivered, json = '', ...rest] = line?.line.trimEnd().split('\t') ?? []
      assert.equal(delivered, '')
      assert.deepEqual(rest, [])
      const written = JSON.parse(json)
      assert.deepEqual(written, {
        ...JSON.parse(JSON.stringify(entry)),
        id: written.id,
        status: 200,
        duration_ms: 1.5,
        bytes_in: 10,
        bytes_out: 20,
        data: { ...JSON.parse(JSON.stringify(entry.data)), upstream: { outcome: 'answered' } },
      })
    }),
  )
})

test('the entry of a WebSocket has its frames', () => {
  const [one] = fc.sample(record, 1)
  const passed = one?.passed()
  assert.ok(passed)
  const dataOf = (frames: string): any => {
    const call = finishedCall(writeCallFacts(passed), { frames, status: 101 })
    return JSON.parse(lineOfCall(call, endOfCall(call), 0)?.line.split('\t')[1] ?? '').data
  }
  assert.deepEqual(dataOf('3').websocket, { frames_in: 3 })
  assert.deepEqual(dataOf('3,4').websocket, { frames_in: 3, frames_out: 4 })
  for (const frames of ['', '3,', 'a', '1,2,3', '"'])
    assert.equal(dataOf(frames).websocket, undefined, frames)
})

test('a finding that was let through is delivered, unless the processor was lost', () => {
  const [one] = fc.sample(record, 1)
  one?.found({ mode: 'alert', pattern_name: 'x' })
  const passed = one?.passed()
  assert.ok(passed)
  const lineOf = (more: Partial<FinishedCall>): string => {
    const call = finishedCall(writeCallFacts(passed), more)
    return lineOfCall(call, endOfCall(call), 0)?.line ?? ''
  }
  assert.match(lineOf({}), /^injection_detected bounded\t.*"event":"injection_detected"/)
  const lost = lineOf({ details: 'ext_proc_error_gRPC_error_14', flags: [] })
  assert.match(lost, /^\t.*"event":"request_rejected".*"decision":"terminated".*"mode":"alert"/)
})

test('the outcome of a call follows from the flags and details of Envoy', () => {
  type Row = readonly [Partial<FinishedCall>, string, string | null]
  const rows: readonly Row[] = [
    [{}, 'answered', null],
    [{ status: 500 }, 'answered', null],
    [
      { status: 504, details: 'upstream_response_timeout', flags: [3] },
      'timeout',
      'upstream_timeout',
    ],
    [
      { status: 502, details: 'dns_resolution_failure', flags: [27] },
      'unreachable',
      'upstream_unreachable',
    ],
    [
      { status: 502, details: 'upstream_reset_before_response_started', flags: [6] },
      'unreachable',
      'upstream_unreachable',
    ],
    [
      {
        status: 502,
        details: 'upstream_reset_before_response_started{protocol_error}',
        flags: [24],
      },
      'reset',
      'upstream_reset',
    ],
    [
      {
        status: 502,
        details: 'upstream_reset_before_response_started{connection_termination}',
        flags: [7],
      },
      'reset',
      'upstream_reset',
    ],
    [
      {
        status: 502,
        details: 'upstream_reset_before_response_started{remote_connection_failure}',
        flags: [6],
      },
      'unreachable',
      'upstream_unreachable',
    ],
    [{ status: 501, details: 'http1.unsupported_transfer_encoding' }, 'answered', 'bad_request'],
    [{ status: 200, details: 'upstream_reset_after_response_started', flags: [5] }, 'reset', null],
    [{ status: 0, details: 'downstream_remote_disconnect', flags: [15] }, 'caller_left', null],
    [{ status: 413, details: 'request_payload_too_large' }, 'answered', 'request_too_large'],
    [{ status: 503, details: 'ext_proc_error' }, 'cut', 'gateway_unavailable'],
    // A filter or route of the company in the same Envoy has answered.
    [{ status: 401, details: 'jwt_authn_access_denied{Jwt_is_missing}' }, 'not_sent', null],
    [{ status: 503, details: 'fault_filter_abort', flags: [11] }, 'not_sent', null],
    [{ status: 200, details: 'direct_response', route_name: 'theirs' }, 'not_sent', null],
    [{ status: 404, details: 'route_not_found', flags: [9] }, 'not_sent', 'gateway_unavailable'],
    ...['no-verdict', 'agw-no-verdict', 'agw-no-verdict-https'].map(
      (route_name): Row => [
        { status: 503, details: 'no_healthy_upstream', flags: [2], route_name },
        'not_sent',
        'gateway_unavailable',
      ],
    ),
    [
      { status: 503, details: 'direct_response', route_name: 'no-verdict' },
      'not_sent',
      'gateway_unavailable',
    ],
    [
      { status: 503, details: 'no_healthy_upstream', flags: [2], route_name: 'agw-pass-https' },
      'unreachable',
      'upstream_unreachable',
    ],
  ]
  for (const [more, outcome, reason] of rows) {
    const made = endOfCall(finishedCall('', more))
    assert.equal(JSON.parse(made.upstream).outcome, outcome, JSON.stringify(more))
    assert.equal(made.reason, reason, JSON.stringify(more))
  }
})

test('the reader takes from a message what the definition says is there', () => {
  const size = fc.integer({ min: 0, max: 2 ** 40 })
  const entry = fc.record({
    facts: fc.string().map((s) => s.replaceAll(/[^ -~]/g, '')),
    frames: fc.constantFrom('', '1,2'),
    status: fc.integer({ min: 0, max: 599 }),
    bytes_in: size,
    bytes_out: size,
    seconds: fc.integer({ min: 0, max: 100_000 }),
    nanos: fc.integer({ min: 0, max: 999_999_999 }),
    start_ms: fc.nat(),
    details: fc.constantFrom('', 'via_upstream', 'ext_proc_error'),
    route_name: fc.constantFrom('', 'admin'),
    probe_pass: fc.constantFrom('', 'a pass'),
  })
  fc.assert(
    fc.property(fc.array(entry), (entries) => {
      const log_entry = entries.map((one) => ({
        common_properties: {
          response_flags: { upstream_remote_reset: true, downstream_remote_reset: true },
          metadata: {
            filter_metadata: {
              other: { fields: { f: { stringValue: 'not ours' } } },
              agw: {
                fields: {
                  r: { stringValue: 'x' },
                  f: { stringValue: one.facts },
                  w: { stringValue: one.frames },
                },
              },
            },
          },
          route_name: one.route_name,
          start_time: {
            seconds: Math.floor(one.start_ms / 1000),
            nanos: (one.start_ms % 1000) * 1e6,
          },
          duration: { seconds: one.seconds, nanos: one.nanos },
        },
        request: {
          request_body_bytes: one.bytes_in,
          request_headers: { 'x-other': 'a', 'x-agw-probe': one.probe_pass },
        },
        response: {
          response_code: { value: one.status },
          response_body_bytes: one.bytes_out,
          response_code_details: one.details,
        },
      }))
      const read = readAccessLog(encode({ http_logs: { log_entry } }))
      assert.deepEqual(
        read,
        entries.map(({ seconds, nanos, ...one }) => ({
          ...one,
          duration_ms: seconds * 1000 + nanos / 1e6,
          flags: [5, 28],
          upstream_failure: '',
        })),
      )
    }),
  )
})

test('bytes that are no message throw and do nothing worse', () => {
  fc.assert(
    fc.property(fc.uint8Array(), (bytes) => {
      try {
        readAccessLog(Buffer.from(bytes))
      } catch (error) {
        assert.match(String(error), /protobuf/)
      }
    }),
  )
})

test('answers of APIs and refusals of Envoy are counted, whatever an agent calls itself, but probes are not', async () => {
  const seen: string[] = []
  const accessLog = new AccessLog({
    recorder: {
      finished: () => undefined,
      settle: () => undefined,
      refusedUnknown: async () => undefined,
    } as Pick<ActivityRecorder, 'finished' | 'settle' | 'refusedUnknown'> as ActivityRecorder,
    metrics: {
      answered: (integration, answer) => void seen.push(`${integration} ${answer}`),
      refusedByEnvoy: (reason) => void seen.push(reason),
    },
    isProbe: async (pass) => pass === 'a probe',
    is_stand_in: false,
    log: { warn: (_data, message) => assert.fail(message) },
    nowMs: Date.now,
  })
  const facts = (agent_name: string): string =>
    `org\trequest_allowed\t0\t{"agent_name":${JSON.stringify(agent_name)},"integration_id":"int_1","data":{}}`
  const entry = (fact: string, status: number, details: string, flags = {}): object => ({
    common_properties: {
      response_flags: flags,
      metadata: { filter_metadata: { agw: { fields: { f: { stringValue: fact } } } } },
    },
    response: { response_code: { value: status }, response_code_details: details },
  })
  const forged = '","integration_id":"int_2"'
  const stream = new EventEmitter()
  accessLog.handler(stream as AccessLogStream, () => undefined)
  stream.emit(
    'data',
    encode({
      http_logs: {
        log_entry: [
          entry(facts('a'), 200, 'via_upstream'),
          entry(facts(forged), 404, 'via_upstream'),
          entry(facts('a'), 503, 'via_upstream'),
          entry(facts('a'), 502, 'upstream_reset', { upstream_connection_failure: true }),
          entry('', 503, 'ext_proc_error'),
          entry('', 431, 'request_headers_too_large'),
          ...['a probe', 'of a caller'].map((pass) => ({
            ...entry('', 413, 'request_payload_too_large'),
            request: { request_headers: { 'x-agw-probe': pass } },
          })),
        ],
      },
    }),
  )
  await Promise.resolve()
  assert.deepEqual(seen, [
    'int_1 2xx',
    'int_1 4xx',
    'int_1 5xx',
    'int_1 unreachable',
    'gateway_unavailable',
    'headers_too_large',
    'request_too_large',
  ])
})
