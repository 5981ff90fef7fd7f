import { type EnvoyStream, hasAccessLog } from '../envoy/start-server.ts'
import { StreamWatch, type StreamWatchParts } from './stream-watch.ts'

/**
 * One watch for each connection. An Envoy with the product's own configuration keeps its streams, and sends only those
 * responses here that may have to change; it is not watched.
 */
export function makeStreamWatches(
  parts: StreamWatchParts,
): (stream: EnvoyStream) => StreamWatch | null {
  const byConnection = new WeakMap<object, StreamWatch>()
  return (stream) => {
    if (hasAccessLog(stream)) return null
    const { connection } = stream
    let watch = byConnection.get(connection)
    if (watch === undefined) {
      watch = new StreamWatch(parts)
      byConnection.set(connection, watch)
    }
    return watch
  }
}
