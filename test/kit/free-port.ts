import { randomInt } from 'node:crypto'
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

/** A port of 127.0.0.1 that nothing listened on a moment ago, chosen at random so that two tests hardly choose the same. */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const port = randomInt(LOWEST, HIGHEST + 1)
    if (port !== OF_RELEASES && (await isFree(port))) return port
  }
  throw new Error(`no free port found from ${LOWEST} to ${HIGHEST}`)
}

function isFree(port: number): Promise<boolean> {
  const server = createServer()
  return new Promise((resolve) => {
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}
