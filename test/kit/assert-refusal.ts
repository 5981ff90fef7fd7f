import assert from 'node:assert/strict'
import type { HttpAnswer } from './call.ts'

/**
 * Checks the error body of an answer; that of an MCP call is the `data` of a JSON-RPC error.
 * @param details members that must be as given
 */
export function assertRefusal(
  answer: HttpAnswer,
  status: number,
  error: string,
  details: Readonly<Record<string, unknown>> = {},
): void {
  const text = answer.body.toString()
  assert.equal(answer.status, status, text)
  assert.equal(answer.header('x-agw-reason'), error, text)
  assert.equal(answer.header('content-type'), 'application/json')
  const answered = answer.json() as Record<string, unknown> & { error: { data?: unknown } }
  const isJsonRpc = answered['jsonrpc'] === '2.0'
  const body = (isJsonRpc ? answered.error.data : answered) as Record<string, unknown>
  const { error_description = body['message'], ...members } = body
  assert.deepEqual(Object.keys(members).sort(), ['details', 'error', 'message', 'request_id'])
  assert.equal(error_description, body['message'])
  assert.equal(body['error'], error)
  assert.match(String(body['message']), /^[A-Z].{20,}\.$/)
  assert.ok(String(body['request_id']).length >= 8)
  assert.equal(answer.header('x-agw-request-id'), body['request_id'])
  const found = body['details'] as Record<string, unknown>
  for (const [name, value] of Object.entries(details)) assert.deepEqual(found[name], value, text)
  if (status === 401) assert.match(answer.header('www-authenticate') ?? '', /Bearer .*Basic /)
}
