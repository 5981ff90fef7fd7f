/** How a call reaches the gateway: through the forward proxy, or by the base URL of an API. */
export const VIAS = ['forward', 'base_url'] as const
export type Via = (typeof VIAS)[number]
