import { spawnSync } from 'node:child_process'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DiskReserve } from '../../core/redis/disk-reserve.ts'
import { type KitValkey, startValkey } from './start-valkey.ts'
import { tempFolder } from './temp-folder.ts'

export interface SmallDisk {
  readonly valkey: KitValkey
  readonly reserve: DiskReserve
  /** Sets how much is free, in addition to the reserve. */
  readonly setFree: (bytes: number) => void
  /** Another program takes so much of what becomes free, before the store can use it. */
  readonly steal: (bytes: number) => void
}

/**
 * A disk that has the append-only file of a Valkey, a reserve, and the file of another program. It is simulated by a limit on
 * the size of the append-only file, so that no mount, and so no privilege, is needed: whatever the reserve gives up raises it.
 */
export async function startSmallDisk(reserve_bytes: number): Promise<SmallDisk> {
  // The default action of the signal would end the store. Ignored, a write fails as on a full disk.
  const valkey = await startValkey([], { wrap: ['sh', '-c', 'trap "" XFSZ; exec "$@"', 'sh'] })
  const folder = join(valkey.url.slice('unix://'.length), '..', 'appendonlydir')
  const logBytes = (): number =>
    Math.max(0, ...readdirSync(folder).map((name) => statSync(join(folder, name)).size))
  let free_bytes = Number.MAX_SAFE_INTEGER
  let thief_bytes = 0

  const limit = (): void => {
    const most = Math.min(logBytes() + Math.max(0, free_bytes), 2 ** 50)
    const done = spawnSync('prlimit', [`--pid=${valkey.pid()}`, `--fsize=${most}:unlimited`])
    if (done.status !== 0) throw new Error(`prlimit failed: ${String(done.stderr)}`)
  }
  class Reserve extends DiskReserve {
    override freeBytes = (): Promise<number> => Promise.resolve(free_bytes)
    override async shrinkTo(left_bytes: number): Promise<number> {
      const freed_bytes = await super.shrinkTo(left_bytes)
      const stolen_bytes = Math.min(freed_bytes, thief_bytes)
      thief_bytes -= stolen_bytes
      free_bytes += freed_bytes - stolen_bytes
      limit()
      return freed_bytes
    }
    override async fill(): Promise<void> {
      const before_bytes = await this.sizeBytes()
      await super.fill()
      free_bytes -= (await this.sizeBytes()) - before_bytes
    }
  }
  return {
    valkey,
    reserve: new Reserve(join(tempFolder('small-disk'), 'reserve'), reserve_bytes),
    setFree: (bytes: number): void => {
      free_bytes = bytes
      limit()
    },
    steal: (bytes: number): void => {
      thief_bytes = bytes
    },
  }
}
