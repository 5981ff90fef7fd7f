import { setTimeout as wait } from 'node:timers/promises'
import { makeProbeCheck } from '../../core/control/probe-pass.ts'
import { renderEdges } from '../../core/metrics/render-edges.ts'
import { announceOutages } from '../../core/redis/announce-outages.ts'
import { connectRedis } from '../../core/redis/connect-redis.ts'
import { storeAccess } from '../../core/redis/store-access.ts'
import { type Environment, readSettings } from '../../core/settings/settings.ts'
import { checkAtStart, refuseOldVersion } from '../../core/store/minimum-version.ts'
import { ActivityRecorder } from '../record/activity-recorder.ts'
import { startServer } from '../envoy/start-server.ts'
import { EdgeMetrics } from '../record/edge-metrics.ts'
import { edgeLog } from '../process/edge-log.ts'
import { onStop } from '../process/on-stop.ts'
import { startHealthServer } from '../process/start-health-server.ts'
import { processId } from '../process/process-id.ts'
import { tlsOf } from '../process/read-edge-settings.ts'
import { AccessLog } from './access-log.ts'

/** Envoy sends a batch at 256 KiB. The first batch also contains its node description. */
const MESSAGE_LIMIT_BYTES = 1 << 20
const STOP_LIMIT_MS = 2_000
/**
 * Several times the health check interval in envoy/bootstrap.yaml. An Envoy that sends no health check is not awaited longer.
 */
const FOUND_OUT_LIMIT_MS = 3_000
/** Time for Envoy to distribute the result of a health check to its threads. */
const FOUND_OUT_MS = 150
/**
 * Several times the batching interval in envoy/bootstrap.yaml. On a busy machine a thread of Envoy may not have the result yet and
 * opens its next stream here. A stream that could no longer be accepted would lose its first batch, which Envoy cannot resend.
 */
const QUIET_MS = 500
const LOOK_INTERVAL_MS = 25

/**
 * Runs the process that receives Envoy's access log and writes it to the activity log. It decides no calls, so when a processor
 * dies and its calls are cut, this process can still record them.
 * @throws with a message for the operator if a setting is invalid or the address cannot be bound
 */
export async function runReceiver(env: Environment): Promise<void> {
  const read = readSettings(env)
  if (!read.ok) throw new Error(read.problems.join('\n'))
  const { settings } = read
  const { redisUrl, accessLogAddress: address, edgeId: edge_id } = settings
  if (redisUrl === null || address === null)
    throw new Error('REDIS_URL and AGW_ACCESS_LOG_ADDRESS are required; "agw start" sets them')
  const log = edgeLog('access-log', edge_id)
  const health = await startHealthServer(settings.healthAddress)
  const redis = connectRedis(storeAccess(settings, redisUrl), {
    name: `access-log-${edge_id}`,
    role: 'commands',
  })
  announceOutages(redis, log)
  await checkAtStart(redis, () => refuseOldVersion(redis))
  const recorder = new ActivityRecorder({ redis, nowMs: Date.now, log })
  const metrics = new EdgeMetrics()
  const accessLog = new AccessLog({
    recorder,
    metrics,
    isProbe: makeProbeCheck(redis),
    is_stand_in: false,
    log,
    nowMs: Date.now,
  })
  let isStopping = false
  /** When Envoy was first notified that this process is stopping. */
  let told_ms = Infinity
  const isServing = (): boolean => {
    if (isStopping) told_ms = Math.min(told_ms, performance.now())
    return !isStopping
  }
  const server = await startServer(
    { address, tls: tlsOf(settings), message_limit_bytes: MESSAGE_LIMIT_BYTES },
    { access_log: accessLog.handler, is_serving: isServing },
  )
  const published = metrics.publish(redis, processId(settings), () => recorder.metrics)
  health.serves({
    whyNotReady: () => (isStopping ? 'draining' : null),
    metrics: () => renderEdges(new Map([[edge_id, published.snapshot()]])),
  })
  log.info({ address }, 'serving')
  process.send?.({ kind: 'ready' })

  const stop = async (): Promise<void> => {
    isStopping = true
    const limit_ms = performance.now() + FOUND_OUT_LIMIT_MS
    const hasFoundOut = (): boolean =>
      performance.now() >= Math.min(told_ms + FOUND_OUT_MS, limit_ms)
    const isConnected = (): boolean => server.hasConnections
    while (isConnected() && !hasFoundOut()) await wait(LOOK_INTERVAL_MS)
    await accessLog.stop(QUIET_MS, isConnected)
    const ended = new Promise<void>((resolve) => server.tryShutdown(() => resolve()))
    const force = setTimeout(() => server.forceShutdown(), STOP_LIMIT_MS)
    await ended
    clearTimeout(force)
    await Promise.allSettled([recorder.stop(), published.stop()])
    redis.disconnect()
    process.exit(0)
  }
  onStop(stop)
}
