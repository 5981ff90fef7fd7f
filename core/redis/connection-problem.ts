import { describeStoreError } from './describe-store-error.ts'
import { REDIS_KEYS } from './redis-keys.ts'
import type { RedisClient } from './run-script.ts'

const NO_ANSWER = 'the store does not respond. Check that it runs and is not overloaded'
/** A connection that is open but not usable for this long is asked why. */
const NOT_READY_MS = 300

/** The last error of each connection since it was last usable. */
const latest = new WeakMap<RedisClient, unknown>()

/** Remembers what a connection reports. Without a listener an 'error' event would end the process. */
export function noteProblems(client: RedisClient): void {
  const note = (error: unknown): void => void latest.set(client, error)
  client.on('error', note)
  client.on('sentinelError', note)
  client.on('ready', () => latest.delete(client))
  // A peer that closes the connection without a word reports no error.
  client.on('close', () => {
    if (!latest.has(client)) note(new Error('Connection is closed.'))
  })
  client.on('connect', () => setTimeout(() => askWhyNotReady(client, note), NOT_READY_MS).unref())
}

/** The library waits for a store that loads its data without reporting it. */
function askWhyNotReady(client: RedisClient, note: (error: unknown) => void): void {
  if (client.status !== 'connect') return
  client.info('persistence').then(
    (text) => {
      const isLoading = client.status === 'connect' && /^loading:1/m.test(text)
      if (isLoading) note(new Error('LOADING the store is loading its data'))
    },
    () => undefined,
  )
}

/** What the connection itself reported last, for the process log; empty if nothing. */
export function lastError(client: RedisClient): string {
  const error = latest.get(client)
  return error instanceof Error ? error.message : ''
}

/**
 * Why the store cannot be used, as a sentence without its full stop; null while the connection is ready.
 * @param failed the error of a command that failed, if one did
 */
export function connectionProblem(client: RedisClient, failed: unknown = null): string | null {
  const noted = latest.get(client)
  if (client.status !== 'ready' && noted !== undefined)
    return describeStoreError(noted) ?? NO_ANSWER
  if (failed !== null) return describeStoreError(failed) ?? NO_ANSWER
  return client.status === 'ready' ? null : NO_ANSWER
}

/** Like `connectionProblem`, and also whether the store accepts writes. The write changes nothing. */
export const writeProblem = (client: RedisClient): Promise<string | null> =>
  client.setrange(REDIS_KEYS.installation, 0, '').then(
    () => null,
    (error: unknown) => connectionProblem(client, error),
  )
