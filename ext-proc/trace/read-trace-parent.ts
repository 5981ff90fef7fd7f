/** The span in which another program calls this one. */
export interface TraceParent {
  readonly trace_id: string
  readonly span_id: string
}

const SAMPLED =
  /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-[0-9a-f][13579bdf](?:-|$)/

/** Reads W3C `traceparent`. Null for a call that is not sampled, or a text that is malformed. */
export function readTraceParent(text: string): TraceParent | null {
  const [, trace_id, span_id] = SAMPLED.exec(text) ?? []
  return trace_id === undefined || span_id === undefined ? null : { trace_id, span_id }
}
