/** Calls `stop` once: when this process receives a signal to end, or when the launcher has exited. */
export function onStop(stop: () => Promise<void>): void {
  let stopping: Promise<void> | null = null
  const stopOnce = (): void => {
    stopping ??= stop()
  }
  for (const event of ['SIGTERM', 'SIGINT', 'disconnect']) process.on(event, stopOnce)
}
