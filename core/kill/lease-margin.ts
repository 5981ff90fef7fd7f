/** The store, an edge and this process each count the lease on a clock of their own; this is for what lies between. */
export const LEASE_MARGIN_MS = 200
