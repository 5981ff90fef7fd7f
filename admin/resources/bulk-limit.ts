/** Records that one change creates at most: the store does nothing else while it writes them, for 2 to 6 ms. */
export const BULK_LIMIT = 100
