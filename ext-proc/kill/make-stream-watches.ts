import type { EnvoyStream } from '../envoy/start-server.ts'
import { StreamWatch, type StreamWatchParts } from './stream-watch.ts'

/** Filters of one Envoy that have authorities of their own; the product's configuration has four. Further ones share a watch. */
const FILTERS_MAX = 16

/** One watch for each connection and filter, whatever they call themselves: each filter has modes of its own. */
export function makeStreamWatches(parts: StreamWatchParts): (stream: EnvoyStream) => StreamWatch {
  const byConnection = new WeakMap<object, Map<string, StreamWatch>>()
  return (stream) => {
    const { connection } = stream
    let watches = byConnection.get(connection)
    if (watches === undefined) byConnection.set(connection, (watches = new Map()))
    const filter = watches.size < FILTERS_MAX ? stream.getHost() : ''
    let watch = watches.get(filter)
    if (watch === undefined) watches.set(filter, (watch = new StreamWatch(parts)))
    return watch
  }
}
