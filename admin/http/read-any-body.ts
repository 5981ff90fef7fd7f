import type { FastifyInstance } from 'fastify'
import type { Readable } from 'node:stream'

/** Above any meaningful body; the rest is not read. */
const BODY_LIMIT_BYTES = 1_048_576
/** Longer ones are parsed only for callers who have signed in. */
export const UNSIGNED_BODY_LIMIT = 65_536
/** A body that does not arrive must not prevent the request from being executed. */
const BODY_WAIT_MS = 1000

/** Accepts any body of any type as text: these requests are never refused for their form. */
export function readAnyBody(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  // A malformed content type would be refused before any parser runs.
  app.addHook('onRequest', async (request) => {
    request.raw.headers['content-type'] = 'application/octet-stream'
  })
  app.addContentTypeParser('*', (_request, payload, done) => {
    readSome(payload as Readable, (text) => done(null, text))
  })
}

function readSome(payload: Readable, done: (text: string) => void): void {
  const parts: Buffer[] = []
  let bytes = 0
  let isDone = false
  const finish = (): void => {
    if (isDone) return
    isDone = true
    clearTimeout(timer)
    done(Buffer.concat(parts).toString())
  }
  const timer = setTimeout(finish, BODY_WAIT_MS)
  payload.on('data', (part: Buffer) => {
    if (isDone) return
    bytes += part.length
    parts.push(part)
    if (bytes > BODY_LIMIT_BYTES) finish()
  })
  payload.once('end', finish)
  payload.once('error', finish)
  payload.once('close', finish)
}
