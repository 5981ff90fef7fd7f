import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildEnvelope } from '../../core/change/build-envelope.ts'
import { DELIVERED_EVENTS } from '../../core/catalogue/events.ts'
import { formatBody } from '../../admin/webhooks/format-body.ts'
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

/** What an agent may have written into its path, its justification or a tool's name. */
const HOSTILE = [
  '<!channel> <@U012AB3CD> <https://evil.example.com|Approve>',
  '[Approve](https://evil.example.com) **bold** <at>Everyone</at>',
  '"}]}],"blocks":[{"type":"image"}]',
  'first\n\nApproved by: alice@example.com\r\nx',
  '\u202Egnp.exe\u202C \u200Bhidden\u0000\u001B[31m',
  '\uD800 half',
  'ß'.repeat(200_000),
]

const messageOf = (format: 'slack' | 'teams', text: string) => {
  const data = {
    tool_name: text,
    service: text,
    endpoint: text,
    reason: text,
    agent_scopes: Array(50).fill(text.slice(0, 999)),
  }
  const entry = activityEntry('mcp_tool_blocked', { agent_name: text, data })
  const bytes = formatBody(Buffer.from(JSON.stringify(buildEnvelope(entry))), format, PLACE)
  return {
    bytes,
    message: JSON.parse(bytes.toString()) as any,
    link: `https://agw.example.com/#/activity/${entry.id}`,
  }
}
const PLACE = { apiUrl: 'https://agw.example.com/', apiHost: '127.0.0.1', apiPort: 8081 }

test('a message for Slack stays within the limits of Block Kit, and hostile text stays text', () => {
  for (const text of HOSTILE) {
    const { message, link } = messageOf('slack', text)
    assert.deepEqual(Object.keys(message), [
      'text',
      'mrkdwn',
      'unfurl_links',
      'unfurl_media',
      'blocks',
    ])
    assert.equal(message.text, 'Tool blocked')
    assert.ok(message.blocks.length <= 50)
    const texts: any[] = []
    for (const { type, text: shown, fields, elements, ...more } of message.blocks) {
      assert.deepEqual(more, {})
      if (type === 'header') assert.ok(shown.text.length <= 150)
      if (fields)
        assert.ok(fields.length <= 10 && fields.every((field: any) => field.text.length <= 2000))
      if (type === 'actions') {
        assert.equal(elements.length, 1)
        assert.equal(elements[0].url, link)
        assert.ok(elements[0].text.text.length <= 75)
      }
      texts.push(...[shown, ...(fields ?? [])].filter(Boolean))
    }
    for (const shown of texts) {
      assert.equal(shown.type, 'plain_text')
      assert.ok(shown.text.length > 0 && shown.text.length <= 3000)
      // The label has a line of its own, and nothing of others begins one.
      assert.ok(shown.text.split('\n').length <= 2)
      assert.doesNotMatch(shown.text, /[^\P{C}\n]/u)
    }
  }
})

test('a card for Teams has the text of others only where no Markdown is read, and stays below 28 KB', () => {
  for (const text of HOSTILE) {
    const { bytes, message, link } = messageOf('teams', text)
    assert.ok(bytes.length < 28_000, String(bytes.length))
    assert.equal(message.type, 'message')
    const [{ contentType, content }] = message.attachments
    assert.equal(contentType, 'application/vnd.microsoft.card.adaptive')
    assert.deepEqual(content.actions, [
      { type: 'Action.OpenUrl', title: 'Open in the console', url: link },
    ])
    for (const { type, inlines, ...more } of content.body) {
      assert.equal(type, 'RichTextBlock')
      assert.deepEqual(more, {})
      for (const { type: kind, text: shown } of inlines) {
        assert.equal(kind, 'TextRun')
        assert.doesNotMatch(shown, /\p{C}|[\u2028\u2029]/u)
      }
    }
  }
})

test('every event is a message in each format, and the standard format is the envelope itself', () => {
  for (const event of DELIVERED_EVENTS) {
    const body = Buffer.from(JSON.stringify(buildEnvelope(activityEntry(event))))
    assert.equal(formatBody(body, 'standard', PLACE), body)
    for (const format of ['slack', 'teams'] as const)
      assert.match(formatBody(body, format, PLACE).toString(), /agw\.example\.com\/#\/activity\//)
  }
})
