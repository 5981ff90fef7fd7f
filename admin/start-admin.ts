import { randomBytes } from 'node:crypto'
import { chmodSync, existsSync, lstatSync, rmSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import { mintKey } from '../core/api-key.ts'
import { Acknowledgements } from '../core/control/acknowledgements.ts'
import { startBeacon } from '../core/control/beacon.ts'
import { AddressPolicy } from '../core/egress/address-policy.ts'
import { createHostResolver } from '../core/egress/resolve-host.ts'
import { connectRedis } from '../core/redis/connect-redis.ts'
import { CHANNELS } from '../core/redis/redis-keys.ts'
import type { RedisClient } from '../core/redis/run-script.ts'
import { LiveKeyRing } from '../core/live-key-ring.ts'
import { listenFailure } from '../core/listen-failure.ts'
import { openScanPool } from '../core/inspection/scan-pool.ts'
import { parseKeyRing } from '../core/seal.ts'
import type { Settings } from '../core/settings.ts'
import { ActivityFeed } from './context/activity-feed.ts'
import { warmUp } from './activity/warm-up.ts'
import { startActivityWorker } from './activity/activity-worker.ts'
import { analyseTraffic } from './anomaly/analyse-traffic.ts'
import { startArchiver } from './audit/archiver.ts'
import { bootstrapStore, readDeploymentId } from './bootstrap/bootstrap-store.ts'
import { checkDurability } from './bootstrap/check-durability.ts'
import { watchStore } from './bootstrap/watch-store.ts'
import { createMailer } from './email/mailer.ts'
import { startKillMails } from './kill/send-kill-mails.ts'
import { startKillSweeper } from './kill/start-kill-sweeper.ts'
import { watchEdgeNames } from './edges/watch-edge-names.ts'
import { AdminMetrics } from './metrics/admin-metrics.ts'
import { type KeyKeeper, keepKeys } from './encryption/keep-keys.ts'
import type { AdminContext } from './context/admin-context.ts'
import { buildServer } from './server/build-server.ts'
import { RequestLoad } from './context/request-load.ts'
import { Slots } from './context/slots.ts'
import { SignInThrottle } from './context/sign-in-throttle.ts'
import { LastUses } from './context/last-uses.ts'
import { startWebhooks } from './webhooks/start-webhooks.ts'

export interface RunningAdmin {
  readonly port: number
  stop(): Promise<void>
}

const nowMs = (): number => performance.now()
/** Large bodies that operators have scanned at the same time; more are told to try again. */
const SCAN_QUEUE_LIMIT = 8
/** Each holds a page of the log for as long as its reader takes. */
const EXPORTS_MAX = 32
const EXPORTS_OF_ONE_MAX = 8

type Needed = Settings & { readonly redisUrl: string; readonly encryptionKey: string }

/**
 * Starts the operator service and answers when it listens. `onTokenMade` gets the first admin token where no setting
 * says what it is; nothing else has it.
 * @throws a message for the operator when the store is missing or may forget, or an address is taken
 */
export async function startAdmin(
  settings: Needed,
  log: Logger,
  onTokenMade: (token: string) => void,
): Promise<RunningAdmin> {
  // Containers share host names and process numbers; locks and queues go by this name.
  const name = `admin-${randomBytes(6).toString('hex')}`
  const redis = connectRedis(settings.redisUrl, { name, role: 'commands' })
  const subscription = connectRedis(settings.redisUrl, {
    name: `${name}-sub`,
    role: 'subscription',
  })
  const acknowledgements = new Acknowledgements(redis, nowMs)
  const tokenUses = new LastUses(redis, () => new Date())
  const stops: (() => void | Promise<unknown>)[] = [
    () => disconnect(redis),
    () => disconnect(subscription),
    () => tokenUses.stop(),
  ]
  const stop = async (): Promise<void> => {
    for (const step of stops.splice(0).reverse()) await step()
  }
  try {
    await ready(redis)
    await refuseForgetfulStore(redis, log)
    subscription.on('message', (_channel: string, text: string) => acknowledgements.hear(text))
    await subscription.subscribe(CHANNELS.acknowledgements)
    const { adminToken } = settings
    const admin_token = adminToken ?? mintKey('admin')
    const installation_id = await readDeploymentId(redis)
    const first = { settings, installation_id, admin_token, is_setting: adminToken !== null }
    const onMade = (made: readonly string[]): void => {
      if (adminToken === null && made.includes('admin_token')) onTokenMade(admin_token)
    }
    onMade(await bootstrapStore(redis, first, new Date()))
    const { ring, keeper } = await openKeys(settings, redis, name, log)
    stops.push(() => keeper.stop())
    stops.push(
      watchStore(redis, first, log, onMade),
      startBeacon(redis, name, settings.killLease_ms),
    )
    const { killLease_ms: lease_ms, organizationId: organization_id } = settings
    stops.push(startKillSweeper({ redis, lease_ms, log }))
    stops.push(watchEdgeNames({ redis, organization_id, lease_ms, now: () => new Date() }))
    const given = { settings, redis, ring, keyProblem: keeper.problem }
    const context = contextOf({ ...given, acknowledgements, tokenUses, log })
    stops.push(() => context.scans.close())
    stops.push(startDeliveries(context, name), startActivity(context, name))
    stops.push(analyseTraffic(context, name))
    await warmUp(context)
    const port = await listen(context, stops)
    // Streams that are followed end first, or closing the servers would wait for them.
    stops.push(() => context.feed.stop())
    return { port, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** The keys of the settings, and what keeps everything encrypted with them. */
async function openKeys(
  settings: Needed,
  redis: RedisClient,
  name: string,
  log: Logger,
): Promise<{ readonly ring: LiveKeyRing; readonly keeper: KeyKeeper }> {
  const ring = new LiveKeyRing(parseKeyRing(settings.encryptionKey))
  const keeper = await keepKeys({
    redis,
    ring,
    key_file: settings.encryptionKeyFile,
    lost: settings.lostEncryptionKeys,
    lease_ms: settings.killLease_ms,
    name,
    organization_id: settings.organizationId,
    now: () => new Date(),
    log,
  })
  return { ring, keeper }
}

type Given = 'settings' | 'redis' | 'ring' | 'keyProblem' | 'acknowledgements' | 'tokenUses' | 'log'

/** What every handler shares. */
function contextOf(given: Pick<AdminContext, Given>): AdminContext {
  const { settings, redis } = given
  const feed = new ActivityFeed(redis)
  const now = (): Date => new Date()
  return {
    ...given,
    signInThrottle: new SignInThrottle(nowMs),
    feed,
    metrics: new AdminMetrics({
      redis,
      lease_ms: settings.killLease_ms,
      now,
      streams: () => feed.followers,
    }),
    load: new RequestLoad(),
    exports: new Slots(EXPORTS_MAX, EXPORTS_OF_ONE_MAX),
    scans: openScanPool({ workers: 1, queue_limit: SCAN_QUEUE_LIMIT }),
    egress: {
      policy: new AddressPolicy(settings.egressAllowCidrs),
      resolve: createHostResolver(settings.dnsResolvers),
      allows_private: settings.egressAllowCidrs.length > 0,
      exempt_origin: settings.echoOrigin,
    },
    nowMs,
    now,
  }
}

async function listen(
  context: AdminContext,
  stops: (() => void | Promise<unknown>)[],
): Promise<number> {
  const { settings } = context
  const api = await buildServer(context, 'api')
  stops.push(() => api.close())
  await listenOnPort(api, settings)
  if (settings.adminSocket !== null && settings.proxyAdmin) {
    const proxied = await buildServer(context, 'envoy')
    stops.push(() => proxied.close())
    await listenOnSocket(proxied, settings.adminSocket)
  }
  return (api.server.address() as AddressInfo).port
}

async function listenOnPort(app: FastifyInstance, settings: Settings): Promise<void> {
  const { apiHost: host, apiPort: port } = settings
  try {
    await app.listen({ host, port })
  } catch (error) {
    const { cause, advice } = listenFailure(error, { host: 'AGW_API_HOST', port: 'AGW_API_PORT' })
    throw new Error(`${host}:${port} cannot be used: ${cause}. ${advice}`)
  }
}

/** What an earlier process left behind would refuse the address; Envoy runs as the same user. */
async function listenOnSocket(app: FastifyInstance, path: string): Promise<void> {
  if (existsSync(path) && lstatSync(path).isSocket()) rmSync(path)
  await app.listen({ path })
  chmodSync(path, 0o600)
}

async function refuseForgetfulStore(redis: RedisClient, log: Logger): Promise<void> {
  const { problems, warnings } = await checkDurability(redis)
  for (const warning of warnings) log.warn(warning)
  if (problems.length > 0) throw new Error(problems.join(' '))
}

/** Relays events, attempts deliveries and sends the mails of kills in this process; every other admin process does the same. */
function startDeliveries(context: AdminContext, name: string): () => Promise<void> {
  const { settings, redis, ring, log, now, metrics } = context
  const mailer = createMailer(settings)
  const blocking = connectRedis(settings.redisUrl ?? '', { name: `${name}-outbox`, role: 'queue' })
  const webhooks = startWebhooks({
    settings,
    redis,
    blocking,
    ring,
    mailer,
    log,
    now,
    onAttempt: ({ is_success, error }) => metrics.attempted(is_success ? 'success' : String(error)),
  })
  const stopKillMails = mailer === null ? null : startKillMails({ redis, mailer, log, now })
  return async () => {
    await Promise.all([webhooks.stop(), stopKillMails?.()])
    mailer?.close()
  }
}

/** Digests the activity log while this process leads, and archives it where there is a folder for it. */
function startActivity(context: AdminContext, name: string): () => Promise<void> {
  const { settings } = context
  const mailer = createMailer(settings)
  const retention = {
    max_bytes: settings.activityMaxBytes,
    retention_ms: settings.activityRetention_ms,
  }
  const stop = startActivityWorker({ ...context, name, mailer, retention })
  const { archiveDir: folder, archiveRetention_ms: retention_ms } = settings
  const stopArchiver =
    folder === null ? null : startArchiver({ ...context, name, folder, retention_ms })
  return async () => {
    await Promise.all([stop(), stopArchiver?.()])
    mailer?.close()
  }
}

const READY_LIMIT_MS = 15_000

/** The launcher starts the store at the same time, so the first connections may be refused. */
async function ready(redis: RedisClient): Promise<void> {
  if (redis.status === 'ready') return
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new Error(`the store at REDIS_URL did not respond within ${READY_LIMIT_MS} ms`)),
      READY_LIMIT_MS,
    )
    redis.once('ready', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}

const disconnect = (redis: RedisClient): void => redis.disconnect()
