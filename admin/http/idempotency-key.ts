/** An Idempotency-Key that can be used. */
export const IDEMPOTENCY_KEY = /^[\x21-\x7e]{1,255}$/
