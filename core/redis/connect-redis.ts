import { Cluster, Redis, type RedisOptions } from 'ioredis'
import type { RedisClient } from './run-script.ts'

/** A command that is not answered by then has failed; the hot path refuses the call that waited for it. */
export const COMMAND_TIMEOUT_MS = 1000
const CONNECT_TIMEOUT_MS = 2000
/** A connection without an answer for this long, while one is due, is reopened: its peer may be unavailable. */
const SILENCE_LIMIT_MS = 1500
const RECONNECT_MAX_MS = 500

/** Replies keep one shape whatever protocol the server speaks. */
type Options = Omit<RedisOptions, 'replyMapping'>

export interface RedisRole {
  /** Shown in CLIENT LIST. */
  readonly name: string
  /** `commands` fails at once while the connection is away; `urgent` too, and no command waits there for the answer to those before it; `subscription` waits for it and subscribes again; `queue` is for libraries that block. */
  readonly role: 'commands' | 'urgent' | 'subscription' | 'queue'
}

/**
 * Connects to what REDIS_URL names: `redis://`, `rediss://`, `unix:///path`, `redis+sentinel://host:port,…/name`
 * (`rediss+sentinel://` with TLS) and `redis+cluster://host:port,…` (`rediss+cluster://`).
 * @throws when the form is not one of these
 */
export function connectRedis(url: string, { name, role }: RedisRole): RedisClient {
  const failsAtOnce = role === 'commands' || role === 'urgent'
  const common: Options = {
    connectionName: name.replaceAll(/[^\w.-]/g, '_'),
    connectTimeout: CONNECT_TIMEOUT_MS,
    enableAutoPipelining: role === 'commands',
    enableOfflineQueue: !failsAtOnce,
    enableReadyCheck: true,
    maxRetriesPerRequest: failsAtOnce ? 0 : null,
    autoResubscribe: true,
    retryStrategy: (attempt: number) => Math.min(attempt * 50, RECONNECT_MAX_MS),
    ...(failsAtOnce ? { commandTimeout: COMMAND_TIMEOUT_MS } : {}),
    ...(role === 'queue' ? {} : { socketTimeout: SILENCE_LIMIT_MS }),
  }
  const client = open(url, common)
  // Without a listener an 'error' event would end the process; who uses the connection sees its commands fail.
  client.on('error', () => undefined)
  return client
}

function open(url: string, options: Options): RedisClient {
  if (url.startsWith('unix://')) return new Redis({ ...options, path: url.slice('unix://'.length) })
  if (/^rediss?:\/\//.test(url)) return new Redis(url, options)
  const several =
    /^(rediss?)\+(sentinel|cluster):\/\/(?:([^:@/]*):([^@/]*)@)?([^/]+)(?:\/([^/]+))?$/.exec(url)
  if (several === null)
    throw new Error(`REDIS_URL has a form that is not known: ${url.split(':')[0]}:…`)
  const [, scheme, form, username = '', password = '', places = '', sentinelName = 'mymaster'] =
    several
  const nodes = places.split(',').map((place) => {
    const cut = place.lastIndexOf(':')
    return cut < 0
      ? { host: place, port: form === 'sentinel' ? 26379 : 6379 }
      : { host: place.slice(0, cut), port: Number(place.slice(cut + 1)) }
  })
  const secured: Options = {
    ...options,
    ...(username ? { username: decodeURIComponent(username) } : {}),
    ...(password ? { password: decodeURIComponent(password) } : {}),
    ...(scheme === 'rediss' ? { tls: {} } : {}),
  }
  if (form === 'sentinel') return new Redis({ ...secured, sentinels: nodes, name: sentinelName })
  return new Cluster(nodes, {
    redisOptions: secured,
    enableAutoPipelining: options.enableAutoPipelining ?? false,
    enableOfflineQueue: options.enableOfflineQueue ?? true,
    clusterRetryStrategy: (attempt) => Math.min(attempt * 50, RECONNECT_MAX_MS),
  })
}
