import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks'

/** A sample wakes the process, so this is also what an idle process costs. */
const RESOLUTION_MS = 200
const NS_PER_S = 1e9

/** How busy this process is. */
export class ProcessLoad {
  readonly #delays: IntervalHistogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS })

  constructor() {
    this.#delays.enable()
  }

  /** The longest delay since the last call, and the memory now. */
  read(): { readonly agw_event_loop_lag_seconds: number; readonly agw_memory_bytes: number } {
    // A delay is the time between two samples, which are due RESOLUTION_MS apart.
    const lag_s = Math.max(0, this.#delays.max / NS_PER_S - RESOLUTION_MS / 1000)
    this.#delays.reset()
    return { agw_event_loop_lag_seconds: lag_s, agw_memory_bytes: process.memoryUsage.rss() }
  }
}
