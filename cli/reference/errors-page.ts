import { ADMIN_ERRORS } from '../../admin/http/admin-errors.ts'
import { REASONS } from '../../core/reasons.ts'
import { table } from './table.ts'

/** Every error code of the proxy, with its cause and cure, and of the admin API. */
export const errorsPage = (): string => `# Errors

Every refusal is JSON: \`{"error", "message", "details", "request_id"}\`. The header \`X-Agw-Reason\` repeats \`error\`, which
distinguishes refusals of the gateway from errors of the API. The message tells the caller what to do next. The activity log has
the refusal under its \`request_id\`.

## Calls of agents

${table(
  ['error', 'status', 'cause', 'what to do', 'event'],
  Object.entries(REASONS).map(([code, { status, cause, cure, event }]) => [
    `\`${code}\``,
    String(status),
    cause,
    cure,
    `\`${event}\``,
  ]),
)}

A blocked MCP tool call has status 200: its body is a JSON-RPC result with \`isError: true\`, so that an MCP client shows it to the
model.

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
