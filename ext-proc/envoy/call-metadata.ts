/** A name and a value in ASCII. */
export type CallMember = readonly [name: string, value: string]

/** The dynamic metadata in which Envoy keeps the facts of a call: a namespace and its members. */
export const METADATA_NAMESPACE = 'agw'
export const CALL_FACTS = 'f'
/** Set on calls that are already logged, as every refusal is, so that the access log skips them. */
export const CALL_LOGGED = 'r'
/** The values of the response headers `RateLimit` and `RateLimit-Policy`, which the routes of allowed calls add. */
export const RATE_LIMIT = 'q'
export const RATE_POLICY = 'p'
/** The value of the response header `Preference-Applied` of a call that has waited; the routes of allowed calls add it. */
export const PREFERENCE = 'a'
/** Set if the processor must see the response regardless of its headers; see `looked_at` in envoy/bootstrap.yaml. */
export const LOOK = 'l'
/** Of a WebSocket: the frames so far, of the client and, if they are read, of the API: `12` or `12,34`. */
export const FRAMES = 'w'
/**
 * On calls of MCP: the id of the JSON-RPC request as JSON text, for the errors that Envoy itself answers with
 * (`envoy/local-replies.ts`).
 */
export const JSON_RPC_ID = 'j'
/** The check that reads the body, for Envoy's own refusal of one that is too large. */
export const HELD_BY = 'h'
