import { once } from 'node:events'
import type { Writable } from 'node:stream'

/** A client that reads nothing for this long has disconnected, or is trying to exhaust memory. */
const READER_STALL_MS = 60_000

/**
 * Resolves when the client has read what was written.
 * @throws when the response has ended or the client has stopped reading
 */
export async function waitForReader(
  out: Writable,
  ended: AbortSignal,
  stall_ms = READER_STALL_MS,
): Promise<void> {
  const stalled = new AbortController()
  const timer = setTimeout(() => stalled.abort(new Error('the client stopped reading')), stall_ms)
  try {
    await once(out, 'drain', { signal: AbortSignal.any([ended, stalled.signal]) })
  } catch (error) {
    throw stalled.signal.aborted ? stalled.signal.reason : error
  } finally {
    clearTimeout(timer)
  }
}
