import { setTimeout as wait } from 'node:timers/promises'
import { pino } from 'pino'
import { startBeacon } from '../core/control/beacon.ts'
import { HIDDEN_MEMBERS } from '../core/hidden-members.ts'
import { connectRedis } from '../core/redis/connect-redis.ts'
import { REDIS_KEYS } from '../core/redis/redis-keys.ts'
import { openScanPool } from '../core/scanner/scan-pool.ts'
import { parseKeyRing } from '../core/seal.ts'
import { type Environment, readSettings, type Settings } from '../core/settings.ts'
import { AgentUses } from './activity/agent-uses.ts'
import { AccessLog } from './access-log/access-log.ts'
import { ActivityRecorder } from './activity/activity-recorder.ts'
import { beginRecord } from './call/begin-record.ts'
import { CallStream, type CallStreamParts } from './call/call-stream.ts'
import { makeDecider } from './call/decide-call.ts'
import { EdgeLink } from './edge/edge-link.ts'
import { enforceKill } from './edge/enforce-kill.ts'
import { HearingLease } from './edge/hearing-lease.ts'
import { HeldCalls } from './edge/held-calls.ts'
import { KillBoard } from './edge/kill-board.ts'
import { makeAutoKiller } from './edge/make-auto-killer.ts'
import { makeConfirmer } from './edge/make-confirmer.ts'
import { makeRestorer } from './edge/make-restorer.ts'
import { EdgeMetrics } from './metrics/edge-metrics.ts'
import { PolicyStore } from './edge/policy-store.ts'
import { resync } from './edge/resync.ts'
import { StallWatch } from './edge/stall-watch.ts'
import { verifyStates } from './edge/verify-states.ts'
import { takeRate } from './rate/take-rate.ts'
import { startServer } from './envoy/start-server.ts'

/** Longer than envoy/bootstrap.yaml lets the access log wait for its batch. */
const LAST_WORDS_MS = 250
/** How long a graceful stop waits for calls in flight before it cuts them (threats.md 17). */
const DRAIN_LIMIT_MS = 5_000

/** Threads for large bodies; one a process, since there is a process for each core. */
const SCAN_WORKERS = 1
/** Large bodies that wait for a thread, in memory; further ones are refused with 503. */
const SCAN_QUEUE_LIMIT = 32

const nowMs = (): number => performance.now()

/**
 * Runs one ext-proc process until it is told to stop.
 * @throws with a message for the operator when a setting is wrong or the address cannot be bound
 */
