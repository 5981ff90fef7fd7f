import type { ErrorWriter } from './write-format.ts'

/** `ok: false` and a code; the messages are where Slack has those of its own. */
export const writeSlack: ErrorWriter = ({ error, message, details, request_id }) => ({
  body: JSON.stringify({
    ok: false,
    error,
    message,
    details,
    request_id,
    response_metadata: { messages: [`[ERROR] ${message}`] },
  }),
})
