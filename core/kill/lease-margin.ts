/** The store, an edge and this process each measure the lease on a different clock. This margin covers the differences. */
export const LEASE_MARGIN_MS = 200
