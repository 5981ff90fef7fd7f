import { ADMIN_ERRORS } from '../../admin/http/admin-errors.ts'
import { ERROR_FORMATS } from '../../core/catalogue/error-formats.ts'
import { REASONS } from '../../core/catalogue/reasons.ts'
import { table } from '../terminal/table.ts'

/** Every error code of the proxy, with its cause and cure, and of the admin API. */
export const errorsPage = (): string => `# Errors

Every refusal is JSON: \`{"error", "message", "details", "request_id"}\`. The header \`X-Agw-Reason\` repeats \`error\`, which
distinguishes refusals of the gateway from errors of the API. The message tells the caller what to do next. The activity log has
the refusal under its \`request_id\`, with the event \`request_rejected\` except for ${ownEvents()}.

## Calls of agents

${table(
  ['error', 'status', 'cause', 'what to do'],
  Object.entries(REASONS).map(([code, { status, cause, cure }]) => [
    `\`${code}\``,
    String(status),
    cause,
    cure,
  ]),
)}

A blocked MCP tool call has status 200: its body is a JSON-RPC result with \`isError: true\`, so that an MCP client shows it to the
model.

## Formats

\`error_format\` of an integration chooses the shape of refusals, so that the SDKs of the API show their message. Code, message,
details and request id are the same, and so are the status, \`X-Agw-Reason\`, \`Retry-After\` and \`RateLimit\`. It applies once the
caller is known and has a scope for the integration; before that, and to what Envoy answers without a processor
(\`gateway_unavailable\`, \`upstream_unreachable\`, 400, 408, 431, …), the format is \`gateway\`. Calls of MCP get JSON-RPC in every
format.

${table(
  ['error_format', 'body'],
  Object.entries(ERROR_FORMATS).map(([name, { shape }]) => [`\`${name}\``, shape]),
)}

A refusal after the API was called, or may have been, says so in its message and carries \`X-Should-Retry: false\` and \`Stripe-Should-Retry: false\`,
so that no SDK repeats the call.

## Admin API and webhooks API

${table(
  ['error', 'status', 'message'],
  Object.entries(ADMIN_ERRORS).map(([code, { status, message }]) => [
    `\`${code}\``,
    String(status),
    message,
  ]),
)}
`

const ownEvents = (): string =>
  Object.entries(REASONS)
    .filter(([, { event }]) => event !== 'request_rejected')
    .map(([code, { event }]) => (code === event ? `\`${code}\`` : `\`${code}\` (\`${event}\`)`))
    .join(', ')
