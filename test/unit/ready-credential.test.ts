import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import type { PlainAuth } from '../../core/store/credential-binding.ts'
import { tokenFailure } from '../../core/token/credential-cause.ts'
import type { Denial } from '../../ext-proc/verdict/denial.ts'
import type { Verdict } from '../../ext-proc/verdict/verdict.ts'
import { type CallChange, decide } from './decision-kit.ts'

const denialOf = (verdict: Verdict): Denial => {
  assert.ok(verdict.kind === 'deny')
  assert.equal(verdict.step, 'credential')
  return verdict.denial
}
const setOf = (verdict: Verdict, name: string): string | undefined => {
  assert.ok(verdict.kind === 'forward')
  return verdict.changes.set.find((header) => header.name === name)?.value
}

/** Why there is no credential. The caller only learns that there is none; the log has the cause. */
const CAUSES: readonly (readonly [name: string, change: CallChange, cause: object])[] = [
  [
    'the stored secret does not open',
    {
      auth: { type: 'bearer', token: 'x' },
      integration: { integration_id: 'int_moved' },
    },
    { cause: 'not_opened' },
  ],
  [
    'the token endpoint refuses',
    { token: { kind: 'failed', failure: tokenFailure('refused', 401, 'invalid_client') } },
    { cause: 'refused', token_status: 401, token_error: 'invalid_client' },
  ],
  [
    'it cannot stand in a header',
    { auth: { type: 'bearer', token: 'a\rb' } },
    { cause: 'not_a_header' },
  ],
  ['the doctor has not passed', { is_held: true }, { cause: 'doctor_not_passed' }],
]

test('while credentials are held, a call that needs none passes', async () => {
  const { verdict } = await decide({ is_held: true, auth: { type: 'none' } })
  assert.equal(verdict.kind, 'forward')
})

for (const [name, change, cause] of CAUSES)
  test(`${name}: the call is refused, and its cause is in the log alone`, async () => {
    const scope = change.integration === undefined ? {} : { integration_id: 'int_moved' }
    const { verdict } = await decide({ ...change, scope })
    const { reason, details, data } = denialOf(verdict)
    const base_url = 'https://api.example.com/v1'
    assert.equal(reason, 'credential_unavailable')
    assert.deepEqual(details, { base_url })
    assert.deepEqual(data, { base_url, ...cause })
  })

/** What goes into the request for each plain type; the caller's own of the same name does not. */
const PLAIN: readonly (readonly [auth: PlainAuth, name: string, value: string])[] = [
  [{ type: 'bearer', token: 'b' }, 'authorization', 'Bearer b'],
  [{ type: 'header', name: 'X-Key', value: 'h' }, 'x-key', 'h'],
  [
    { type: 'basic', username: 'u', password: 'p' },
    'authorization',
    `Basic ${Buffer.from('u:p').toString('base64')}`,
  ],
  [{ type: 'query', name: 'key', value: 'a b&c' }, ':path', '/v1/models/a?key=a%20b%26c'],
]

for (const [auth, name, value] of PLAIN)
  test(`${auth.type}: the API gets ${name}: ${value}`, async () => {
    const { verdict, events } = await decide({ auth, headers: { 'x-key': "the caller's" } })
    assert.equal(setOf(verdict, name), value)
    assert.ok(!events.includes('token'))
    assert.ok(verdict.kind === 'forward')
    if (name === 'x-key') assert.ok(verdict.changes.remove.includes('x-key'))
  })

test("the caller's value of a query credential is replaced, wherever it stands", async () => {
  const { verdict } = await decide({
    auth: { type: 'query', name: 'key', value: 'ours' },
    url: 'https://api.example.com/v1/models/a?a=1&key=theirs&b=2&key=again',
  })
  const path = setOf(verdict, ':path') ?? ''
  const sent = new URLSearchParams(path.split('?')[1])
  assert.deepEqual(sent.getAll('key'), ['ours'])
  assert.deepEqual([sent.get('a'), sent.get('b')], ['1', '2'])
})

test('none: nothing is set, and the key of the gateway does not go on', async () => {
  const { verdict } = await decide({ auth: { type: 'none' } })
  assert.equal(setOf(verdict, 'authorization'), undefined)
  assert.ok(verdict.kind === 'forward' && verdict.changes.remove.includes('authorization'))
})

const AWS = (service: string): PlainAuth => ({
  type: 'aws_sigv4',
  access_key_id: 'AKID',
  secret_access_key: 'secret',
  region: 'eu-central-1',
  service,
})

test('a signature covers the host of the integration and the body as it goes out', async () => {
  const { verdict } = await decide({
    auth: AWS('execute-api'),
    body: '{"agent_id":"agt_a","q":1}',
    headers: { 'x-amz-date': '20200101T000000Z', 'x-amz-meta-a': 'b' },
  })
  const hash = createHash('sha256').update('{"q":1}').digest('hex')
  assert.equal(setOf(verdict, 'x-amz-content-sha256'), hash)
  assert.equal(setOf(verdict, 'x-amz-date'), '20260601T000000Z')
  assert.match(
    setOf(verdict, 'authorization') ?? '',
    /Credential=AKID\/20260601\/eu-central-1\/execute-api\/aws4_request, SignedHeaders=content-type;host;x-amz-content-sha256;x-amz-date;x-amz-meta-a, /,
  )
})

/** A body in chunks that the caller signed with a key that the API does not know cannot be signed again. */
for (const [service, claimed, passes] of [
  ['s3', 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD', false],
  ['s3', 'STREAMING-UNSIGNED-PAYLOAD-TRAILER', true],
  ['execute-api', 'STREAMING-UNSIGNED-PAYLOAD-TRAILER', false],
  ['execute-api', 'UNSIGNED-PAYLOAD', true],
] as const)
  test(`${claimed} to ${service} ${passes ? 'is signed' : 'is refused'}`, async () => {
    const { verdict } = await decide({
      auth: AWS(service),
      headers: { 'x-amz-content-sha256': claimed },
    })
    if (passes) assert.match(setOf(verdict, 'authorization') ?? '', /^AWS4-HMAC-SHA256 /)
    else
      assert.deepEqual(denialOf(verdict).details, {
        content_encoding: 'aws-chunked',
        reason: 'signed_chunks',
      })
  })
