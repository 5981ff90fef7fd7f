import assert from 'node:assert/strict'
import { test } from 'node:test'
import { awsProtocol } from '../../core/error-format/aws.ts'
import { ERROR_FORMAT_NAMES, proposedFormat } from '../../core/catalogue/error-formats.ts'
import { errorShapeOf } from '../../core/error-format/error-shape-of.ts'
import { escapeXml } from '../../core/error-format/escape-xml.ts'
import type { AwsProtocol } from '../../core/error-format/write-format.ts'
import type { Integration } from '../../core/catalogue/model.ts'
import { REASONS } from '../../core/catalogue/reasons.ts'
import { writeError } from '../../ext-proc/verdict/write-error.ts'

const HOSTILE = `</Message><Code>ok</Code>]]>&amp;"'\u0000\u001b\ud800\uffff\r\n<!DOCTYPE x>`
const denial = {
  reason: 'security_block',
  details: { matched_text: HOSTILE, location: 'body' },
} as const
const record = (format: (typeof ERROR_FORMAT_NAMES)[number], aws: AwsProtocol = 'json') => ({
  facts: { request_id: 'req-1' },
  mcp: null,
  json_rpc_id: '7',
  error_shape: { format, aws },
})

test('every format has the message, the code, the details and the request id, and the same status and reason', () => {
  const { message } = REASONS.security_block
  for (const format of ERROR_FORMAT_NAMES)
    for (const aws of ['s3', 'ec2', 'query', 'json'] as const) {
      const { status, headers, body } = writeError(denial, record(format, aws))
      const text = body.toString()
      const at = `${format} ${aws} ${text}`
      assert.equal(status, 403, at)
      const of = (name: string) => headers.filter((header) => header.name === name)
      assert.deepEqual(of('x-agw-reason'), [{ name: 'x-agw-reason', value: 'security_block' }])
      assert.ok(text.includes(message) && text.includes('security_block'), at)
      assert.ok(text.includes('req-1'), at)
      const isXml = format === 'aws' && aws !== 'json'
      assert.equal(of('content-type').length, 1)
      assert.equal(of('content-type')[0]?.value.endsWith('xml'), isXml, at)
      if (!isXml) assert.ok(JSON.stringify(JSON.parse(text)).includes('matched_text'), at)
    }
})

test('a text of an agent is escaped for XML and opens no element', () => {
  for (const aws of ['s3', 'query'] as const) {
    const text = writeError(denial, record('aws', aws)).body.toString()
    assert.equal(text.match(/<Code>/g)?.length, 1)
    assert.ok(!/<!DOCTYPE|\]\]>/.test(text))
    // oxlint-disable-next-line no-control-regex
    assert.ok(!/[\u0000-\u0008\u000b-\u001f\ufffe\uffff]/.test(text))
    assert.ok(!/\p{Cs}/u.test(text))
  }
  assert.equal(escapeXml('a<b>&"\'\t\n\u{1f600}'), 'a&lt;b&gt;&amp;&quot;&apos;\t\n\u{1f600}')
})

test('a refusal after the API was called says so and asks SDKs not to repeat it', () => {
  for (const format of ERROR_FORMAT_NAMES)
    for (const reason of ['security_block', 'redirect_refused', 'response_too_large'] as const) {
      const { headers, body } = writeError(
        { reason, details: {}, was_called: true },
        record(format, 's3'),
      )
      for (const name of ['x-should-retry', 'stripe-should-retry'])
        assert.equal(headers.find((header) => header.name === name)?.value, 'false')
      assert.match(body.toString(), /API was called/)
    }
  const { headers } = writeError(denial, record('openai'))
  assert.ok(!headers.some(({ name }) => name.includes('should-retry')))
})

test('the protocol of AWS follows the service of the credential, else the host, and the type of the request', () => {
  const form = [{ name: 'content-type', value: 'application/x-www-form-urlencoded; charset=utf-8' }]
  const json = [{ name: 'content-type', value: 'application/x-amz-json-1.1' }]
  const rows: readonly (readonly [string | null, string, typeof form, AwsProtocol])[] = [
    ['s3', 'minio.internal', [], 's3'],
    [null, 's3.eu-west-1.amazonaws.com', form, 's3'],
    [null, 'bucket.s3.amazonaws.com', [], 's3'],
    ['bedrock', 's3.amazonaws.com', json, 'json'],
    ['ec2', 'ec2.amazonaws.com', form, 'ec2'],
    ['sqs', 'sqs.amazonaws.com', form, 'query'],
    ['sqs', 'sqs.amazonaws.com', json, 'json'],
    [null, 'iam.amazonaws.com', [], 'query'],
    ['bedrock', 'bedrock-runtime.us-east-1.amazonaws.com', [], 'json'],
  ]
  for (const [service, host, headers, protocol] of rows)
    assert.deepEqual(
      [service, host, awsProtocol(headers, { service, host })],
      [service, host, protocol],
    )
})

test('a format is proposed by host and never applied without being set', () => {
  const rows = {
    'https://api.openai.com/v1': 'openai',
    'https://x.openai.azure.com': 'openai',
    'https://api.anthropic.com': 'anthropic',
    'https://generativelanguage.googleapis.com/v1beta': 'google',
    'https://api.stripe.com/v1': 'stripe',
    'https://s3.eu-west-1.amazonaws.com': 'aws',
    'https://slack.com/api': 'slack',
    'https://api.notion.com/v1': 'notion',
    'https://notopenai.com': null,
    'https://api.openai.com.evil.test': null,
    'no URL': null,
  }
  for (const [url, format] of Object.entries(rows)) {
    assert.deepEqual([url, proposedFormat(url)], [url, format])
    const stored = { base_url: url, auth: { type: 'none' } } as unknown as Integration
    assert.equal(errorShapeOf(stored, []), null)
  }
})
