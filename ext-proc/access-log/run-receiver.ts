import { setTimeout as wait } from 'node:timers/promises'
import { pino } from 'pino'
import { HIDDEN_MEMBERS } from '../../core/hidden-members.ts'
import { connectRedis } from '../../core/redis/connect-redis.ts'
import { type Environment, readSettings } from '../../core/settings.ts'
import { ActivityRecorder } from '../record/activity-recorder.ts'
import { startServer } from '../envoy/start-server.ts'
import { EdgeMetrics } from '../record/edge-metrics.ts'
import { onStop } from '../process/on-stop.ts'
import { tlsOf } from '../process/read-edge-settings.ts'
import { AccessLog } from './access-log.ts'

/** Envoy sends what it has at 64 KiB; its description of itself comes with the first batch. */
const MESSAGE_LIMIT_BYTES = 1 << 20
const STOP_LIMIT_MS = 2_000
/** Several times the interval of the health checks in envoy/bootstrap.yaml; an Envoy that asks nothing is not waited for longer. */
const FOUND_OUT_LIMIT_MS = 3_000
/** For Envoy to tell its threads of the answer to a health check: by then none opens a stream here any more. */
const FOUND_OUT_MS = 150
const LOOK_INTERVAL_MS = 25

/**
 * Runs the process that takes Envoy's access log and writes it to the activity log. It decides nothing and holds no call,
 * so that the death of a processor, which cuts calls, leaves somebody to be told of them.
 * @throws with a message for the operator when a setting is wrong or the address cannot be bound
 */
export async function runReceiver(env: Environment): Promise<void> {
  const read = readSettings(env)
  if (!read.ok) throw new Error(read.faults.join('\n'))
  const { settings } = read
  const { redisUrl, accessLogAddress: address, edgeId: edge_id } = settings
  if (redisUrl === null || address === null)
    throw new Error('REDIS_URL and AGW_ACCESS_LOG_ADDRESS are required; "agw start" sets them')
  const log = pino({ base: { service: 'access-log', edge_id }, redact: HIDDEN_MEMBERS })
  const redis = connectRedis(redisUrl, { name: `access-log-${edge_id}`, role: 'commands' })
  const recorder = new ActivityRecorder({ redis, nowMs: Date.now, log })
  const accessLog = new AccessLog({ recorder, is_stand_in: false, log, nowMs: Date.now })
  let isStopping = false
  /** When Envoy was first told that this process ends. */
  let told_ms = Infinity
  const isServing = (): boolean => {
    if (isStopping) told_ms = Math.min(told_ms, performance.now())
    return !isStopping
  }
  const server = await startServer(
    { address, tls: tlsOf(settings), message_limit_bytes: MESSAGE_LIMIT_BYTES },
    { access_log: accessLog.handler, is_serving: isServing },
  )
  const stopMetrics = new EdgeMetrics().publish(redis, edge_id, () => recorder.metrics)
  log.info({ address }, 'serving')
  process.send?.({ kind: 'ready' })

  const stop = async (): Promise<void> => {
    isStopping = true
    const limit_ms = performance.now() + FOUND_OUT_LIMIT_MS
    const hasFoundOut = (): boolean =>
      performance.now() >= Math.min(told_ms + FOUND_OUT_MS, limit_ms)
    while (accessLog.hasStreams && !hasFoundOut()) await wait(LOOK_INTERVAL_MS)
    await accessLog.stop()
    const ended = new Promise<void>((resolve) => server.tryShutdown(() => resolve()))
    const force = setTimeout(() => server.forceShutdown(), STOP_LIMIT_MS)
    await ended
    clearTimeout(force)
    await Promise.allSettled([recorder.stop(), stopMetrics()])
    redis.disconnect()
    process.exit(0)
  }
  onStop(stop)
}
