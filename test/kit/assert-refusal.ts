import assert from 'node:assert/strict'
import type { Answer } from './call.ts'

/** Holds an answer to the error body of contract §3. `details` names the members that must be as given. */
export function assertRefusal(
  answer: Answer,
  status: number,
  error: string,
  details: Readonly<Record<string, unknown>> = {},
): void {
  const text = answer.body.toString()
  assert.equal(answer.status, status, text)
  assert.equal(answer.header('x-agw-reason'), error, text)
  assert.equal(answer.header('content-type'), 'application/json')
  const body = answer.json() as Record<string, unknown>
  assert.deepEqual(Object.keys(body).sort(), ['details', 'error', 'message', 'request_id'])
  assert.equal(body['error'], error)
  assert.match(String(body['message']), /^[A-Z].{20,}\.$/)
  assert.ok(String(body['request_id']).length >= 8)
  assert.equal(answer.header('x-agw-request-id'), body['request_id'])
  const found = body['details'] as Record<string, unknown>
  for (const [name, value] of Object.entries(details)) assert.deepEqual(found[name], value, text)
  if (status === 401) assert.match(answer.header('www-authenticate') ?? '', /Bearer .*Basic /)
}
