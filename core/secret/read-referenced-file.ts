import { constants } from 'node:fs'
import { type FileHandle, lstat, open, readlink, realpath } from 'node:fs/promises'

const LIMIT_BYTES = 65_536

/**
 * The text of a regular file that is in a folder after links are resolved; null for anything else. What is checked is the open file, so
 * that a path that changes meanwhile gains nothing.
 * @throws (rejects) if there is no such file
 */
export async function readReferencedFile(folder: string, path: string): Promise<string | null> {
  const [home, real] = await Promise.all([realpath(folder), realpath(path)])
  if (!real.startsWith(`${home}/`)) return null
  // A pipe does not block.
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK
  const file = await open(real, flags)
  try {
    const found = await file.stat()
    if (!found.isFile() || found.size > LIMIT_BYTES || !(await isAt(file, real))) return null
    const bytes = Buffer.alloc(LIMIT_BYTES + 1)
    const { bytesRead } = await file.read(bytes, 0, bytes.length, 0)
    if (bytesRead > LIMIT_BYTES) return null
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
      .decode(bytes.subarray(0, bytesRead))
      .replace(/\r?\n$/, '')
  } finally {
    await file.close()
  }
}

/** Linux knows the path of an open file. */
async function isAt(file: FileHandle, real: string): Promise<boolean> {
  if (process.platform === 'linux') return (await readlink(`/proc/self/fd/${file.fd}`)) === real
  const [opened, named] = await Promise.all([file.stat(), lstat(real)])
  return opened.ino === named.ino && opened.dev === named.dev
}
