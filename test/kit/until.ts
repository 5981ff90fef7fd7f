import { setTimeout as wait } from 'node:timers/promises'

/** Polls until the check answers something truthy; for things that send no signal, as a port that opens. */
export async function until<T>(
  what: string,
  check: () => Promise<T | null | undefined | false> | T | null | undefined | false,
  limit_ms = 20_000,
): Promise<T> {
  const deadline = Date.now() + limit_ms
  for (;;) {
    const value = await check()
    if (value) return value
    if (Date.now() > deadline) throw new Error(`waited ${limit_ms} ms in vain: ${what}`)
    await wait(20)
  }
}
