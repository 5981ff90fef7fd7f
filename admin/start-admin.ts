import { randomBytes } from 'node:crypto'
import type { Logger } from 'pino'
import { egressProxyOf } from '../core/egress/egress-proxy.ts'
import { mintKey } from '../core/keys/api-key.ts'
import { Acknowledgements } from '../core/control/acknowledgements.ts'
import { startBeacon } from '../core/control/beacon.ts'
import { announceOutages } from '../core/redis/announce-outages.ts'
import { connectRedis } from '../core/redis/connect-redis.ts'
import { writeProblem } from '../core/redis/connection-problem.ts'
import { CHANNELS } from '../core/redis/redis-keys.ts'
import type { RedisClient } from '../core/redis/run-script.ts'
import { LiveKeyRing } from '../core/keys/live-key-ring.ts'
import { storeAccess } from '../core/redis/store-access.ts'
import { parseKeyRing } from '../core/keys/seal.ts'
import { warmUp } from './activity/warm-up.ts'
import { startActivityWorker } from './activity/activity-worker.ts'
import { analyseTraffic } from './anomaly/analyse-traffic.ts'
import { keepAuthority } from './certificates/keep-authority.ts'
import { startArchiver } from './audit/archiver.ts'
import { bootstrapStore, readDeploymentId } from './bootstrap/bootstrap-store.ts'
import { checkDurability } from './bootstrap/check-durability.ts'
import { refuseOtherStore, rememberStore } from './bootstrap/remember-store.ts'
import { watchMemory } from './bootstrap/watch-memory.ts'
import { watchStore } from './bootstrap/watch-store.ts'
import { watchLostChanges } from './changes/watch-lost-changes.ts'
import { createMailer } from './alerts/mailer.ts'
import { openScanPool } from '../core/inspection/scan-pool.ts'
import { startLogExport } from './log-export/log-exporter.ts'
import { startKillMails } from './kill/send-kill-mails.ts'
import { revokeAtSource } from './kill/revoke-at-source.ts'
import { startKillSweeper } from './kill/start-kill-sweeper.ts'
import { watchCertificates } from './status/watch-certificates.ts'
import { watchEdges } from './status/watch-edges.ts'
import { watchProxy } from './status/watch-proxy.ts'
import { refreshGrants } from './oauth/refresh-grants.ts'
import { requestMails } from './requests/request-mails.ts'
import { watchScopeEnds } from './scopes/scope-ends.ts'
import { type KeyKeeper, keepKeys } from './encryption/keep-keys.ts'
import { refuseMissingKeys } from './encryption/refuse-missing-keys.ts'
import type { AdminContext } from './context/admin-context.ts'
import { LastUses } from './context/last-uses.ts'
import { LogWatch } from './context/log-watch.ts'
import { openContext } from './context/open-context.ts'
import { recoverOlderStore } from './restore/recover-older-store.ts'
import { ROUTES } from './server/routes.ts'
import type { NeededSettings, RunningAdmin } from './server/running-admin.ts'
import { listenForGate, listenOn } from './server/listen-on.ts'
import { storeIsReady } from './bootstrap/store-is-ready.ts'
import { startWebhooks } from './webhooks/start-webhooks.ts'
import { webhookRoutes } from './webhooks/webhook-routes.ts'

const nowMs = (): number => performance.now()

/** Large bodies scanned for operators at the same time; further requests must be retried. */
const SCAN_QUEUE_LIMIT = 8
/** Started when they are needed; one organization has one of them at a time. */
const SCAN_WORKERS = 2

/**
 * Starts the operator service and answers when it listens. `onTokenMade` gets the first admin token where no setting
 * says what it is; nothing else has it. With `gate`, which names two Unix sockets, it serves the gate, which has the
 * listeners and does what must never wait: kills, their completion, and the beacon.
 * @throws a message for the operator when the store is missing or may forget, or an address is taken
 */
