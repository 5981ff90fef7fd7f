import { lstat, readdir, rm, rmdir } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'

/** What the sockets of a process are in, below the temporary directory; six more characters follow. */
export const FOLDER_PREFIX = 'agw-admin-'
const NAME = new RegExp(`^${FOLDER_PREFIX}[A-Za-z0-9]{6}$`)
/** Between binding a socket and listening on it, a process that is starting refuses connections too. */
const STARTING_MS = 10_000
/** A process makes its sockets long before this. */
const EMPTY_MS = 600_000

/**
 * Removes what admin processes that were killed have left in the temporary directory: folders of this user that contain nothing but
 * sockets on which nobody listens, and those that have been empty for ten minutes.
 */
export async function removeDeadFolders(parent: string, now_ms: number): Promise<void> {
  const names = await readdir(parent).catch(() => [])
  for (const name of names)
    if (NAME.test(name)) await removeIfDead(join(parent, name), now_ms).catch(() => undefined)
}

async function removeIfDead(folder: string, now_ms: number): Promise<void> {
  const stats = await lstat(folder)
  if (!stats.isDirectory() || stats.uid !== process.getuid?.()) return
  const unchanged_ms = now_ms - stats.mtimeMs
  if (unchanged_ms < STARTING_MS) return
  const paths = (await readdir(folder)).map((name) => join(folder, name))
  if (paths.length === 0 && unchanged_ms < EMPTY_MS) return
  for (const path of paths) if (!(await isDeadSocket(path))) return
  for (const path of paths) await rm(path)
  await rmdir(folder)
}

async function isDeadSocket(path: string): Promise<boolean> {
  if (!(await lstat(path)).isSocket()) return false
  return await new Promise((resolve) => {
    const socket = connect(path)
    socket.once('connect', () => {
      socket.destroy()
      resolve(false)
    })
    socket.once('error', ({ code }: NodeJS.ErrnoException) => resolve(code === 'ECONNREFUSED'))
  })
}
