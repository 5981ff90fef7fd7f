import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream, existsSync, renameSync, rmSync } from 'node:fs'
import { open, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'

/** A little larger than level 6 makes it, in half of the time. */
const LEVEL = 4
/** A last line has 33 kB at most, and so has its compressed form. */
const TAIL_BYTES = 1 << 16
const UNFINISHED = '.gz.new'

/**
 * Replaces a closed hour file by a compressed one. The last line is a gzip member of its own, so that it can be read alone.
 * The plain file is removed only after the compressed one is on disk and was read back; whenever the process ends, one of
 * the two is whole.
 * @throws (rejects) when the disk is full or the signal aborts; the plain file is unchanged then
 */
export async function compressHour(
  folder: string,
  file: string,
  signal: AbortSignal,
): Promise<void> {
  const plain = join(folder, file)
  const unfinished = `${plain}${UNFINISHED}`
  try {
    const last_at = await startOfLastLine(plain)
    if (last_at > 0) {
      const others = createReadStream(plain, { end: last_at - 1 })
      await compress(others, unfinished, 'w', signal)
    }
    const last = createReadStream(plain, { start: last_at })
    await compress(last, unfinished, last_at > 0 ? 'a' : 'w', signal)
    const [was, is] = [
      await digestOf(createReadStream(plain), null, signal),
      await digestOf(createReadStream(unfinished), createGunzip(), signal),
    ]
    if (was !== is) throw new Error(`${file} was not the same after it was compressed`)
    const handle = await open(unfinished, 'r+')
    await handle.sync().finally(() => handle.close())
    // At once, so that a listing of the folder in this process sees one of the two. A plain file that is not there was
    // deleted meanwhile as too old.
    if (!existsSync(plain)) throw new Error(`${file} was deleted while it was compressed`)
    renameSync(unfinished, `${plain}.gz`)
    rmSync(plain)
  } catch (error) {
    await rm(unfinished, { force: true })
    throw error
  }
}

/** Removes what a process has left that ended while it compressed. */
export async function removeUnfinished(folder: string): Promise<void> {
  for (const name of await readdir(folder).catch(() => []))
    if (name.endsWith(UNFINISHED)) await rm(join(folder, name), { force: true })
}

/** Ends once the file is closed, also after a failure: only then can it be removed. */
async function compress(
  from: Readable,
  to: string,
  flags: 'w' | 'a',
  signal: AbortSignal,
): Promise<void> {
  const file = createWriteStream(to, { flags, mode: 0o600 })
  const closed = new Promise<void>((resolve) => file.once('close', () => resolve()))
  await pipeline(from, createGzip({ level: LEVEL }), file, { signal }).finally(() => closed)
}

async function digestOf(
  from: Readable,
  through: NodeJS.ReadWriteStream | null,
  signal: AbortSignal,
): Promise<string> {
  const hash = createHash('sha256')
  await (through === null
    ? pipeline(from, hash, { signal })
    : pipeline(from, through, hash, { signal }))
  return hash.digest('hex')
}

async function startOfLastLine(path: string): Promise<number> {
  const handle = await open(path, 'r')
  try {
    const { size } = await handle.stat()
    const bytes = Buffer.alloc(Math.min(size, TAIL_BYTES))
    await handle.read(bytes, 0, bytes.length, size - bytes.length)
    // Without the line feed that ends it.
    const before = bytes.lastIndexOf(0x0a, bytes.length - 2)
    return before < 0 ? 0 : size - bytes.length + before + 1
  } finally {
    await handle.close()
  }
}
