import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { test, type TestContext } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { loadPackageDefinition, type ServiceDefinition } from '@grpc/grpc-js'
import { loadSync } from '@grpc/proto-loader'
import { fromRoot } from '../../core/system/root.ts'
import { AccessLog } from '../../ext-proc/access-log/access-log.ts'
import type { AccessLogStream } from '../../ext-proc/envoy/start-server.ts'
import type { ActivityRecorder } from '../../ext-proc/record/activity-recorder.ts'
import { EdgeMetrics } from '../../ext-proc/record/edge-metrics.ts'

const loaded: any = loadPackageDefinition(
  loadSync('envoy/service/accesslog/v3/als.proto', {
    includeDirs: [fromRoot('proto')],
    keepCase: true,
  }),
)
const service = loaded.envoy.service.accesslog.v3.AccessLogService.service as ServiceDefinition

/** A batch whose newest call ended at a time. */
function batch(ended_ms: number): Buffer {
  const start_ms = ended_ms - 30
  const common_properties = {
    start_time: { seconds: Math.floor(start_ms / 1000), nanos: (start_ms % 1000) * 1e6 },
    duration: { nanos: 30e6 },
    route_name: 'admin',
  }
  const older = { ...common_properties, duration: { nanos: 1e6 } }
  const log_entry = [common_properties, older].map((one) => ({ common_properties: one }))
  return service['StreamAccessLogs']?.requestSerialize({ http_logs: { log_entry } }) as Buffer
}

const BEGAN_MS = 1_800_000_000_000

/**
 * Envoy's stream to a receiver or to its fallback, on a clock of the test's own.
 * @param resets whether Envoy resets the stream at once when the response has ended
 */
function open({ mock }: TestContext, is_stand_in: boolean, resets = true) {
  let now_ms = BEGAN_MS
  let is_ended = false
  mock.timers.enable({ apis: ['setInterval', 'setTimeout'] })
  const log = { warn: (_data: object, message: string) => assert.fail(message) }
  const recorder = { settle: () => undefined } as ActivityRecorder
  const accessLog = new AccessLog({
    recorder,
    metrics: new EdgeMetrics(),
    isProbe: async () => false,
    is_stand_in,
    log,
    nowMs: () => now_ms,
  })
  const stream = new EventEmitter()
  accessLog.handler(stream as AccessLogStream, () => {
    is_ended = true
    if (resets) stream.emit('cancelled')
  })
  const pass = (ms: number): void => {
    for (let i = 0; i < ms / 10; i++) {
      now_ms += 10
      mock.timers.tick(10)
    }
  }
  return {
    accessLog,
    pass,
    /** A batch arrives whose newest call has ended so long ago. */
    receive: (age_ms: number) => void stream.emit('data', batch(now_ms - age_ms)),
    leave: (event: 'end' | 'cancelled' | 'error') => void stream.emit(event),
    isEnded: () => is_ended,
  }
}

test('a receiver that stops ends its stream after a batch that has just been sent', (t) => {
  const envoy = open(t, false)
  envoy.receive(10)
  assert.equal(envoy.isEnded(), false, 'it does not stop yet')
  void envoy.accessLog.stop()
  envoy.pass(100)
  envoy.receive(10)
  assert.equal(envoy.isEnded(), true)
})

test('a stop lasts until Envoy has closed the stream that was ended, and has opened no other for a while', async (t) => {
  const envoy = open(t, false, false)
  let hasStopped = false
  const stopped = envoy.accessLog.stop(500, () => true).then(() => (hasStopped = true))
  // The stop looks at the clock of the test every 50 ms of real time.
  const looked = () => wait(120)
  envoy.receive(10)
  assert.equal(envoy.isEnded(), true)
  envoy.pass(600)
  await looked()
  assert.equal(hasStopped, false, 'Envoy has not closed it')
  envoy.leave('cancelled')
  envoy.pass(400)
  await looked()
  assert.equal(hasStopped, false, 'Envoy may open another one')
  envoy.pass(100)
  await stopped
})

test('a stop does not wait for streams that nobody can open', async (t) => {
  const envoy = open(t, false)
  const stopped = envoy.accessLog.stop(500, () => false)
  envoy.receive(10)
  await stopped
})

test('a batch that was read late does not end a stream: the next one may be under way', (t) => {
  const envoy = open(t, false)
  void envoy.accessLog.stop()
  for (const age_ms of [60, 90, 150, 700]) {
    envoy.pass(100)
    envoy.receive(age_ms)
    assert.equal(envoy.isEnded(), false, `${age_ms} ms`)
  }
  envoy.pass(100)
  envoy.receive(40)
  assert.equal(envoy.isEnded(), true)
})

test('a stream that is silent while its receiver stops is ended, though not before its last batch is surely there', (t) => {
  const envoy = open(t, false)
  envoy.pass(60_000)
  void envoy.accessLog.stop()
  envoy.pass(200)
  assert.equal(envoy.isEnded(), false)
  envoy.receive(90)
  envoy.pass(200)
  assert.equal(envoy.isEnded(), false)
  envoy.pass(100)
  assert.equal(envoy.isEnded(), true)
})

test('a receiver that reads every batch late still ends its stream after two seconds', (t) => {
  const envoy = open(t, false)
  void envoy.accessLog.stop()
  for (let i = 0; i < 19; i++) {
    envoy.pass(100)
    envoy.receive(300)
    assert.equal(envoy.isEnded(), false)
  }
  envoy.pass(150)
  assert.equal(envoy.isEnded(), true)
})

test('a receiver that does not stop keeps a stream, whether it is silent or not', (t) => {
  const envoy = open(t, false)
  for (let i = 0; i < 100; i++) {
    envoy.receive(10)
    envoy.pass(i * 10)
  }
  assert.equal(envoy.isEnded(), false)
})

test('a fallback keeps a stream for five seconds, so that Envoy looks for the receiver again', (t) => {
  const envoy = open(t, true)
  for (let i = 0; i < 49; i++) {
    envoy.pass(100)
    envoy.receive(10)
    assert.equal(envoy.isEnded(), false)
  }
  envoy.pass(100)
  envoy.receive(90)
  assert.equal(envoy.isEnded(), false, 'read late')
  envoy.pass(100)
  envoy.receive(10)
  assert.equal(envoy.isEnded(), true)
})

test('a fallback ends a silent stream as well', (t) => {
  const envoy = open(t, true)
  envoy.pass(5_000)
  assert.equal(envoy.isEnded(), false)
  envoy.pass(300)
  assert.equal(envoy.isEnded(), true)
})

for (const event of ['end', 'cancelled', 'error'] as const)
  test(`a stream that Envoy ends (${event}) is not waited for`, (t) => {
    const envoy = open(t, false)
    envoy.leave(event)
    assert.equal(envoy.accessLog.hasStreams, false)
    assert.equal(envoy.isEnded(), event === 'end')
  })
