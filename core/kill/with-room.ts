import { setTimeout as wait } from 'node:timers/promises'
import type { DiskReserve } from '../redis/disk-reserve.ts'
import { acceptsWrites } from '../redis/accepts-writes.ts'
import { isDiskFull } from '../redis/is-disk-full.ts'
import type { RedisClient } from '../redis/run-script.ts'

/** A kill needs a few kilobytes. Others who fill the disk may take the rest before the store does. */
const PIECE_BYTES = 1 << 20
const TRIES_LIMIT = 5
/** The store tries once a second whether it can write again. */
const STORE_WAIT_MS = 1_500
const POLL_MS = 25

interface Parts {
  readonly redis: RedisClient
  /** Null where the store has no reserve on a disk of this machine. */
  readonly reserve: DiskReserve | null
}

/** Of each reserve, the one that makes room: kills that come together share what one of them gives up. */
const making = new WeakMap<DiskReserve, Promise<boolean>>()

/**
 * Does something that must succeed on a full disk, a kill or a reactivation: where the store rejects the write, a piece of the
 * reserve is given up and the work is tried again.
 * @param work writes nothing if it throws
 * @throws what `work` throws, when nothing is left to give up
 */
export async function withRoom<T>({ redis, reserve }: Parts, work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++)
    try {
      return await work()
    } catch (error) {
      if (reserve === null || tries === TRIES_LIMIT || !isDiskFull(error)) throw error
      if (!(await makeRoomOnce(redis, reserve))) throw error
    }
}

function makeRoomOnce(redis: RedisClient, reserve: DiskReserve): Promise<boolean> {
  const running = making.get(reserve)
  if (running !== undefined) return running
  const started = makeRoom(redis, reserve).finally(() => making.delete(reserve))
  making.set(reserve, started)
  return started
}

/** Returns false if there is nothing left to give up. */
async function makeRoom(redis: RedisClient, reserve: DiskReserve): Promise<boolean> {
  if ((await reserve.shrinkBy(PIECE_BYTES)) === 0) return (await acceptsWrites(redis)) === 'yes'
  const began_ms = performance.now()
  while (performance.now() - began_ms < STORE_WAIT_MS) {
    if ((await acceptsWrites(redis)) === 'yes') return true
    await wait(POLL_MS)
  }
  return true
}
