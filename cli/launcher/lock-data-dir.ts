import { rmSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import type { DataDir } from './data-dir.ts'

/**
 * Locks the data directory for this launcher. The lock is a listening socket, so it ends with its
 * process, however that ends.
 * @returns a function that releases the lock, or null if another launcher holds it
 */
export async function lockDataDir(dataDir: DataDir): Promise<(() => void) | null> {
  const path = join(dataDir.sockets, 'launcher.sock')
  const first = await listen(path)
  if (first !== null) return first
  if (await isAnswered(path)) return null
  rmSync(path, { force: true })
  return listen(path)
}

function listen(path: string): Promise<(() => void) | null> {
  return new Promise((resolve) => {
    const server = createServer((socket) => socket.destroy())
    server.once('error', () => resolve(null))
    server.listen(path, () => {
      server.unref()
      resolve(() => server.close())
    })
  })
}

function isAnswered(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path)
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}
