import assert from 'node:assert/strict'
import { test } from 'node:test'
import { entrySummary } from '../../core/activity/entry-summary.ts'
import { EVENT_NAMES, type EventName } from '../../core/catalogue/events.ts'

const FINDING = {
  pattern_name: 'ignore_previous',
  location: 'body.messages[0].content',
  matched_text: 'ignore all',
}
const FOUND = 'ignore_previous in body.messages[0].content: ignore all'

const EXPECTED: Readonly<Record<EventName, readonly [data: object, summary: string]>> = {
  request_allowed: [
    { upstream: { outcome: 'unreachable', details: 'dns_resolution_failure{address_denied}' } },
    'dns_resolution_failure{address_denied}',
  ],
  request_rejected: [{ reason: 'unknown_target' }, 'unknown_target'],
  injection_blocked: [FINDING, FOUND],
  injection_detected: [FINDING, FOUND],
  agent_killed: [
    { triggered_by: 'ops@example.com', reason: 'leaked' },
    'by ops@example.com: leaked',
  ],
  access_requested: [{ method: 'POST', url: 'https://x/v1/charges' }, 'POST https://x/v1/charges'],
  access_decided: [
    {
      status: 'denied',
      decided_by: 'ops@example.com',
      method: 'POST',
      url: 'https://x/v1/charges',
    },
    'denied by ops@example.com: POST https://x/v1/charges',
  ],
  locked: [
    { triggered_by: 'ops@example.com', mode: 'deny', message: 'audit' },
    'deny by ops@example.com: audit',
  ],
  unlocked: [{ triggered_by: 'ops@example.com', mode: 'deny' }, 'deny by ops@example.com'],
  agent_reactivated: [{ triggered_by: 'ops@example.com' }, 'by ops@example.com'],
  anomaly_detected: [
    { anomaly_score: 0.83, anomaly_types: ['frequency', 'new_endpoint'] },
    'score 0.83: frequency, new_endpoint',
  ],
  permission_denied: [{ reason: 'path_not_allowed' }, 'path not allowed'],
  rate_limit_exceeded: [
    { current_rpm: 72, limit: 60, action_taken: 'killed' },
    '72 calls per minute, limit 60, agent killed',
  ],
  mcp_tool_blocked: [{ tool_name: 'delete_repo', reason: 'denied' }, 'delete_repo: denied'],
  admin_action: [
    { actor: 'ops@example.com', action: 'agent.kill', target: 'agt_1' },
    'ops@example.com killed the agent agt_1',
  ],
  connection_changed: [
    { name: 'billing', change: 'updated', status: 'revoked' },
    'billing updated: revoked',
  ],
  changes_lost: [{ count: 3 }, '3 changes lost'],
}

const NO_AGENT = { agent_id: null, agent_name: null, reason: null }

test('a call that Envoy did not send has the cause behind the details of Envoy', () => {
  const upstream = { outcome: 'not_sent', details: 'route_not_found', cause: 'No route matched.' }
  const entry = {
    ...NO_AGENT,
    event: 'request_allowed',
    method: 'GET',
    data: { upstream },
  } as const
  assert.equal(entrySummary(entry), 'route_not_found: No route matched.')
})

test('each event is summarized in a few words', () => {
  for (const event of EVENT_NAMES) {
    const [data, summary] = EXPECTED[event]
    const entry = { ...NO_AGENT, event, method: 'GET', data: data as Record<string, unknown> }
    assert.equal(entrySummary(entry), summary, event)
  }
})

test('the reason of an entry is not repeated, and a counted flood says how many calls', () => {
  const entry = {
    ...NO_AGENT,
    event: 'request_rejected',
    method: 'GET',
    data: { reason: 'x' },
  } as const
  assert.equal(entrySummary({ ...entry, reason: 'x' }), '')
  assert.equal(
    entrySummary({ ...entry, method: null, data: { suppressed: 7 } }),
    '7 more in this minute',
  )
})
