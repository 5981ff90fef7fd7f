import { onBeat } from './on-beat.ts'

/**
 * Does the work at each interval, one run at a time. Does not keep the process alive.
 * @returns a function that ends it, and resolves when a run in progress has ended
 */
export function repeatWork(
  interval_ms: number,
  work: () => Promise<void>,
  failed: (error: unknown) => void,
): () => Promise<void> {
  let running: Promise<void> | null = null
  const stop = onBeat(interval_ms / 1_000, () => {
    running ??= work()
      .catch(failed)
      .finally(() => {
        running = null
      })
  })
  return async () => {
    stop()
    await running
  }
}
