import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

const EVENTS = 20
const EVENT = `data: ${JSON.stringify({ delta: 'A few more words of the answer, as a model writes them.' })}\n\n`

/** Of a reference that is expensive to normalize. */
const MARKS = `/e${'%CC%81%CC%A3'.repeat(3_300)}`

/**
 * The API behind the gateway: reads the body and answers a few bytes, at `/events` a short stream, at `/open` one that stays open, at
 * `/marks` a hostile redirect.
 */
const server = createServer((request, response) => {
  request.resume()
  request.on('end', () => {
    if (request.url?.endsWith('/open') === true) {
      response.setHeader('content-type', 'text/event-stream')
      response.write(EVENT)
      return
    }
    if (request.url?.endsWith('/events') === true) {
      response.setHeader('content-type', 'text/event-stream')
      for (let i = 0; i < EVENTS; i++) response.write(EVENT)
      response.end()
      return
    }
    if (request.url?.endsWith('/marks') === true) {
      response.writeHead(302, { location: MARKS, 'www-authenticate': `Bearer realm="${MARKS}"` })
      response.end()
      return
    }
    response.setHeader('content-type', 'application/json')
    response.end('{"ok":true}')
  })
})
server.keepAliveTimeout = 120_000
server.listen(0, '127.0.0.1', () =>
  process.send?.({ port: (server.address() as AddressInfo).port }),
)
process.on('disconnect', () => process.exit(0))
