import type { RefusalEvent } from './events.ts'

interface ReasonRow {
  readonly status: number
  /** Tells the caller what to do next; it holds no secret and nothing of another organization. */
  readonly message: string
  /** The event that records the refusal. */
  readonly event: RefusalEvent
  /**
   * What the anomaly model makes of it: `denied` by policy, `failed` at the API, or `ignored`, since it says nothing about
   * the agent.
   */
  readonly anomaly: 'denied' | 'failed' | 'ignored'
  /** When it is returned, and what an operator can do; for the reference page. */
  readonly cause: string
  readonly cure: string
}

/** Every way the gateway refuses a call: one row per error code, in the order of the checks. */
export const REASONS = {
  invalid_target_url: {
    status: 400,
    message:
      'The target URL cannot be used. Call {proxy_url}/https://host/path with a plain absolute URL; details.reason names the fault.',
    event: 'request_rejected',
    anomaly: 'denied',
    cause:
      'The path of the request is not a target URL this gateway forwards to: no scheme or host, user info, a fragment, `.` or `..` segments, or characters that servers read differently.',
    cure: 'Send `{proxy_url}/https://host/path`. `details.reason` names what is wrong.',
  },
  ambiguous_request: {
    status: 400,
    message:
      'The request can be read in two ways. Send each deciding header or member once; details.reason names it.',
    event: 'request_rejected',
    anomaly: 'denied',
    cause:
      'A header or body member that decides is present twice, or header and body name different agents.',
    cure: 'Send each of them once. `details.reason` names the one.',
  },
  bad_request: {
    status: 400,
    message: 'The request is not well-formed HTTP. Correct it and try again.',
    event: 'request_rejected',
    anomaly: 'denied',
    cause: 'Envoy could not parse the request.',
    cure: 'Check the HTTP client, and proxies between it and the gateway.',
  },
  upgrade_not_supported: {
    status: 400,
    message: 'Upgrades and CONNECT are not supported. Use a plain HTTP request.',
    event: 'request_rejected',
    anomaly: 'denied',
    cause: 'The request is an upgrade (WebSocket, h2c) or a CONNECT.',
    cure: 'Use plain HTTP requests; server-sent events work.',
  },
  loop_detected: {
    status: 508,
    message: 'This call has already passed this gateway. Point the integration at the API itself.',
    event: 'request_rejected',
    anomaly: 'denied',
    cause:
      'The request carries the `Via` entry of this deployment: it has passed this gateway before.',
    cure: 'Set the `base_url` of the integration to the API itself instead of the gateway.',
  },
  integration_not_found: {
    status: 404,
    message: 'No integration covers this base URL. Ask an operator to add one, or correct the URL.',
    event: 'request_rejected',
    anomaly: 'denied',
    cause: 'No integration of the organization has a `base_url` that covers the target.',
    cure: 'Create an integration for `details.base_url`, or correct the URL the agent calls.',
  },
  ambiguous_target: {
    status: 400,
    message:
      'With letter case, encoded slashes or empty segments read differently, this target belongs to another integration. Spell the path as in the base URL of the integration.',
    event: 'request_rejected',
    anomaly: 'denied',
    cause:
      'Read without letter case, with encoded slashes decoded or with empty segments removed, the target belongs to another integration than as written.',
    cure: 'Spell the path as in the `base_url` of the integration.',
  },
  authentication_required: {
    status: 401,
    message: 'An API key is needed. Send it as "Authorization: Bearer <API_KEY>".',
    event: 'request_rejected',
    anomaly: 'denied',
    cause: 'The request has no API key, or one that is not in a supported place.',
    cure: 'Send the key as `Authorization: Bearer`, as `Authorization: token`, or as the password of `Authorization: Basic`.',
  },
  invalid_api_key: {
    status: 401,
    message: 'This API key is unknown, expired or revoked. Ask an operator for a new one.',
    event: 'request_rejected',
    anomaly: 'denied',
    cause: 'The API key is unknown, expired or revoked.',
    cure: 'Create a new key for the agent.',
  },
  key_not_allowed: {
    status: 403,
    message:
      'This API key may not be used for this call. Use a key whose uses and agents allow it.',
    event: 'request_rejected',
    anomaly: 'denied',
    cause: 'The organization key does not have the use `proxy`, or is limited to other agents.',
    cure: 'Use another key, or create one with the needed `uses` and `agent_ids`.',
  },
  agent_id_required: {
    status: 400,
    message:
      'An organization key needs to name the agent. Send X-Agw-Agent-Id, or agent_id in the body.',
    event: 'request_rejected',
    anomaly: 'denied',
    cause: 'An organization key was used without naming the agent.',
    cure: 'Send `X-Agw-Agent-Id`, or `agent_id` in a JSON or form body.',
  },
  agent_not_found: {
    status: 403,
    message: 'No agent has this id. Correct agent_id, or ask an operator to create the agent.',
    event: 'request_rejected',
    anomaly: 'denied',
    cause: 'The named agent does not exist in the organization of the key.',
    cure: 'Correct the id, or create the agent.',
  },
  agent_mismatch: {
    status: 403,
    message: 'The request names another agent than its key. Remove the name, or use the other key.',
    event: 'request_rejected',
    anomaly: 'denied',
    cause: 'The request uses the key of one agent and names another.',
    cure: 'Remove the name, or use the key of the named agent.',
  },
  agent_killed: {
    status: 403,
    message: 'This agent is switched off. Only an operator can switch it on again.',
    event: 'request_rejected',
    anomaly: 'ignored',
    cause:
      'The agent was killed. New calls are refused with 403; a call in flight at the kill is refused with 503 or cut.',
    cure: 'Find out why (`kill_reason` of the agent), then reactivate it.',
  },
  permission_denied: {
    status: 403,
    message: 'No scope of this agent allows this call. Ask an operator to widen a scope.',
    event: 'permission_denied',
    anomaly: 'denied',
    cause:
      'The agent has no scope for the integration, or no rule of its scopes allows the method and path.',
    cure: 'Add a rule to a scope of the agent. `POST /admin/explain` shows which rule decides.',
  },
  rate_limit_exceeded: {
    status: 429,
    message: 'The rate limit of this agent is used up. Try again after Retry-After seconds.',
    event: 'rate_limit_exceeded',
    anomaly: 'denied',
    cause: 'The agent has made as many calls in the last minute as its scope allows.',
    cure: 'Wait for `Retry-After`, or raise `requests_per_minute` of the scope.',
  },
  mcp_tool_blocked: {
    status: 200,
    message: 'This agent may not call this tool. Use another tool, or ask an operator.',
    event: 'mcp_tool_blocked',
    anomaly: 'denied',
    cause: 'The scope does not allow the MCP tool.',
    cure: 'Add the tool to `mcp_tools.allow` of the scope, or remove it from `deny`.',
  },
  request_too_large: {
    status: 413,
    message:
      'The request body is larger than this gateway scans. Send less than details.limit_bytes.',
    event: 'request_rejected',
    anomaly: 'denied',
    cause: 'The body exceeds the size that is buffered for inspection.',
    cure: 'Send a smaller body, or raise `AGW_MAX_BODY_BYTES` or `max_body_bytes` of the scope.',
  },
  unsupported_content_encoding: {
    status: 415,
    message: 'The body has a content encoding that cannot be checked. Send it uncompressed.',
    event: 'request_rejected',
    anomaly: 'denied',
    cause: 'The body must be inspected, and its content encoding cannot be decoded.',
    cure: 'Send the body uncompressed or with gzip, deflate, br or zstd.',
  },
  security_block: {
    status: 403,
    message:
      'The request was blocked for prompt injection. Remove the matched text and try again; if it is in the response of the API, ask an operator.',
    event: 'injection_blocked',
    anomaly: 'denied',
    cause:
      'Prompt injection was found in the request or the response, and the scope is in mode `block`.',
    cure: 'Review the finding in the activity log. For a false positive use `whitelist_patterns` or `disabled_patterns` of the scope.',
  },
  credential_unavailable: {
    status: 502,
    message:
      'The stored credential of this integration cannot be used. Ask an operator to set it again.',
    event: 'request_rejected',
    anomaly: 'ignored',
    cause:
      'The stored credential cannot be opened with the present encryption key, or its token endpoint returned no token.',
    cure: 'Set the credential again, or check `AGW_ENCRYPTION_KEY`. The log of ext-proc has the details.',
  },
  upstream_unreachable: {
    status: 502,
    message: 'The API cannot be reached. Check the base URL of the integration, then try again.',
    event: 'request_rejected',
    anomaly: 'failed',
    cause: 'The API could not be connected to: DNS, TCP or TLS failed, or its address is private.',
    cure: 'Check `base_url`, `AGW_UPSTREAM_CA_FILE` and `AGW_EGRESS_ALLOW_CIDRS`.',
  },
  upstream_reset: {
    status: 502,
    message:
      'The API closed the connection, or its response was not valid HTTP. It may have carried out the request; check before you repeat it.',
    event: 'request_rejected',
    anomaly: 'failed',
    cause: 'The API closed the connection before its response was complete, or sent invalid HTTP.',
    cure: 'Check whether the API has carried out the request before repeating it. The activity entry has the details of Envoy.',
  },
  redirect_refused: {
    status: 502,
    message:
      'The response of the API leads back to this gateway, and could reach another API through it. Ask an operator; the request was carried out.',
    event: 'request_rejected',
    anomaly: 'failed',
    cause:
      'A `Location`, `Content-Location`, `Link` or `Refresh` of the API leads to the gateway or to a target URL on it, or cannot be read.',
    cure: 'The activity entry shows the header and where it leads. Ask the provider of the API; an API that redirects to other hosts should name them in absolute URLs.',
  },
  upstream_timeout: {
    status: 504,
    message: 'The API did not answer in time. Try again later.',
    event: 'request_rejected',
    anomaly: 'failed',
    cause: 'The API was silent for longer than allowed.',
    cure: 'Try again, or raise `AGW_UPSTREAM_IDLE_TIMEOUT`.',
  },
  request_timeout: {
    status: 408,
    message: 'The request did not arrive in time. Send it again.',
    event: 'request_rejected',
    anomaly: 'denied',
    cause: 'The request did not arrive in time.',
    cure: 'Send it again; check the connection of the agent.',
  },
  headers_too_large: {
    status: 431,
    message: 'The request headers are too large. Send fewer or shorter headers.',
    event: 'request_rejected',
    anomaly: 'denied',
    cause: 'The request headers exceed the limit of Envoy.',
    cure: 'Send fewer or shorter headers.',
  },
  gateway_unavailable: {
    status: 503,
    message:
      'The gateway cannot decide at the moment, so nothing was forwarded. Try again shortly.',
    event: 'request_rejected',
    anomaly: 'ignored',
    cause:
      'No decision could be made: the policy store is unavailable, no processor is running, or its liveness lease has expired. Nothing was forwarded.',
    cure: 'Run `agw doctor`, and see `/readyz`.',
  },
} as const satisfies Record<string, ReasonRow>

export type Reason = keyof typeof REASONS

export const isReason = (text: string): text is Reason => Object.hasOwn(REASONS, text)

export interface ErrorBody {
  readonly error: Reason
  readonly message: string
  readonly details: Readonly<Record<string, unknown>>
  readonly request_id: string
}
