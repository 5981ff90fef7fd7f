/**
 * Every way the gateway says no to a caller: one row per error code of contract §3, in the order of the checks.
 * The sentence tells the caller what to do next; it holds no secret and nothing of another organization.
 */
export const REASONS = {
  invalid_target_url: {
    status: 400,
    message:
      'The target URL cannot be used. Call {proxy_url}/https://host/path with a plain absolute URL; details.reason names the fault.',
  },
  ambiguous_request: {
    status: 400,
    message:
      'The request can be read in two ways. Send each deciding header or member once; details.reason names it.',
  },
  bad_request: {
    status: 400,
    message: 'The request is not well-formed HTTP. Correct it and try again.',
  },
  upgrade_not_supported: {
    status: 400,
    message: 'Upgrades and CONNECT are not supported. Use a plain HTTP request.',
  },
  loop_detected: {
    status: 508,
    message: 'This call has already passed this gateway. Point the integration at the API itself.',
  },
  integration_not_found: {
    status: 404,
    message: 'No integration covers this base URL. Ask an operator to add one, or correct the URL.',
  },
  ambiguous_target: {
    status: 400,
    message:
      'With letter case, encoded slashes or empty segments read differently, this target belongs to another integration. Spell the path as in the base URL of the integration.',
  },
  authentication_required: {
    status: 401,
    message: 'An API key is needed. Send it as "Authorization: Bearer <API_KEY>".',
  },
  invalid_api_key: {
    status: 401,
    message: 'This API key is unknown, expired or revoked. Ask an operator for a new one.',
  },
  key_not_allowed: {
    status: 403,
    message:
      'This API key may not be used for this call. Use a key whose uses and agents allow it.',
  },
  agent_id_required: {
    status: 400,
    message:
      'An organization key needs to name the agent. Send X-Agw-Agent-Id, or agent_id in the body.',
  },
  agent_not_found: {
    status: 403,
    message: 'No agent has this id. Correct agent_id, or ask an operator to create the agent.',
  },
  agent_mismatch: {
    status: 403,
    message: 'The request names another agent than its key. Remove the name, or use the other key.',
  },
  agent_killed: {
    status: 403,
    message: 'This agent is switched off. Only an operator can switch it on again.',
  },
  permission_denied: {
    status: 403,
    message: 'No scope of this agent allows this call. Ask an operator to widen a scope.',
  },
  rate_limit_exceeded: {
    status: 429,
    message: 'The rate limit of this agent is used up. Try again after Retry-After seconds.',
  },
  mcp_tool_blocked: {
    status: 200,
    message: 'This agent may not call this tool. Use another tool, or ask an operator.',
  },
  request_too_large: {
    status: 413,
    message:
      'The request body is larger than this gateway scans. Send less than details.limit_bytes.',
  },
  unsupported_content_encoding: {
    status: 415,
    message: 'The body has a content encoding that cannot be checked. Send it uncompressed.',
  },
  security_block: {
    status: 403,
    message:
      'The request was blocked for prompt injection. Remove the matched text and try again; if it is in the response of the API, ask an operator.',
  },
  credential_unavailable: {
    status: 502,
    message:
      'The stored credential of this integration cannot be used. Ask an operator to set it again.',
  },
  upstream_unreachable: {
    status: 502,
    message: 'The API cannot be reached. Check the base URL of the integration, then try again.',
  },
  upstream_timeout: { status: 504, message: 'The API did not answer in time. Try again later.' },
  request_timeout: { status: 408, message: 'The request did not arrive in time. Send it again.' },
  headers_too_large: {
    status: 431,
    message: 'The request headers are too large. Send fewer or shorter headers.',
  },
  gateway_unavailable: {
    status: 503,
    message:
      'The gateway cannot decide at the moment, so nothing was forwarded. Try again shortly.',
  },
} as const satisfies Record<string, { status: number; message: string }>

export type Reason = keyof typeof REASONS

export interface ErrorBody {
  readonly error: Reason
  readonly message: string
  readonly details: Readonly<Record<string, unknown>>
  readonly request_id: string
}
