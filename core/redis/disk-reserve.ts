import { randomBytes } from 'node:crypto'
import { open, stat, truncate } from 'node:fs/promises'
import { dirname } from 'node:path'
import { freeBytesOf } from '../system/free-bytes-of.ts'
import type { Settings } from '../settings/settings.ts'

const PIECE_BYTES = 1 << 20

/**
 * A file that holds space on the disk of the store. When the disk is full, part of the file is given up, so that the store can
 * write again. Several processes may share it: its size is all that counts, and it is read each time.
 */
export class DiskReserve {
  readonly #file: string
  /** The size that it has while nothing was given up. */
  readonly full_bytes: number

  constructor(file: string, full_bytes: number) {
    this.#file = file
    this.full_bytes = full_bytes
  }

  /** Null where the settings have none. */
  static from({
    diskReserveFile: file,
    diskReserveBytes: bytes,
  }: Pick<Settings, 'diskReserveFile' | 'diskReserveBytes'>): DiskReserve | null {
    return file === null || bytes === 0 ? null : new DiskReserve(file, bytes)
  }

  async sizeBytes(): Promise<number> {
    try {
      return (await stat(this.#file)).size
    } catch {
      return 0
    }
  }

  /** Of the disk, without the reserve. */
  freeBytes(): Promise<number> {
    return freeBytesOf(dirname(this.#file))
  }

  /** Gives up all but so many bytes. Returns how many became free. */
  async shrinkTo(left_bytes: number): Promise<number> {
    const size_bytes = await this.sizeBytes()
    if (size_bytes <= left_bytes) return 0
    await truncate(this.#file, left_bytes)
    return size_bytes - left_bytes
  }

  /** Gives up so many bytes, or what is left. Returns how many became free. */
  async shrinkBy(bytes: number): Promise<number> {
    return await this.shrinkTo(Math.max(0, (await this.sizeBytes()) - bytes))
  }

  /**
   * Writes it to its full size. Random bytes, since a file system may compress others to nothing.
   * @throws (rejects) if the disk has no space or the file cannot be written; its size is the same as before then
   */
  async fill(): Promise<void> {
    const before_bytes = await this.sizeBytes()
    const handle = await open(this.#file, 'a', 0o600)
    try {
      const piece = randomBytes(PIECE_BYTES)
      for (let size_bytes = before_bytes; size_bytes < this.full_bytes; ) {
        const { bytesWritten } = await handle.write(
          piece,
          0,
          Math.min(PIECE_BYTES, this.full_bytes - size_bytes),
        )
        size_bytes += bytesWritten
      }
      await handle.truncate(this.full_bytes)
      // Some file systems decide only now whether there is space.
      await handle.sync()
    } catch (error) {
      await handle.truncate(before_bytes)
      throw error
    } finally {
      await handle.close()
    }
  }
}
