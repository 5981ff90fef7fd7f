/** Headers of a refusal after the API was called: SDKs that repeat a call by its status read them. */
export const NO_RETRY = [
  { name: 'x-should-retry', value: 'false' },
  { name: 'stripe-should-retry', value: 'false' },
] as const
