import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { watchDisk } from './watch-disk.ts'
import { Acknowledgements } from '../../core/control/acknowledgements.ts'
import { startBeacon } from '../../core/control/beacon.ts'
import { DiskReserve } from '../../core/redis/disk-reserve.ts'
import { withRoom } from '../../core/kill/with-room.ts'
import { connectRedis } from '../../core/redis/connect-redis.ts'
import { CHANNELS, REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { storeAccess } from '../../core/redis/store-access.ts'
import { LiveKeyRing } from '../../core/keys/live-key-ring.ts'
import { parseKeyRing } from '../../core/keys/seal.ts'
import { LastUses } from '../context/last-uses.ts'
import { openContext } from '../context/open-context.ts'
import { startKillSweeper } from '../kill/start-kill-sweeper.ts'
import { listenOn } from '../server/listen-on.ts'
import type { NeededSettings, RunningAdmin } from '../server/running-admin.ts'
import { storeIsReady } from '../bootstrap/store-is-ready.ts'
import { forwardRequests } from './forward-request.ts'
import { FOLDER_PREFIX, removeDeadFolders } from './remove-dead-folders.ts'
import { runApiThread } from './run-api-thread.ts'
import { waitAwake } from './wait-awake.ts'

/**
 * A process that stops answers requests for this much longer, each with `connection: close`. Connections that are used at least this
 * often end with a response, and not under a request.
 */
const LAST_REQUESTS_MS = 250
/** The same for a process whose place another has taken: nobody waits for its end. */
const LAST_REQUESTS_REPLACED_MS = 2_000

const nowMs = (): number => performance.now()

/**
 * Starts the admin service so that nothing can hold up a kill (threat model, rule 33): this thread accepts connections and
 * serves kills and reactivations, on store connections of its own. All other requests and all background work are done in
 * another thread, however long they take.
 * @throws (rejects) with a message for the operator
 */
export async function startGate(
  settings: NeededSettings,
  log: Logger,
  onTokenMade: (token: string) => void,
): Promise<RunningAdmin> {
  await removeDeadFolders(tmpdir(), Date.now())
  const folder = mkdtempSync(join(tmpdir(), FOLDER_PREFIX))
  const sockets = { api: join(folder, 'api.sock'), envoy: join(folder, 'envoy.sock') }
  const stops: (() => void | Promise<unknown>)[] = [
    () => rmSync(folder, { recursive: true, force: true }),
  ]
  let lastRequests_ms = LAST_REQUESTS_MS
  const stop = async (isReplaced = false): Promise<void> => {
    if (isReplaced) lastRequests_ms = LAST_REQUESTS_REPLACED_MS
    for (const step of stops.splice(0).reverse()) await step()
  }
  try {
    const name = `admin-kills-${randomBytes(6).toString('hex')}`
    const { redisUrl, encryptionKey, killLease_ms: lease_ms } = settings
    const store = storeAccess(settings, redisUrl)
    const redis = connectRedis(store, { name, role: 'commands' })
    stops.push(() => redis.disconnect())
    stops.push(await holdRoom(redis, settings, log))
    const thread = await runApiThread({
      sockets,
      onTokenMade,
      log,
      silence_limit_ms: settings.watchdogTimeout_ms,
    })
    const subscription = connectRedis(store, { name: `${name}-sub`, role: 'subscription' })
    const tokenUses = new LastUses(redis, () => new Date())
    stops.push(
      () => subscription.disconnect(),
      () => tokenUses.stop(),
    )
    await storeIsReady(redis)
    const acknowledgements = new Acknowledgements(redis, nowMs)
    subscription.on('message', (_channel: string, text: string) => acknowledgements.hear(text))
    await subscription.subscribe(CHANNELS.acknowledgements)
    stops.push(
      startBeacon(redis, name, lease_ms).stop,
      startKillSweeper({ redis, subscription, lease_ms, log }),
    )
    // Kills encrypt nothing, so the keys are not followed here.
    const ring = new LiveKeyRing(parseKeyRing(encryptionKey))
    const given = { settings, redis, ring, keyProblem: () => null, scans: null }
    const context = openContext({ ...given, acknowledgements, tokenUses, log })
    const closes: (() => void | Promise<unknown>)[] = [
      async () => {
        // A request that was accepted just before the listeners closed is still forwarded.
        await waitAwake(LAST_REQUESTS_MS)
        await thread.stop()
      },
    ]
    // Together: closing a listener waits for its streams, which end with the thread.
    stops.push(() => Promise.all(closes.map(async (close) => await close())))
    const port = await listenOn(context, closes, {
      api: forwardRequests(sockets.api),
      envoy: forwardRequests(sockets.envoy),
    })
    stops.push(async () => {
      context.load.isEnding = true
      await waitAwake(lastRequests_ms)
    })
    return { port, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Keeps the reserve on the disk of the store, if there is one. Returns the function that stops it. */
async function holdRoom(
  redis: RedisClient,
  settings: NeededSettings,
  log: Logger,
): Promise<() => void> {
  const reserve = DiskReserve.from(settings)
  if (reserve === null) return () => undefined
  await storeIsReady(redis)
  const stop = watchDisk({ redis, reserve, organization_id: settings.organizationId, log })
  // The API thread writes to the store when it starts, and kills are served only then.
  const write = (): Promise<number> => redis.setrange(REDIS_KEYS.installation, 0, '')
  // If nothing is left to give up, the start fails, and says why.
  await withRoom({ redis, reserve }, write).catch(() => undefined)
  return stop
}
