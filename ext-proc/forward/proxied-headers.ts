import type { Header } from '../../core/request/header.ts'

export interface ProxiedTarget {
  /** Scheme, host and port. */
  readonly origin: string
  /** The agent that the proxy's credentials name in addition to the key; null if the key is the agent's own. */
  readonly agent_id: string | null
}

/**
 * The headers of a call as they are for a call by base URL: the path is the whole target, so that the same code reads both. A
 * path that does not begin with a slash, as `*` does not, is no path of the host.
 */
export function proxiedHeaders(
  headers: readonly Header[],
  { origin, agent_id }: ProxiedTarget,
): readonly Header[] {
  const changed = headers.map((header) =>
    header.name === ':path' && header.value.startsWith('/')
      ? { name: ':path', value: `/${origin}${header.value}` }
      : header,
  )
  if (agent_id === null) return changed
  const others = changed.filter(
    ({ name, value }) => name !== 'x-agw-agent-id' || value.trim() !== agent_id,
  )
  return [...others, { name: 'x-agw-agent-id', value: agent_id }]
}