export async function startAdmin(
  settings: NeededSettings,
  log: Logger,
  onTokenMade: (token: string) => void,
  gate: Readonly<Record<'api' | 'envoy', string>> | null = null,
): Promise<RunningAdmin> {
  // Containers share host names and process numbers; locks and queues go by this name.
  const name = `admin-${randomBytes(6).toString('hex')}`
  const store = storeAccess(settings, settings.redisUrl)
  const redis = connectRedis(store, { name, role: 'commands' })
  const subscription = connectRedis(store, { name: `${name}-sub`, role: 'subscription' })
  const stopAnnouncing = announceOutages(redis, log, () => writeProblem(redis))
  const acknowledgements = new Acknowledgements(redis, nowMs)
  const tokenUses = new LastUses(redis, () => new Date())
  const stops: (() => void | Promise<unknown>)[] = [
    () => disconnect(redis),
    stopAnnouncing,
    () => disconnect(subscription),
    () => tokenUses.stop(),
  ]
  const stop = async (): Promise<void> => {
    for (const step of stops.splice(0).reverse()) await step()
  }
  try {
    await storeIsReady(redis)
    await refuseForgetfulStore(redis, log)
    const { deploymentIdFile: file, organizationId: organization_id } = settings
    await refuseOtherStore({ redis, file })
    const ring = new LiveKeyRing(parseKeyRing(settings.encryptionKey))
    await refuseMissingKeys(redis, ring, settings.lostEncryptionKeys)
    subscription.on('message', (_channel: string, text: string) => acknowledgements.hear(text))
    await subscription.subscribe(CHANNELS.acknowledgements)
    const { adminToken } = settings
    const handed_over = adminToken ?? settings.generatedAdminToken
    const admin_token = handed_over ?? mintKey('admin')
    const installation_id = await readDeploymentId(redis)
    const first = { settings, installation_id, admin_token, is_setting: adminToken !== null }
    const onMade = (made: readonly string[]): void => {
      if (handed_over === null && made.includes('admin_token')) onTokenMade(admin_token)
    }
    onMade(await bootstrapStore(redis, first, new Date()))
    const keeper = await openKeys(settings, redis, ring, name, log)
    stops.push(() => keeper.stop())
    await keepAuthority(redis, ring, settings, new Date())
    stops.push(watchStore(redis, first, log, onMade))
    stops.push(watchMemory({ redis, organization_id, log }))
    stops.push(watchProxy({ redis, settings, organization_id, log }))
    const { killLease_ms: lease_ms } = settings
    const sweep = { redis, subscription, lease_ms, log }
    if (gate === null) stops.push(startBeacon(redis, name, lease_ms).stop, startKillSweeper(sweep))
    stops.push(watchEdges({ redis, organization_id, lease_ms, now: () => new Date() }))
    const scans = openScanPool({ workers: SCAN_WORKERS, queue_limit: SCAN_QUEUE_LIMIT })
    stops.push(() => scans.close())
    const given = { settings, redis, ring, keyProblem: keeper.problem, scans }
    const context = openContext({ ...given, acknowledgements, tokenUses, log })
    stops.push(await keepHistory(context))
    const logs = new LogWatch(connectRedis(store, { name: `${name}-logs`, role: 'queue' }))
    logs.start()
    stops.push(() => logs.stop(), ...startJobs({ ...context, logs }, name, installation_id))
    await warmUp(context)
    const port =
      gate === null
        ? await listenOn(context, stops, null)
        : await listenForGate(context, stops, gate)
    // Streams that are followed end first, or closing the servers would wait for them.
    stops.push(() => context.feed.stop())
    return { port, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

const startJobs = (
  context: JobContext,
  name: string,
  installation_id: string,
): readonly (() => void | Promise<unknown>)[] => [
  watchLostChanges({ ...context, lease_ms: context.settings.killLease_ms }),
  watchScopeEnds(context),
  watchCertificates(context),
  startDeliveries(context, name),
  exportLogs(context, name, installation_id),
  startActivity(context, name),
  analyseTraffic(context, name),
  startOAuth(context),
]

/** From here on this machine notices a store that has lost changes; now it looks whether this one has. */
async function keepHistory(context: AdminContext): Promise<() => void> {
  await recoverOlderStore(context, [...ROUTES, ...webhookRoutes])
  return await rememberStore({ ...context, file: context.settings.deploymentIdFile })
}

/** Keeps everything encrypted with the keys of the settings. */
const openKeys = (
  settings: NeededSettings,
  redis: RedisClient,
  ring: LiveKeyRing,
  name: string,
  log: Logger,
): Promise<KeyKeeper> =>
  keepKeys({
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

async function refuseForgetfulStore(redis: RedisClient, log: Logger): Promise<void> {
  const { problems, warnings } = await checkDurability(redis)
  for (const warning of warnings) log.warn(warning)
  if (problems.length > 0) throw new Error(problems.join(' '))
}

/** Relays events, attempts deliveries and sends the mails of kills in this process; every other admin process does the same. */
function startDeliveries(context: AdminContext, name: string): () => Promise<void> {
  const { settings, redis, ring, log, now, metrics } = context
  const mailer = createMailer(settings)
  const store = storeAccess(settings, settings.redisUrl ?? '')
  const blocking = connectRedis(store, { name: `${name}-outbox`, role: 'queue' })
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

/** Renews what OAuth providers issue, and revokes it after kills. */
function startOAuth(context: AdminContext): () => Promise<unknown> {
  const stops = [
    refreshGrants({ ...context, lease_ms: context.settings.killLease_ms }),
    revokeAtSource(context),
  ]
  return () => Promise.all(stops.map((stop) => stop()))
}

type JobContext = AdminContext & { readonly logs: LogWatch }

/** Digests the activity log while this process leads, and archives it where there is a folder for it. */
function startActivity(context: JobContext, name: string): () => Promise<void> {
  const { settings } = context
  const mailer = createMailer(settings)
  const retention = {
    max_bytes: settings.activityMaxBytes,
    retention_ms: settings.activityRetention_ms,
  }
  const mailRequests = requestMails({ ...context, mailer })
  const stop = startActivityWorker({ ...context, name, mailer, mailRequests, retention })
  const { archiveDir: folder } = settings
  const bounds = {
    retention_ms: settings.archiveRetention_ms,
    max_bytes: settings.archiveMaxBytes,
    min_free_bytes: settings.archiveMinFreeBytes,
  }
  const stopArchiver =
    folder === null ? null : startArchiver({ ...context, ...bounds, name, folder })
  return async () => {
    await Promise.all([stop(), stopArchiver?.()])
    mailer?.close()
  }
}

function exportLogs(
  context: AdminContext,
  name: string,
  installation_id: string,
): () => Promise<void> {
  const { logExportUrl: url, logExportHeaders: headers, logExportEvents: events } = context.settings
  const { organizationId: organization_id } = context.settings
  const proxy = egressProxyOf(context.settings)
  const parts = { ...context, headers, events, organization_id, installation_id, name, proxy }
  return url === null ? () => Promise.resolve() : startLogExport({ ...parts, url })
}

const disconnect = (redis: RedisClient): void => redis.disconnect()
