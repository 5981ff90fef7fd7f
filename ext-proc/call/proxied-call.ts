/**
 * A call that came through the forward proxy: the caller addresses the API itself, so no reference in the response is rewritten,
 * and its key came with the proxy's own header, not among those that are meant for the API.
 */
export interface ProxiedCall {
  /** SHA-256 of the key. */
  readonly key_hash: string
  /** Hosts that are never unlisted ones. */
  readonly closed_hosts: ReadonlySet<string>
}
