import { REASONS } from '../../core/catalogue/reasons.ts'
import type { RefusalCase, RefusalRecording } from './refusal-recordings.ts'
import { REFUSAL_CASES, refusalRecordings } from './refusal-recordings.ts'
import { table } from '../terminal/table.ts'

const FIRST_WORDS = 24
/** Written by the script for a call that was not refused in the end. */
const ANSWERED = 'no error'
/** Written by the server that played the API, into the result of a tool. */
const TOOL_MESSAGE = 'is blocked for this agent'

/** Refusals in the format `gateway`: before the caller is known, or by Envoy alone. */
export const WITHOUT_FORMAT: ReadonlySet<RefusalCase> = new Set([
  'invalid_api_key',
  'integration_not_found',
  'gateway_unavailable',
  'upstream_unreachable',
])

/** Whether the user sees the message of a refusal. */
export function showsMessage(one: RefusalCase, shown: string): boolean {
  if (one === 'mcp_tool_blocked') return shown.includes(TOOL_MESSAGE)
  const reason = one === 'agent_killed_in_flight' ? 'agent_killed' : one
  return shown.includes(REASONS[reason].message.slice(0, FIRST_WORDS))
}

function cellOf(one: RefusalCase, recording: RefusalRecording | undefined): string {
  if (recording === undefined || recording.refusals.length === 0) return ''
  const { shown, refusals } = recording
  const count = String(refusals.length)
  if (shown === null) return `${count}, waits`
  if (shown.startsWith(ANSWERED) && one === 'rate_limit_exceeded') return `${count}, then answered`
  return showsMessage(one, shown) ? count : `${count} –`
}

const headOf = (one: RefusalCase): string => `\`${one}\``.replace('_in_flight`', '`, in flight')

const USUAL = '1'

/** The reasons with what the client does at them, unless it is the usual. */
function othersOf(refusals: Partial<Record<RefusalCase, RefusalRecording>>): string {
  const byCell = new Map<string, string[]>()
  for (const one of REFUSAL_CASES) {
    const cell = cellOf(one, refusals[one])
    const isUsual = cell === USUAL || (cell === '' && one === 'mcp_tool_blocked')
    if (!isUsual) byCell.set(cell, [...(byCell.get(cell) ?? []), headOf(one)])
  }
  return [...byCell]
    .map(([cell, reasons]) => `${cell === '' ? 'not recorded' : cell}: ${reasons.join(', ')}`)
    .join('; ')
}

/** What clients do with refusals, from recordings. */
export function clientsPage(): string {
  const clients = Object.entries(refusalRecordings())
  return `# Clients and refusals

What real clients do when a call is refused: each made one call that was refused, with its own settings for retries, by base URL, and
with the \`error_format\` of its API ([formats](errors.md#formats)). \`node dist/test/witness/refusals.js\` records this; the programs
and their versions are in \`test/witness/agents/packages/\`.

The number is that of the requests until the client gave up, or until it was answered after \`Retry-After\`. After \`–\` its user sees the
status or the code, but not the message. A client makes one request and shows the message where nothing is said. \`agent_killed\`, in flight, is
a 503 for a call that the API has received; a client that repeats it gets a 403.

${table(
  ['client', '`error_format`', 'other than one request and the message'],
  clients.map(([name, { version, error_format: format, refusals }]) => [
    [name, version].filter(Boolean).join(' '),
    `\`${format}\``,
    othersOf(refusals),
  ]),
)}

Before the caller is known, and where Envoy refuses without a processor, the body has the format \`gateway\`
(${[...WITHOUT_FORMAT].map((one) => `\`${one}\``).join(', ')}). SDKs that expect an object at
\`error\` show only the status then.

## Repeated calls

A refusal with a status that is final (4xx, except 408 and 429) should not be repeated, and neither should one after the API was
called, which has \`X-Should-Retry: false\` and \`Stripe-Should-Retry: false\`. Some clients decide by the status alone, and no
header or body stops them:

- octokit repeats every status from 400 on three times, except 400, 401, 403, 404, 410, 422 and 451. \`retry: { enabled: false }\`
  turns this off; \`request: { retries: 0 }\` does it for one call.
- Codex CLI repeats every status but 400 and 429, a 403 included, five times. \`stream_max_retries = 0\` of the model provider in
  \`config.toml\` turns this off.
- \`@slack/web-api\` repeats every status but 200 for half an hour. \`retryConfig: { retries: 0 }\` turns this off.
  Its message has the status alone; \`error.body\` has ours.
- MCP clients try another handshake or transport after a refusal, and coding agents call their MCP server too; their counts include
  this.
- The AWS SDKs and the Vercel AI SDK repeat 502 and 503.
`
}
