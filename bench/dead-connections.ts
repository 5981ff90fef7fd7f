import { Agent, createServer, request } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { operatorAt } from '../test/kit/operator.ts'
import { startStack } from '../test/kit/start-stack.ts'

/**
 * `npm run bench -- dead-connections [--calls 300] [--idle 0] [--product DIR]`: an API that closes each connection as it is used for
 * the second time, which is the worst moment for an idle time-out, and calls one after the other. With `--idle 40`, the API closes a
 * connection that has been idle for 40 ms, as servers do, and eight callers pause for about as long between calls. Prints how many of
 * each method failed. `--product` is another built source tree.
 */
const { values } = parseArgs({
  options: {
    calls: { type: 'string', default: '300' },
    idle: { type: 'string', default: '0' },
    product: { type: 'string' },
  },
})
const calls = Math.min(Number(values.calls), 1_000_000)
const idle_ms = Number(values.idle)
const callers = idle_ms === 0 ? 1 : 8
/** How far a pause is from the idle time-out, at most. */
const SPREAD_MS = 4

const used = new WeakSet<Socket>()
const closing = new WeakMap<Socket, NodeJS.Timeout>()
const server = createServer((incoming, answer) => {
  const { socket } = incoming
  if (idle_ms === 0 && used.has(socket)) return void socket.destroy()
  used.add(socket)
  clearTimeout(closing.get(socket))
  incoming.resume()
  incoming.on('end', () => answer.end('ok'))
  if (idle_ms > 0)
    answer.once('finish', () =>
      closing.set(
        socket,
        setTimeout(() => socket.destroy(), idle_ms),
      ),
    )
})
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
const { port } = server.address() as AddressInfo

const stack = await startStack({ AGW_EGRESS_ALLOW_CIDRS: '127.0.0.0/8' }, values.product)
const access = await operatorAt(stack.proxyUrl, stack.adminToken).makeAccess(
  `http://127.0.0.1:${port}/v1`,
  { scope: { rate_limiting: { requests_per_minute: null } } },
)

const agent = new Agent({ keepAlive: true, maxSockets: callers })
for (const method of ['GET', 'PUT', 'POST']) {
  const failures = new Map<string, number>()
  let left = calls
  await Promise.all(
    Array.from({ length: callers }, async () => {
      while (left-- > 0) {
        const status = await send(method)
        if (status !== '200') failures.set(status, (failures.get(status) ?? 0) + 1)
        if (idle_ms > 0) await wait(idle_ms + (2 * Math.random() - 1) * SPREAD_MS)
      }
    }),
  )
  const by = [...failures].map(([status, count]) => `${count} × ${status}`).join(', ') || 'none'
  process.stdout.write(`${method}: ${calls} calls, failed: ${by}\n`)
}
agent.destroy()
await stack.stop()
server.closeAllConnections()
server.close()

function send(method: string): Promise<string> {
  return new Promise((resolve) => {
    const call = request(
      `${stack.proxyUrl}/${access.base_url}/x`,
      { agent, method, headers: access.headers },
      (answer) => {
        answer.resume()
        answer.once('end', () =>
          resolve(
            answer.statusCode === 200
              ? '200'
              : `${answer.statusCode} ${String(answer.headers['x-agw-reason'])}`,
          ),
        )
        answer.once('error', () => resolve('cut'))
      },
    )
    call.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'error'))
    call.end(method === 'GET' ? undefined : '{}')
  })
}
