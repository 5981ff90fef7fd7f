import type { ConnectionOptions } from 'node:tls'
import { onBeat } from '../system/on-beat.ts'
import { clusterConnector } from './cluster-connector.ts'
import { ClusterMap } from './cluster-map.ts'
import { noteProblems } from './connection-problem.ts'
import type { RedisClient } from './run-script.ts'
import type { StoreAccess } from './store-access.ts'
import { parseStoreAddress, type StoreAddress } from './store-address.ts'
import { StoreClient, type StoreClientOptions as Options, type WaitLimits } from './store-client.ts'
import { tlsOptions } from './tls-options.ts'

/** A command without a reply by then has failed; the hot path refuses the call that waited for it. */
const COMMAND_TIMEOUT_MS = 1000
const CONNECT_TIMEOUT_MS = 2000
/** A connection on which a reply is due for this long is reopened: its peer may be unavailable. */
const SILENCE_LIMIT_MS = 1500
/** For connections whose commands block: longer than any of them does. */
const BLOCKING_SILENCE_LIMIT_MS = 30_000
/** A new primary is found this much later in the worst case, and an edge may have lost its lease by then. */
const RECONNECT_MAX_MS = 200
/** A subscription only receives, so an unavailable peer is detected by a ping without a reply. */
const PING_INTERVAL_S = 1

export interface RedisRole {
  /** Shown in CLIENT LIST. */
  readonly name: string
  /**
   * `commands` fails immediately while disconnected; so does `urgent`, which sends each command at once, and on which no command
   * waits for the replies to earlier ones; `subscription` waits for the connection and subscribes again; `queue` is for libraries
   * that block.
   */
  readonly role: 'commands' | 'urgent' | 'subscription' | 'queue'
}

/** Access by the address only: the system's certificates, and Sentinels without a password. */
const plainAccess = (url: string): StoreAccess => ({
  url,
  tls: { ca_file: null, cert_file: null, key_file: null, server_name: null },
  sentinel: { username: null, password: null, uses_tls: null },
})

/**
 * Connects to what REDIS_URL names. A single server, the primary that Sentinels name and the primary of the product's slot
 * in a cluster are used alike.
 * @throws when the form of the address is not known, or the certificate files cannot be used
 */
export function connectRedis(store: string | StoreAccess, { name, role }: RedisRole): RedisClient {
  const access = typeof store === 'string' ? plainAccess(store) : store
  const failsAtOnce = role === 'commands' || role === 'urgent'
  const options: Options = {
    connectionName: name.replaceAll(/[^\w.-]/g, '_'),
    connectTimeout: CONNECT_TIMEOUT_MS,
    enableAutoPipelining: role === 'commands',
    enableOfflineQueue: !failsAtOnce,
    enableReadyCheck: true,
    maxRetriesPerRequest: failsAtOnce ? 0 : null,
    autoResubscribe: true,
    autoResendUnfulfilledCommands: !failsAtOnce,
    retryStrategy: (attempt: number) => Math.min(attempt * 50, RECONNECT_MAX_MS),
  }
  const limits: WaitLimits = {
    command_ms: failsAtOnce ? COMMAND_TIMEOUT_MS : null,
    silence_ms: role === 'queue' ? BLOCKING_SILENCE_LIMIT_MS : SILENCE_LIMIT_MS,
  }
  let client: StoreClient | null = null
  const onUnusable = (error: Error): void => void client?.emit('error', error)
  const reached = howToReach(parseStoreAddress(access.url), access, onUnusable)
  client = new StoreClient({ ...options, ...reached }, limits)
  noteProblems(client)
  if (role === 'subscription') keepPinging(client)
  return client
}

function howToReach(
  address: StoreAddress,
  access: StoreAccess,
  onUnusable: (error: Error) => void,
): Options {
  const { tls: files, sentinel } = access
  if (address.kind === 'socket') return { path: address.path }
  const tls = address.is_tls ? tlsOptions(files, onUnusable) : null
  const login: Options = {
    ...(address.username === null ? {} : { username: address.username }),
    ...(address.password === null ? {} : { password: address.password }),
    ...(tls === null ? {} : { tls }),
  }
  if (address.kind === 'single') {
    const { place, db, family } = address
    return { ...login, ...place, db, ...(family === 0 ? {} : { family }) }
  }
  if (address.kind === 'cluster') {
    return { ...login, Connector: clusterConnector(mapOf(address, access, tls), tls) }
  }
  const sentinelTls = (sentinel.uses_tls ?? address.is_tls) ? tlsOptions(files, onUnusable) : null
  return {
    ...login,
    sentinels: [...address.places],
    name: address.primary_name,
    enableTLSForSentinelMode: address.is_tls,
    ...sentinelLogin(sentinel, sentinelTls),
    sentinelRetryStrategy: (attempt: number) => Math.min(attempt * 50, RECONNECT_MAX_MS),
    sentinelCommandTimeout: COMMAND_TIMEOUT_MS,
    // Otherwise a connection would stay with the old primary until that becomes a replica.
    failoverDetector: true,
  }
}

/** Connections of one process to one cluster share the search for the primary. */
const maps = new WeakMap<StoreAccess, ClusterMap>()

function mapOf(
  { username, password, places }: Extract<StoreAddress, { readonly kind: 'cluster' }>,
  access: StoreAccess,
  tls: ConnectionOptions | null,
): ClusterMap {
  const map = maps.get(access) ?? new ClusterMap({ places, username, password, tls })
  maps.set(access, map)
  return map
}

const sentinelLogin = (
  { username, password }: StoreAccess['sentinel'],
  tls: ConnectionOptions | null,
): Options => ({
  ...(username === null ? {} : { sentinelUsername: username }),
  ...(password === null ? {} : { sentinelPassword: password }),
  ...(tls === null ? {} : { sentinelTLS: tls }),
})

function keepPinging(client: StoreClient): void {
  let read = -1
  const stop = onBeat(PING_INTERVAL_S, () => {
    if (client.status !== 'ready') return
    const { bytesRead } = client.stream
    // What came since the last look says as much as the reply to a ping.
    if (bytesRead === read) client.ping().catch(() => undefined)
    read = bytesRead
  })
  client.on('end', () => {
    if (client.is_closed) stop()
  })
}
