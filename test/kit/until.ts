import { setTimeout as wait } from 'node:timers/promises'

const INTERVAL_MS = 20
/** A check that costs something is not asked so often that it slows what is waited for. */
const PAUSE_PER_CHECK = 3
/** Long enough to distinguish what never comes from what comes late on a busy machine. */
const LIMIT_MS = 120_000

/** Polls until the check answers something truthy; for things that send no signal, as a port that opens. */
export async function until<T>(
  what: string,
  check: () => Promise<T | null | undefined | false> | T | null | undefined | false,
  limit_ms = LIMIT_MS,
): Promise<T> {
  const deadline = Date.now() + limit_ms
  for (;;) {
    const began_ms = performance.now()
    const value = await check()
    if (value) return value
    if (Date.now() > deadline) throw new Error(`waited ${limit_ms} ms in vain: ${what}`)
    await wait(Math.max(INTERVAL_MS, PAUSE_PER_CHECK * (performance.now() - began_ms)))
  }
}
