/** Errors of an unavailable store or its connection; any other error is a bug. */
const STORE_PROBLEMS =
  /^(LOADING|OOM|READONLY|MISCONF|CLUSTERDOWN|MOVED|ASK|UNBLOCKED|MASTERDOWN|TRYAGAIN|NOREPLICAS|BUSY|NOAUTH|WRONGPASS|NOPERM)\b|Connection is closed|Command timed out|max retries|Stream isn't writeable|Socket closed|Socket timeout|ECONNREFUSED|ECONNRESET|EPIPE|ENOENT.*connect|connect ENOENT/i

/** Whether the store, and not a bug, is why something could not be done. */
export function isStoreError(error: unknown): boolean {
  const { message = '', code = '' } = error as { message?: string; code?: string }
  return STORE_PROBLEMS.test(message) || STORE_PROBLEMS.test(code)
}
