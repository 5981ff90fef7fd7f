/** Where Envoy keeps what the processor notes of a call: a namespace and the members of its dynamic metadata. */
export const METADATA_NAMESPACE = 'agw'
export const CALL_FACTS = 'f'
/** Set on what is in the log already, as every refusal is, so that the access log leaves it out. */
export const CALL_LOGGED = 'r'
/** The values of the response headers `RateLimit` and `RateLimit-Policy`, which the routes of passed calls add. */
export const RATE_LIMIT = 'q'
export const RATE_POLICY = 'p'
/** Set where the processor sees the response whatever is in its headers; see `looked_at` in envoy/bootstrap.yaml. */
export const LOOK = 'l'
