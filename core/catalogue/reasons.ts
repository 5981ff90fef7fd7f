import type { RefusalEvent } from './events.ts'

interface ReasonRow {
  readonly status: number
  /** Tells the caller what to do next. Contains no secret and nothing about another organization. */
  readonly message: string
  readonly event: RefusalEvent
  /**
   * How anomaly detection counts it: `denied` by policy, `failed` at the API, or `ignored` because it says nothing about the
   * agent.
   */
  readonly anomaly: 'denied' | 'failed' | 'ignored'
  /** When it is returned and what an operator can do. Shown on the reference page. */
  readonly cause: string
  readonly cure: string
}

/** Every way the gateway refuses a call: one row per error code, roughly in the order in which a call meets them. */
export const REASONS = {
  invalid_target_url: {
    status: 400,
    message:
      'The target URL is not valid. Call {proxy_url}/https://host/path with an absolute URL; see details.reason.',
    event: 'request_rejected',
    anomaly: 'denied',
    cause:
      'The request path is not a valid target URL. It has no scheme or host, or contains user info, a fragment, `.` or `..` segments, or characters that servers interpret differently.',
    cure: 'Send `{proxy_url}/https://host/path`. `details.reason` names the problem.',
  },
  ambiguous_request: {
    status: 400,
    message:
      'The request is ambiguous. Send the header or body member named in details.reason exactly once.',
    event: 'request_rejected',
    anomaly: 'denied',
    cause:
      'A header or body member that the decision depends on is duplicated, or header and body contradict each other.',
    cure: 'Send each of them once. `details.reason` names the duplicate or the contradiction.',
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
    status: 426,
    message:
      'This upgrade is not supported. Use plain HTTP requests; server-sent events work. For a WebSocket, an operator can allow it for this path.',
    event: 'request_rejected',
    anomaly: 'denied',
    cause:
      'The request is a WebSocket handshake for a path where no rule allows WebSocket; clients then fall back to plain HTTP. With status 400: it is another upgrade, a handshake with a method other than GET or with a body, or a CONNECT.',
    cure: 'Use plain HTTP requests.',
  },
  loop_detected: {
    status: 508,
    message:
      'Forwarding loop detected: this request has already passed through this gateway. Point the integration at the API itself.',
    event: 'request_rejected',
    anomaly: 'denied',
    cause:
      'The request has a `Via` entry of this deployment, so it has already passed through this gateway.',
    cure: 'Set the `base_url` of the integration to the API itself instead of the gateway.',
  },
  integration_not_found: {
    status: 404,
    message:
      'No integration is configured for this base URL. Ask an operator to add one, or correct the URL.',
    event: 'request_rejected',
    anomaly: 'denied',
    cause: 'No integration of the organization has a `base_url` that is a prefix of the target.',
    cure: 'Create an integration for `details.base_url`, or correct the URL that the agent calls.',
  },
  oauth_not_supported: {
    status: 404,
    message:
      'The gateway has no OAuth metadata and registers no clients. Send a gateway key as "Authorization: Bearer <API_KEY>". If you have sent one, it is unknown, expired or revoked: ask an operator for a new one.',
    event: 'request_rejected',
    anomaly: 'denied',
    cause:
      'A client looks for OAuth at `{proxy_url}/.well-known/…` or `{proxy_url}/register`, as MCP clients do after a 401. The response is the same for every target.',
    cure: 'Configure the client with a gateway key that is valid.',
  },
  ambiguous_target: {
    status: 400,
    message:
      'This target matches a different integration when letter case is ignored, encoded slashes are decoded or empty segments are removed. Write the path exactly as in the base URL of the integration.',
    event: 'request_rejected',
    anomaly: 'denied',
    cause:
      'The target matches a different integration when letter case is ignored, encoded slashes are decoded or empty segments are removed.',
    cure: 'Write the path exactly as in the `base_url` of the integration.',
  },
  authentication_required: {
    status: 401,
    message: 'An API key is required. Send it as "Authorization: Bearer <API_KEY>".',
    event: 'request_rejected',
    anomaly: 'denied',
    cause: 'The request has no API key, or one that is not in a supported place.',
    cure: 'Send the key as `Authorization: Bearer`, as `Authorization: token`, as the password of `Authorization: Basic`, or in the header or query parameter in which the credential of the integration is sent, such as `x-api-key`.',
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
      'This API key is not allowed to make this call. Use a key whose uses and agent_ids allow it.',
    event: 'request_rejected',
    anomaly: 'denied',
    cause: 'The organization key does not have the use `proxy`, or is limited to other agents.',
    cure: 'Use another key, or create one with the needed `uses` and `agent_ids`.',
  },
  agent_id_required: {
    status: 400,
    message:
      'With an organization key, the request must name the agent. Send X-Agw-Agent-Id, or agent_id in the body.',
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
    message:
      'This API key belongs to a different agent. Remove agent_id, or use the key of that agent.',
    event: 'request_rejected',
    anomaly: 'denied',
    cause: 'The request uses the key of one agent and the `agent_id` of another.',
    cure: 'Remove `agent_id`, or use the key of that agent.',
  },
  agent_killed: {
    status: 403,
    message: 'This agent has been killed. It cannot make calls until an operator reactivates it.',
    event: 'request_rejected',
    anomaly: 'ignored',
    cause: 'The agent was killed. A call in flight is refused with 503 or cut.',
    cure: 'Find out why it was killed (`kill_reason` of the agent), then reactivate it.',
  },
  locked: {
    status: 403,
    message:
      'An operator has paused this. Stop, and do not try another way. details.message, if present, says why; details.expires_at when it ends.',
    event: 'request_rejected',
    anomaly: 'ignored',
    cause:
      'A [lock](../guides/kill.md#locks) concerns the call: of its agent, key, scope, integration or organization, or of everything. A call in flight is refused with 503 or cut.',
    cure: 'Wait for its end (`Retry-After`), or lift it: `agw unlock` with `details.lock_id`.',
  },
  permission_denied: {
    status: 403,
    message: 'No scope of this agent allows this call. Ask an operator to extend a scope.',
    event: 'permission_denied',
    anomaly: 'denied',
    cause:
      'The agent has no scope for the integration, or no rule in its scopes allows the method and path (`details.reason`: `no_scope`, `path_not_allowed` or `method_not_allowed`). `scope_expired` and `scope_not_yet`: `details.scope` would allow it at another time. `details.refused_reading`: a [reading](../guides/scopes.md#encoded-slashes) of the path that the scope does not allow. `details.override`: a [method override or a call of a batch](../guides/scopes.md#batches) that it does not allow.',
    cure: 'Add a rule to a scope of the agent, or, if the API treats an encoded slash as part of a name, set `allow_encoded_slashes` on the integration. `POST /admin/explain` repeats the decision without making the call.',
  },
  rate_limit_exceeded: {
    status: 429,
    message: 'The rate limit of this agent is exceeded. Try again after Retry-After seconds.',
    event: 'rate_limit_exceeded',
    anomaly: 'denied',
    cause:
      'The agent has made as many calls in the last minute as its scope allows. An MCP tool call is answered 200 with a result that says so.',
    cure: 'Wait for `Retry-After`, or raise `requests_per_minute` of the scope.',
  },
  inspection_busy: {
    status: 429,
    message:
      'Too many request bodies of this agent or its organization are waiting for inspection. Try again when earlier calls have been answered.',
    event: 'request_rejected',
    anomaly: 'ignored',
    cause:
      'Bodies over 32 KiB (12 KiB where they are scanned), and compressed bodies, are inspected in scan processes that all agents share. At most a quarter of the waiting bodies may belong to one agent, and half to one organization. Or bodies being received exceed `AGW_HELD_BODY_BYTES_PER_AGENT` or `AGW_HELD_BODY_BYTES_PER_ORGANIZATION`.',
    cure: 'Send fewer large bodies at a time, declare their length, or run more ext-proc processes.',
  },
  mcp_tool_blocked: {
    status: 200,
    message: 'This agent is not allowed to call this tool. Use another tool, or ask an operator.',
    event: 'mcp_tool_blocked',
    anomaly: 'denied',
    cause: 'The scope does not allow the MCP tool.',
    cure: 'Add the tool to `mcp_tools.allow` of the scope, or remove it from `deny`.',
  },
  request_too_large: {
    status: 413,
    message:
      'The request body exceeds the inspection limit. Send at most details.limit_bytes; details.held_by, if present, says what has to read the body.',
    event: 'request_rejected',
    anomaly: 'denied',
    cause:
      'The body must be buffered and exceeds the limit. `details.held_by` names the check that reads it: `scan`, `tools`, `mcp_headers`, `signature`, `agent_id`, `overrides` or `lock`.',
    cure: 'Send a smaller body, or raise `AGW_MAX_BODY_BYTES` or `max_body_bytes` of the scope.',
  },
  response_too_large: {
    status: 403,
    message:
      'The API was called, but its response exceeds the inspection limit and was withheld. Do not repeat the call; ask for less data at once, or ask an operator.',
    event: 'request_rejected',
    anomaly: 'ignored',
    cause:
      'The response must be inspected and exceeds `AGW_MAX_BODY_BYTES` or `max_response_bytes` of the scope (`details.limit_bytes`). The API has processed the request.',
    cure: 'Ask for smaller pages, raise the limit, or let larger responses pass unscanned with `over_limit` of the scope.',
  },
  credential_echoed: {
    status: 403,
    message:
      'The API was called, but its response repeats the credential of the gateway and was withheld. Do not repeat the call; ask an operator.',
    event: 'request_rejected',
    anomaly: 'ignored',
    cause:
      'The body of the response contains the attached credential, as it is or in Base64. The integration has `echo_guard: full`, or the scope scans responses. The API has processed the request.',
    cure: 'Do not let agents call paths of the API that show what they receive or the key itself, such as those for tests or for API keys.',
  },
  unsupported_content_encoding: {
    status: 415,
    message:
      'The content encoding of the body is not supported for inspection. Send the body uncompressed.',
    event: 'request_rejected',
    anomaly: 'denied',
    cause: 'The body must be inspected, but its content encoding cannot be decoded.',
    cure: 'Send the body uncompressed, or encoded with gzip, deflate, br or zstd.',
  },
  security_block: {
    status: 403,
    message:
      'The request was blocked for prompt injection. Remove the matched text and try again. If the match is in the response of the API, ask an operator.',
    event: 'injection_blocked',
    anomaly: 'denied',
    cause:
      'Prompt injection was found in the request or the response, and the scope is in mode `block`.',
    cure: 'Review the detection in the activity log. For a false positive, use `whitelist_patterns` or `disabled_patterns` of the scope.',
  },
  approval_required: {
    status: 403,
    message:
      'A person has to allow this call first. details.request_id is the request; make the same call again once it is approved (details.status_url).',
    event: 'request_rejected',
    anomaly: 'ignored',
    cause:
      'The rule has `approval`, and exactly this call is not approved yet, or its approval was used. A repetition of the same call attaches to the same request. `details.used` names the earlier request for the same call, whose approval was used; `was_sent: false`: the API was not called; `null`: it is being called, or its edge died, and it may have been called.',
    cure: 'Approve the request: `agw requests approve`, or `POST /admin/access-requests/{request_id}/approve`. If a repetition makes another request, the client sends something else each time; see [what counts](../guides/approvals.md#the-digest).',
  },
  approval_denied: {
    status: 403,
    message:
      'A person has denied this call. Do not repeat it and do not try another way. details.comment, if present, says why.',
    event: 'request_rejected',
    anomaly: 'denied',
    cause:
      'The request for exactly this call was denied less than `valid_seconds` of the rule ago.',
    cure: 'The agent has to do something else. A repetition after that time makes a new request.',
  },
  approval_expired: {
    status: 403,
    message:
      'The request for this call has expired, or its approval does not apply any more. Make the call again to request it again.',
    event: 'request_rejected',
    anomaly: 'ignored',
    cause:
      'The request was not decided, or its approval not used, within `valid_seconds` of the rule. `details.cause`: `changed`, the scope or the integration changed while the call was decided; `caller_left`, the caller did not wait until the call was sent. In both cases the approval is used up and the API was not called.',
    cure: 'The next repetition makes a new request.',
  },
  approvals_busy: {
    status: 429,
    message:
      'Too many requests of this agent or organization wait for a decision. Try again later.',
    event: 'request_rejected',
    anomaly: 'ignored',
    cause: 'The agent has 200 open requests, or the organization 2,000.',
    cure: 'Decide them: `agw requests list`. They also expire.',
  },
  credential_unavailable: {
    status: 502,
    message: 'The credential of this integration is unavailable. Ask an operator to check it.',
    event: 'request_rejected',
    anomaly: 'ignored',
    cause:
      'The stored credential cannot be decrypted with the current encryption key, its token endpoint returned no usable token, or `AGW_DOCTOR_PASS_FILE` is set and `agw doctor --envoy-admin` has not passed.',
    cure: 'Set the credential again, or check `AGW_ENCRYPTION_KEY`. `data.cause` of the activity entry and the ext-proc log have the details.',
  },
  connection_required: {
    status: 403,
    message:
      'No usable connection to the API for this call. Ask an operator to open details.connect_url, or to change the scope.',
    event: 'request_rejected',
    anomaly: 'ignored',
    cause:
      'The connection that decides for the call is expired, revoked, needs consent or is gone (`details.status`), or there is none and the integration has no credential of its own (`missing`). Also: a running call whose connection has changed (`changed`).',
    cure: 'Create the connection, or give it another credential. `details.connection_id` names it.',
  },
  misdirected_request: {
    status: 421,
    message:
      'The request is for another host than its tunnel. Open a tunnel to the host that details.host names, and send the request there.',
    event: 'request_rejected',
    anomaly: 'denied',
    cause:
      'Inside a tunnel of the forward proxy, `Host` or the server name of TLS is not the host and port of `CONNECT`.',
    cure: 'Send `CONNECT`, the server name and `Host` for the same host. `details` has all three.',
  },
  tunnel_limit_exceeded: {
    status: 429,
    message:
      'This agent has too many tunnels, or opens them too fast. Keep connections open and use them again.',
    event: 'request_rejected',
    anomaly: 'ignored',
    cause:
      'The agent has `AGW_FORWARD_TUNNELS_PER_AGENT` tunnels of the forward proxy open, or has opened `AGW_FORWARD_CONNECTS_PER_MINUTE` in the last minute.',
    cure: 'Reuse connections (keep-alive), close those that are not needed, or raise the limits.',
  },
  upstream_unreachable: {
    status: 502,
    message:
      'The API is unreachable. Try again later. If this persists, ask an operator to check the integration.',
    event: 'request_rejected',
    anomaly: 'failed',
    cause: 'Connecting to the API failed (DNS, TCP or TLS), or the address of the API is private.',
    cure: "Check `base_url`, `AGW_UPSTREAM_CA_FILE` and `AGW_EGRESS_ALLOW_CIDRS`. Envoy's details in the activity log tell the cause: `address_denied` is a private address. If you run an Envoy of your own, render its configuration again after a change of these settings.",
  },
  upstream_reset: {
    status: 502,
    message:
      'The API closed the connection or sent an invalid HTTP response. It may have processed the request; check before you retry.',
    event: 'request_rejected',
    anomaly: 'failed',
    cause:
      'The API closed the connection before its response was complete, or sent invalid HTTP. The gateway has already repeated the call if `retries` of the integration and the method and size of the call allow it.',
    cure: 'Check whether the API has processed the request before retrying it. The activity entry has the details from Envoy. If this happens to POST requests after a pause, lower `AGW_UPSTREAM_POOL_IDLE_TIMEOUT`.',
  },
  redirect_refused: {
    status: 502,
    message:
      'The response of the API redirects to this gateway and could reach another API through it, so it was withheld. The API has processed the request. Ask an operator.',
    event: 'request_rejected',
    anomaly: 'failed',
    cause:
      'A header of the API that clients follow (`Location`, `Link`, …) [points](../guides/transparency.md#the-response-that-the-caller-receives) to the gateway or another integration, or cannot be parsed; or the `endpoint` event of an MCP stream does not point to the same API.',
    cure: 'The activity entry shows the header and its destination. Report it to the provider of the API. An API that redirects to other hosts should use absolute URLs.',
  },
  upstream_timeout: {
    status: 504,
    message:
      'The API did not respond in time. It may have processed the request; check before you retry.',
    event: 'request_rejected',
    anomaly: 'failed',
    cause:
      'The API sent no data for longer than `AGW_UPSTREAM_IDLE_TIMEOUT`, or no response within `response_timeout_ms` of the integration.',
    cure: 'Try again, or raise the limit that applies.',
  },
  request_timeout: {
    status: 408,
    message: 'The request did not arrive in time. Send it again.',
    event: 'request_rejected',
    anomaly: 'denied',
    cause: 'The complete request did not arrive in time.',
    cure: 'Send it again. If this recurs, check the network connection of the agent.',
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
      'The gateway is temporarily unavailable. Nothing was forwarded. Try again shortly; details.cause, if present, says why.',
    event: 'request_rejected',
    anomaly: 'ignored',
    cause:
      'No decision could be made: the store is unavailable, no edge is running, or its liveness lease has expired. Or changes are [unknown since a restore](../guides/backup.md#unknown-changes) (`details.cause` `restored`), or an [Envoy of your own](../guides/existing-envoy.md#when-a-part-is-missing) did not forward an allowed call.',
    cure: 'See `details.cause`, which is missing if Envoy itself refused the call because it got no decision. Run `agw doctor`, with `--envoy-admin` for an Envoy of your own, and check `/readyz`.',
  },
} as const satisfies Record<string, ReasonRow>

export type Reason = keyof typeof REASONS

export const isReason = (text: string): text is Reason => Object.hasOwn(REASONS, text)

export interface ErrorBody {
  readonly error: Reason
  readonly message: string
  readonly details: Readonly<Record<string, unknown>>
  readonly request_id: string
  readonly error_description?: string
}
