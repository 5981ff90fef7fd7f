import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** The API behind the gateway: reads the body and answers a few bytes. */
const server = createServer((request, response) => {
  request.resume()
  request.on('end', () => {
    response.setHeader('content-type', 'application/json')
    response.end('{"ok":true}')
  })
})
server.keepAliveTimeout = 120_000
server.listen(0, '127.0.0.1', () =>
  process.send?.({ port: (server.address() as AddressInfo).port }),
)
process.on('disconnect', () => process.exit(0))
