import { rmSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import type { DataDir } from './data-dir.ts'
import { isListenedOn } from './is-listened-on.ts'

export const launcherSocket = (dataDir: DataDir): string => join(dataDir.sockets, 'launcher.sock')

/**
 * Locks the data directory for this launcher. The lock is a listening socket, so it ends with its
 * process, however that ends.
 * @param serve for connections to the socket, which are commands to this launcher
 * @returns a function that releases the lock, or null if another launcher holds it
 */
export async function lockDataDir(
  dataDir: DataDir,
  serve: (socket: Socket) => void,
): Promise<(() => void) | null> {
  const path = launcherSocket(dataDir)
  const first = await listen(path, serve)
  if (first !== null) return first
  if (await isListenedOn(path)) return null
  rmSync(path, { force: true })
  return listen(path, serve)
}

function listen(path: string, serve: (socket: Socket) => void): Promise<(() => void) | null> {
  return new Promise((resolve) => {
    const server = createServer(serve)
    server.once('error', () => resolve(null))
    server.listen(path, () => {
      server.unref()
      resolve(() => server.close())
    })
  })
}
