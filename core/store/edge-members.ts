/**
 * Members of stored records that an edge which does not know them would ignore in the caller's favour, with the version from which
 * edges know them. A record that uses one is refused until every live edge knows it; from then on the store demands that version.
 */
export const EDGE_MEMBERS = {
  /** Of an agent: it is refused until an administrator accepts what a restore does not know. */
  restore_gap: '0.3.0',
  /** Of an integration: the credential is redacted in response headers. */
  echo_guard: '0.3.0',
  /** Of an integration: a body that repeats the credential is withheld. */
  echo_guard_full: '0.3.0',
  /** Of a scope: a mode for a speaker that is stricter than the mode of the scope. */
  injection_roles: '0.3.0',
  /** Of a scope: when it is in force, and that it ends running calls. */
  scope_not_before: '0.3.0',
  scope_expires_at: '0.3.0',
  scope_end_streams: '0.3.0',
  /** Locks as such: an edge of an older version lets pass what they forbid. A lock is not refused for it; its receipt names the edge. */
  lock: '0.3.0',
  /** Of a scope: the calls of all its agents count together. */
  rate_per_scope: '0.3.0',
  /** Of a scope: it applies to what has these labels. It may be the strictest. */
  agent_selector: '0.3.0',
  integration_selector: '0.3.0',
  /** Of an integration: it has other credentials beside its own, of which an older edge knows none. */
  connections: '0.3.0',
  /** Of a scope: which of them its calls get. */
  connection_id: '0.3.0',
  scope_users: '0.3.0',
  /** Of a scope: what a token of a GitHub App may do at most. */
  token_narrowing: '0.3.0',
  /** Of an `aws_sigv4` credential: calls are signed by a role, not by the key itself. */
  role_arn: '0.3.0',
  /** Of a scope: a person has to allow the calls of a rule. */
  rule_approval: '0.3.0',
  /** Of a scope: an approval has made it. An older edge would take it for one that allows calls without one. */
  scope_grant: '0.3.0',
} as const satisfies Readonly<Record<string, `${number}.${number}.${number}`>>

export type EdgeMember = keyof typeof EDGE_MEMBERS

/** Compares versions by their numbers; `0.3.0-dev` is no older than `0.3.0`. */
export function isOlderVersion(version: string, than: string): boolean {
  const numbers = (text: string): number[] => (text.match(/\d+/g) ?? []).slice(0, 3).map(Number)
  const [one, other] = [numbers(version), numbers(than)]
  const differs = other.findIndex((number, i) => number !== (one[i] ?? 0))
  return differs >= 0 && (one[differs] ?? 0) < (other[differs] ?? 0)
}
