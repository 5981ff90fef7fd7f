/** Calls `stop` once: when this process is told to end, or when the launcher is gone and nobody else would end it. */
export function onStop(stop: () => Promise<void>): void {
  let stopping: Promise<void> | null = null
  const stopOnce = (): void => {
    stopping ??= stop()
  }
  for (const event of ['SIGTERM', 'SIGINT', 'disconnect']) process.on(event, stopOnce)
}
