import type { FastifyReply } from 'fastify'
import type { Logger } from 'pino'
import type { Streamed } from './outcome.ts'

/** Streams a response. An error in the middle cuts the connection, since the status has already been sent. */
export function sendStream(
  reply: FastifyReply,
  { headers, write }: Streamed,
  log: Logger,
): FastifyReply {
  const out = reply.raw
  reply.hijack()
  const gone = new AbortController()
  out.once('close', () => gone.abort())
  if (out.destroyed || out.closed) gone.abort()
  out.on('error', () => gone.abort())
  // Small events must not wait for the next.
  out.socket?.setNoDelay(true)
  const head = Object.entries(reply.getHeaders()).filter(([, value]) => value !== undefined)
  out.writeHead(200, { ...(Object.fromEntries(head) as Record<string, string>), ...headers })
  out.flushHeaders()
  write(out, gone.signal).then(
    () => out.end(),
    (error: unknown) => {
      if (!gone.signal.aborted) log.warn({ err: error }, 'a response was aborted')
      out.destroy()
    },
  )
  return reply
}