export async function runEdge(env: Environment): Promise<void> {
  const settings = settingsOf(env)
  const { redisUrl, encryptionKey, verdictSecret, extProcAddress } = demanded(settings)
  const log = pino({
    base: { service: 'ext-proc', edge_id: settings.edgeId },
    redact: HIDDEN_MEMBERS,
  })
  const commands = connectRedis(redisUrl, { name: `ext-proc-${settings.edgeId}`, role: 'commands' })
  const subscription = connectRedis(redisUrl, {
    name: `ext-proc-${settings.edgeId}-hears`,
    role: 'subscription',
  })

  const urgent = connectRedis(redisUrl, {
    name: `ext-proc-${settings.edgeId}-urgent`,
    role: 'urgent',
  })
  const kills = connectRedis(redisUrl, {
    name: `ext-proc-${settings.edgeId}-kills`,
    role: 'commands',
  })

  const held = new HeldCalls()
  const killBoard = new KillBoard((lost) => restoreLost(lost))
  const restoreLost = makeRestorer({
    redis: commands,
    lease_ms: settings.killLease_ms,
    edge_id: settings.edgeId,
    now: () => new Date(),
    log,
  })
  const policy = new PolicyStore({
    redis: commands,
    keyRing: parseKeyRing(encryptionKey),
    killBoard,
  })
  const lease = new HearingLease(settings.killLease_ms, nowMs)
  const pool = openScanPool({ workers: SCAN_WORKERS, queue_limit: SCAN_QUEUE_LIMIT })
  const recorder = new ActivityRecorder({ redis: commands, nowMs: Date.now, log })
  const stall = new StallWatch(nowMs, (stood_ms) => {
    // What was proved before so long a silence says little of what was said in it.
    if (stood_ms > settings.killLease_ms / 3) lease.revoke()
    link.stalled()
  })
  const uses = new AgentUses(commands, Date.now)
  const parts = { policy, killBoard, held, commands }
  const confirmSoon = makeConfirmer(parts)
  const link = new EdgeLink({
    commands,
    subscription,
    urgent,
    edge: {
      edge_id: settings.edgeId,
      region: settings.region,
      started_at: new Date().toISOString(),
    },
    lease_ms: settings.killLease_ms,
    lease,
    held,
    drop: (target) => policy.drop(target),
    enforce: (target) => {
      // Before the acknowledgement, on the same connection: who hears that reads what the agent's last calls used.
      uses.writeAgent(target.organization_id, target.agent_id, urgent)
      return enforceKill({ ...parts, confirmSoon }, target)
    },
    resync: (acknowledge) => resync(parts, acknowledge),
    reconnected: () => {
      verifyStates(parts, killBoard.all()).catch(() => undefined)
    },
    nowMs,
    log,
  })

  const stopBeacon = startBeacon(
    commands,
    `${settings.edgeId}-${process.pid}`,
    settings.killLease_ms,
  )
  await link.start()
  let installation = ''
  const readInstallation = async (): Promise<void> => {
    installation = (await commands.get(REDIS_KEYS.installation)) ?? installation
  }
  await readInstallation().catch(() => undefined)
  const metrics = new EdgeMetrics()
  const streamParts: CallStreamParts = {
    held,
    recorder,
    metrics,
    is_strict: settings.activityStrict,
    log,
    begin: (headers) => beginRecord(headers, settings.edgeId, nowMs),
    decide: makeDecider({
      policy,
      killBoard,
      recorder,
      mayServe: () => lease.isHeld,
      settled: () => stall.settled(),
      pool,
      autoKill: makeAutoKiller({
        redis: kills,
        killBoard,
        lease_ms: settings.killLease_ms,
        edge_id: settings.edgeId,
        nowMs,
        now: () => new Date(),
        log,
      }),
      takeRate: (counter) => takeRate(commands, counter),
      uses,
      nowMs: Date.now,
      settings: {
        organization_id: settings.organizationId,
        max_body_bytes: settings.maxBodyBytes,
        verdict_secret: verdictSecret,
        echo_origin: settings.echoOrigin,
      },
      installation: async () => {
        if (installation === '') await readInstallation()
        return installation
      },
    }),
  }
  const accessLog = new AccessLog({ recorder, log, nowMs: Date.now })
  const server = await startServer(
    {
      address: extProcAddress,
      tls: tlsOf(settings),
      message_limit_bytes: settings.maxBodyBytes,
    },
    (stream) => {
      new CallStream(stream, streamParts)
    },
    accessLog.handler,
  )
  const stopMetrics = metrics.publish(commands, settings.edgeId, () => {
    const { waiting, lost, counted } = recorder.counters
    return {
      agw_calls_in_flight: held.size,
      agw_lease_held: lease.isHeld ? 1 : 0,
      agw_activity_waiting_entries: waiting,
      agw_activity_lost_total: lost,
      agw_refusals_counted_total: counted,
    }
  })
  log.info({ address: extProcAddress, region: settings.region }, 'serving')
  process.send?.({ kind: 'ready' })

  /** Takes no new calls, stays an edge until the last held call has ended, and cuts what is left at the limit. */
  const stop = async (): Promise<void> => {
    link.drain()
    const drained = new Promise<void>((resolve) => server.tryShutdown(() => resolve()))
    const told = endAccessLog(accessLog, held)
    const limit = setTimeout(() => held.cutAll({ reason: 'gateway_unavailable' }), DRAIN_LIMIT_MS)
    const force = setTimeout(() => server.forceShutdown(), DRAIN_LIMIT_MS + 1_000)
    await drained
    await told
    clearTimeout(limit)
    clearTimeout(force)
    stopBeacon()
    await Promise.allSettled([recorder.stop(), uses.stop(), stopMetrics()])
    await link.stop()
    commands.disconnect()
    kills.disconnect()
    urgent.disconnect()
    subscription.disconnect()
    process.exit(0)
  }
  let stopping: Promise<void> | null = null
  const stopOnce = (): void => {
    stopping ??= stop()
  }
  process.on('SIGTERM', stopOnce)
  process.on('SIGINT', stopOnce)
  // The launcher is gone: nobody would end this process.
  process.on('disconnect', stopOnce)
}

/** Envoy tells of the last held calls shortly after their end; its stream would hold up the stop for ever. */
async function endAccessLog(accessLog: AccessLog, held: HeldCalls): Promise<void> {
  const deadline_ms = nowMs() + DRAIN_LIMIT_MS
  while (held.size > 0 && nowMs() < deadline_ms) await wait(LAST_WORDS_MS / 10)
  await wait(LAST_WORDS_MS)
  accessLog.stop()
}

function settingsOf(env: Environment): Settings {
  const read = readSettings(env)
  if (!read.ok) throw new Error(read.faults.join('\n'))
  return read.settings
}

/** Settings that the launcher, or the operator of a fleet, must give to this process. */
function demanded({ redisUrl, encryptionKey, verdictSecret, extProcAddress }: Settings) {
  const missing = [
    redisUrl === null && 'REDIS_URL',
    encryptionKey === null && 'AGW_ENCRYPTION_KEY',
    verdictSecret === null && 'AGW_VERDICT_SECRET',
    extProcAddress === null && 'AGW_EXT_PROC_ADDRESS',
  ].filter((name) => name !== false)
  if (
    redisUrl === null ||
    encryptionKey === null ||
    verdictSecret === null ||
    extProcAddress === null
  )
    throw new Error(`ext-proc needs ${missing.join(', ')}; "agw start" sets them`)
  return { redisUrl, encryptionKey, verdictSecret, extProcAddress }
}

function tlsOf({ extProcTlsCertFile, extProcTlsKeyFile, extProcTlsCaFile }: Settings) {
  if (extProcTlsCertFile === null || extProcTlsKeyFile === null || extProcTlsCaFile === null)
    return null
  return { cert_file: extProcTlsCertFile, key_file: extProcTlsKeyFile, ca_file: extProcTlsCaFile }
}
