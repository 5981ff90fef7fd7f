/** Where the words of the code are not those of the event that records it. */
const TITLES: Readonly<Record<string, string>> = {
  security_block: 'Injection blocked',
  mcp_tool_blocked: 'Tool blocked',
  permission_denied: 'No permission',
  rate_limit_exceeded: 'Rate limited',
  agent_killed: 'Agent killed',
  integration_not_found: 'Unknown API',
  invalid_api_key: 'Invalid key',
}

/** The display name of a reason for a refusal. */
export const reasonTitle = (reason: string | null): string => {
  if (reason === null) return 'No reason'
  const words = reason.replaceAll('_', ' ')
  return TITLES[reason] ?? words.charAt(0).toUpperCase() + words.slice(1)
}
