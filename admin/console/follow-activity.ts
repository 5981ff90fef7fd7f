import { createParser } from 'eventsource-parser'
import { dashboardHeaders } from './api.ts'
import type { ActivityEntry } from './api-types.ts'
import { connection } from './connection.ts'

const RETRY_MS = 2000
/** The service sends a comment every two seconds while the store answers. */
const STALE_AFTER_MS = 5_000
const STALE_CHECK_MS = 500
/** Above any entry: a change of the largest scope has half a megabyte, before and after. */
const EVENT_LIMIT_CHARACTERS = 4 * 1024 * 1024

/**
 * Follows the activity log until it is stopped, and resumes after the last event when the stream breaks. The
 * browser's EventSource would give up at the first response that is not a stream, as during a restart.
 */
export function followActivity(
  path: string,
  told: {
    readonly onEntry: (entry: ActivityEntry) => void
    readonly onState: (isLive: boolean) => void
  },
): () => void {
  const stopped = new AbortController()
  void follow(path, told, stopped.signal)
  return () => stopped.abort()
}

async function follow(
  path: string,
  { onEntry, onState }: Parameters<typeof followActivity>[1],
  stopped: AbortSignal,
): Promise<void> {
  for (let last = ''; !stopped.aborted; ) {
    await untilSeen(stopped)
    const unseen = new AbortController()
    const look = (): void => void (isSeen() || unseen.abort())
    document.addEventListener('visibilitychange', look)
    let heard_ms = performance.now()
    // An open stream without a heartbeat may be missing entries, so it is not shown as live.
    const watch = setInterval(() => {
      if (performance.now() - heard_ms > STALE_AFTER_MS) onState(false)
    }, STALE_CHECK_MS)
    try {
      const answer = await fetch(path, {
        headers: { ...dashboardHeaders(true), ...(last === '' ? {} : { 'last-event-id': last }) },
        signal: AbortSignal.any([stopped, unseen.signal]),
      })
      if (answer.status === 401) return connection.sessionOver()
      if (answer.ok && answer.body !== null) {
        onState(true)
        // Without it, what comes between a stream that broke before its first event and the next would be lost.
        last = answer.headers.get('last-event-id') ?? last
        const parser = createParser({
          maxBufferSize: EVENT_LIMIT_CHARACTERS,
          onEvent: ({ id, data }) => {
            last = id ?? last
            onEntry(JSON.parse(data) as ActivityEntry)
          },
        })
        await readParts(answer.body, (text) => {
          heard_ms = performance.now()
          onState(true)
          parser.feed(text)
        })
      }
    } catch {
      // The state shows it; the next iteration retries.
    } finally {
      clearInterval(watch)
      document.removeEventListener('visibilitychange', look)
    }
    if (stopped.aborted) return
    onState(false)
    if (unseen.signal.aborted) continue
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
  }
}

const isSeen = (): boolean => document.visibilityState === 'visible'

/**
 * A hidden tab does not follow: with HTTP/1.1 a browser opens six connections per host for all its tabs,
 * and six streams would leave none for a kill.
 */
function untilSeen(stopped: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const look = (): void => {
      if (!isSeen() && !stopped.aborted) return
      document.removeEventListener('visibilitychange', look)
      stopped.removeEventListener('abort', look)
      resolve()
    }
    document.addEventListener('visibilitychange', look)
    stopped.addEventListener('abort', look)
    look()
  })
}

async function readParts(
  body: ReadableStream<Uint8Array>,
  take: (text: string) => void,
): Promise<void> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      take(decoder.decode(value, { stream: true }))
    }
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}
