import { openScanPool } from '../../core/inspection/scan-pool.ts'
import { SCOPE_DEFAULTS } from '../../core/model.ts'
import { HeldBytes } from '../../ext-proc/call/held-bytes.ts'
import { CallStream } from '../../ext-proc/call/call-stream.ts'
import { decideCall } from '../../ext-proc/call/decide-call.ts'
import { CallsInFlight } from '../../ext-proc/kill/calls-in-flight.ts'
import type { ActivityRecorder } from '../../ext-proc/record/activity-recorder.ts'
import { beginRecord } from '../../ext-proc/record/begin-record.ts'
import { FakeEnvoyStream } from '../kit/fake-envoy-stream.ts'
import { openGateway } from '../unit/decision-kit.ts'

/** A gateway on a faked store, and one allowed GET on a stream of its own. */
export function openCalls(): {
  readonly call: () => Promise<void>
  readonly close: () => void
} {
  const { services, headers } = openGateway(
    {
      method: 'GET',
      body: '',
      headers: { 'content-length': '', accept: '*/*', 'user-agent': 'curl/8.10.1' },
      auth: { type: 'bearer', token: 'the secret' },
      scope: {
        ...SCOPE_DEFAULTS,
        rate_limiting: { ...SCOPE_DEFAULTS.rate_limiting, requests_per_minute: 600 },
      },
    },
    [],
  )
  const pool = openScanPool({ workers: 1, queue_limit: 1 })
  const inFlight = new CallsInFlight()
  const call = async (): Promise<void> => {
    const envoy = new FakeEnvoyStream(true)
    const stream = new CallStream(envoy.stream, {
      inFlight,
      heldBytes: new HeldBytes({ per_agent: 1_000_000, per_organization: 1_000_000 }),
      recorder: {} as ActivityRecorder,
      metrics: { decided: () => undefined },
      traces: null,
      begin: (received) => beginRecord(received, 'edge-1', () => 0),
      afterPause: () => null,
      decide: (received, io, record) => decideCall({ ...services, pool }, received, io, record),
      reviews: { generation: 0, add: () => undefined, watchEnd: () => undefined },
      watchOf: () => ({ begin: () => null }),
      whyUnavailable: () => null,
      is_strict: false,
      log: { error: (data, message) => console.error(message, data) },
    })
    envoy.requestHeaders(true, Object.fromEntries(headers.map(({ name, value }) => [name, value])))
    while (envoy.sent.length === 0) await new Promise((resolve) => setImmediate(resolve))
    if (envoy.sent[0] !== 'pass in request_headers')
      throw new Error(`not allowed: ${envoy.sent[0]}`)
    envoy.responseHeaders()
    envoy.emit('end')
    await stream.ended
  }
  return { call, close: () => pool.close() }
}
