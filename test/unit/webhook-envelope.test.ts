import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildEnvelope } from '../../core/change/build-envelope.ts'
import { DELIVERED_EVENTS } from '../../core/catalogue/events.ts'
import { activityEntry } from '../kit/activity-entry.ts'

test('an envelope has the documented members and no others of the entry', () => {
  const entry = activityEntry('mcp_tool_blocked', {
    key_id: 'key_1',
    data: { tool_name: 'delete_all' },
  })
  assert.deepEqual(buildEnvelope(entry), {
    id: entry.id,
    event: 'mcp_tool_blocked',
    timestamp: entry.timestamp,
    organization_id: 'org_default',
    agent_id: 'agt_test',
    agent_name: 'test agent',
    data: {
      tool_name: 'delete_all',
      service: null,
      endpoint: '/v1/chat/completions',
      reason: null,
      agent_scopes: null,
    },
  })
})

test('what data says of itself is kept, and members that it lacks are null or come from the entry', () => {
  for (const event of DELIVERED_EVENTS) {
    const own = { endpoint: '/own', source_ip: '192.0.2.7', suppressed: 3, extra: [1] }
    const { data } = buildEnvelope(activityEntry(event, { data: own }))
    for (const [name, value] of Object.entries(own)) assert.deepEqual(data[name], value)
    const bare = buildEnvelope(activityEntry(event))
    assert.ok(
      Object.values(bare.data).every((value) => value !== undefined),
      event,
    )
  }
  assert.equal(buildEnvelope(activityEntry('injection_blocked')).data['source_ip'], '203.0.113.9')
  assert.equal(buildEnvelope(activityEntry('rate_limit_exceeded')).data['suppressed'], 0)
})
