import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ocsfEvent, ocsfGap } from '../../admin/log-export/ocsf-event.ts'
import { syslogMessage } from '../../admin/log-export/syslog-message.ts'
import type { ActivityEntry } from '../../core/activity/activity-entry.ts'
import { EVENT_NAMES, type EventName } from '../../core/catalogue/events.ts'
import { activityEntry } from '../kit/activity-entry.ts'

const SOURCE = { organization_id: 'org_a', installation_id: 'dep_1' }
const AT_MS = Date.UTC(2026, 10, 23, 9, 30)

const eventOf = (event: EventName, members: Partial<ActivityEntry> = {}): any =>
  ocsfEvent({ entry: activityEntry(event, members), text: '', at_ms: AT_MS }, SOURCE)

describe('events of OCSF', () => {
  test('every event has its class, and members by which it is found', () => {
    const of = (name: EventName) => [eventOf(name).class_uid, eventOf(name).severity_id]
    assert.deepEqual(Object.fromEntries(EVENT_NAMES.map((name) => [name, of(name)])), {
      request_allowed: [6003, 1],
      request_rejected: [6003, 2],
      injection_blocked: [2004, 4],
      injection_detected: [2004, 4],
      agent_killed: [3001, 4],
      agent_reactivated: [3001, 2],
      access_requested: [6003, 2],
      access_decided: [6003, 2],
      locked: [6003, 4],
      unlocked: [6003, 2],
      anomaly_detected: [2004, 4],
      permission_denied: [6003, 2],
      rate_limit_exceeded: [6003, 2],
      mcp_tool_blocked: [6003, 3],
      admin_action: [6003, 1],
      connection_changed: [3001, 2],
      changes_lost: [2004, 5],
    })
    for (const name of EVENT_NAMES) {
      const event = eventOf(name, { request_id: 'req_1', reason: 'agent_killed' })
      assert.equal(event.type_uid, event.class_uid * 100 + event.activity_id)
      assert.equal(event.category_uid, Math.floor(event.class_uid / 1000))
      assert.equal(event.time, AT_MS)
      assert.match(event.metadata.uid, /^act_/)
      assert.equal(event.metadata.event_code, name)
      assert.equal(event.metadata.tenant_uid, 'org_a')
      assert.equal(event.metadata.correlation_uid, 'req_1')
      assert.deepEqual([event.action_id, event.disposition_id], [2, 2])
      assert.equal(event.status_detail, 'agent_killed')
    }
  })

  test('a call names agent, key, API, request and outcome', () => {
    const event = eventOf('request_allowed', {
      key_id: 'key_1',
      integration_id: 'int_1',
      decision: 'allowed',
      status: 200,
      bytes_in: 7,
      bytes_out: 9,
      data: { upstream: { outcome: 'answered' } },
    })
    assert.deepEqual(event.actor.user, {
      uid: 'agt_test',
      name: 'test agent',
      type_id: 3,
      org: { uid: 'org_default' },
      credential_uid: 'key_1',
    })
    assert.deepEqual(event.src_endpoint, { ip: '203.0.113.9' })
    assert.deepEqual(event.api, {
      operation: 'POST /v1/chat/completions',
      service: { uid: 'int_1' },
      response: { code: 200 },
    })
    assert.deepEqual(event.http_request, {
      http_method: 'POST',
      url: { path: '/v1/chat/completions' },
      length: 7,
    })
    assert.deepEqual(event.http_response, { code: 200, length: 9 })
    assert.deepEqual([event.activity_id, event.action_id, event.status_id], [1, 1, 1])
    assert.deepEqual(event.unmapped.data, { upstream: { outcome: 'answered' } })
    assert.equal(event.message, 'Allowed: POST /v1/chat/completions')
  })

  test('changes by operators, kills and findings name who, what and why', () => {
    const change = eventOf('admin_action', {
      decision: null,
      method: null,
      endpoint: null,
      data: { actor: 'ops@example.com', action: 'scope.update', target: 'scp_1' },
    })
    assert.deepEqual(change.actor.user, { name: 'ops@example.com', type_id: 2 })
    assert.deepEqual(change.resources, [{ uid: 'scp_1', type: 'scope' }])
    assert.equal(change.activity_id, 3)
    assert.equal(change.message, 'Admin action: scope.update scp_1')
    const kill = eventOf('agent_killed', { data: { triggered_by: 'system' } })
    assert.deepEqual([kill.activity_id, kill.actor.user.name], [5, 'system'])
    assert.equal(kill.user.uid, 'agt_test')
    const finding = eventOf('injection_blocked', {
      data: { severity: 'critical', pattern_name: 'ignore_previous' },
    })
    assert.equal(finding.severity_id, 5)
    assert.deepEqual(finding.finding_info.analytic, { name: 'ignore_previous', type_id: 1 })
  })

  test('an entry that cannot be read, and entries that are missing, are events too', () => {
    const unreadable = ocsfEvent({ entry: null, text: '{"torn', at_ms: AT_MS }, SOURCE)
    assert.deepEqual([unreadable['class_uid'], unreadable['unmapped']], [0, { text: '{"torn' }])
    const gap = ocsfGap({ missing: 7, at_ms: AT_MS }, SOURCE)
    assert.deepEqual([gap['type_uid'], gap['unmapped']], [99, { missing: 7 }])
  })
})

describe('syslog messages', () => {
  const parse = (framed: string) => {
    const [, length = '', message = ''] = /^(\d+) ([^]*)$/.exec(framed) ?? []
    assert.equal(Buffer.byteLength(message), Number(length))
    const [, head = '', body = '{}'] = /^(.*? - \w+ - )(\{[^]*)$/.exec(message) ?? []
    return { head, bytes: Number(length), event: JSON.parse(body) }
  }

  test('a message has the header of RFC 5424, and its length in bytes before it', () => {
    const { head, event } = parse(syslogMessage(eventOf('agent_killed', { agent_name: 'Zoë\n' })))
    assert.match(
      head,
      /^<107>1 2026-11-23T09:30:00\.000Z [\x21-\x7e]+ agent-access-gateway - agent_killed - $/,
    )
    assert.equal(event.user.name, 'Zoë\n')
  })

  test('a message that receivers would cut has less in it, but is whole', () => {
    const large = parse(
      syslogMessage(eventOf('admin_action', { data: { after: 'é'.repeat(9_000) } })),
    )
    assert.ok(large.bytes <= 8_192)
    assert.equal(large.event.unmapped.left_out, true)
    assert.ok(large.event.unmapped.size_bytes > 18_000)
    const long = parse(
      syslogMessage(eventOf('request_allowed', { endpoint: `/${'\u0001'.repeat(9_000)}` })),
    )
    assert.ok(long.bytes <= 8_192)
    assert.equal(long.event.http_request.url.path.length, 201)
  })
})
