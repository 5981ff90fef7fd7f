/** Where Envoy keeps what the processor notes of a call: a namespace and two members of its dynamic metadata. */
export const METADATA_NAMESPACE = 'agw'
export const CALL_FACTS = 'f'
/** Set on what is in the log already, as every refusal is, so that the access log leaves it out. */
export const CALL_LOGGED = 'r'
