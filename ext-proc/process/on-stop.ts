/**
 * How long calls in flight may take: `drain` lets them end, since another process takes new ones; `quick` is for a stop of
 * the whole gateway, for which an operator waits.
 */
export type StopKind = 'drain' | 'quick'

const STOPS: Readonly<Record<string, StopKind>> = {
  SIGTERM: 'drain',
  SIGINT: 'quick',
  // The launcher has exited, and Envoy with it.
  disconnect: 'quick',
}

/** Calls `stop` once: when this process receives a signal to end, or when the launcher has exited. */
export function onStop(stop: (kind: StopKind) => Promise<void>): void {
  let stopping: Promise<void> | null = null
  for (const [event, kind] of Object.entries(STOPS))
    process.on(event, () => {
      stopping ??= stop(kind)
    })
}
