import { statfs } from 'node:fs/promises'

/** Free space of the disk that holds a folder, for processes without privileges. */
export async function freeBytesOf(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder)
  return bavail * bsize
}
