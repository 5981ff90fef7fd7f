import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/**
 * Below the ports that Linux gives to outgoing connections and to servers on port 0 (32768 and above). A port of those
 * may be taken by any connection before the process it was chosen for binds it.
 */
const LOWEST = 10_240
const HIGHEST = 32_767
/** The stored data of releases names it; see test/witness/write-release-data.ts. */
const OF_RELEASES = 23_817
const ATTEMPTS = 100

/**
 * A port of 127.0.0.1 that nothing listens on, reserved for this process until it ends. Two Envoys can listen on one
 * port without an error and share its connections, so it is not enough that a port is free when it is chosen.
 */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const port = randomInt(LOWEST, HIGHEST + 1)
    if (port !== OF_RELEASES && (await reserve(port)) && (await isFree(port))) return port
  }
  throw new Error(`no free port found from ${LOWEST} to ${HIGHEST}`)
}

/** By a socket in Linux's abstract namespace, which only one process can bind and which ends with it. */
async function reserve(port: number): Promise<boolean> {
  const server = createServer()
  if (!(await isBound(server, { path: `\0agw-test-port-${port}` }))) return false
  server.unref()
  return true
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer()
  if (!(await isBound(server, { port, host: '127.0.0.1' }))) return false
  server.close()
  await once(server, 'close')
  return true
}

function isBound(
  server: ReturnType<typeof createServer>,
  address: { path: string } | { port: number; host: string },
): Promise<boolean> {
  return new Promise((resolve) => {
    server.once('error', () => resolve(false))
    server.listen(address, () => resolve(true))
  })
}
