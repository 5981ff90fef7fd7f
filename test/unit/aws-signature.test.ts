import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type AwsCredential, signRequest } from '../../core/credential/aws/sign-request.ts'
import {
  canonicalPath,
  canonicalQuery,
  canonicalRequest,
} from '../../core/credential/aws/canonical-request.ts'
import type { Scheme } from '../../core/credential/credential-type.ts'
import type { Header } from '../../core/request/header.ts'
import { withHeaders } from '../../core/decision/apply-credential.ts'
import { Secret } from '../../core/keys/secret.ts'
import { payloadOf } from '../../ext-proc/credential/payload-of.ts'
import { signElsewhere } from '../kit/check-signature.ts'

const EMPTY = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'
/** The key and the bucket of the examples in the documentation of Amazon S3. */
const EXAMPLE = {
  type: 'aws_sigv4',
  access_key_id: 'AKIAIOSFODNN7EXAMPLE',
  secret_access_key: new Secret('wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY'),
  region: 'us-east-1',
  service: 's3',
} as const
const AT_MS = Date.UTC(2013, 4, 24)
const HOST = { name: 'host', value: 'examplebucket.s3.amazonaws.com' }

const latin1 = (text: string): string => Buffer.from(text, 'utf8').toString('latin1')

test('the examples of the documentation of S3 have the signatures that it gives', () => {
  const rows = [
    ['lifecycle', 'fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543'],
    ['max-keys=2&prefix=J', '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7'],
    ['prefix=J&max-keys=2', '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7'],
  ] as const
  for (const [raw_query, signature] of rows) {
    const request = { method: 'GET', raw_path: '/', raw_query, headers: [HOST], payload: EMPTY }
    assert.deepEqual(signRequest(EXAMPLE, request, AT_MS), [
      {
        name: 'authorization',
        value: `AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, SignedHeaders=host;x-amz-content-sha256;x-amz-date, Signature=${signature}`,
      },
      { name: 'x-amz-content-sha256', value: EMPTY },
      { name: 'x-amz-date', value: '20130524T000000Z' },
    ])
  }
})

test('a path is signed as S3 reads it, and escaped once more for every other service', () => {
  const rows: ReadonlyArray<readonly [string, string, string]> = [
    ['/', '/', '/'],
    ['//', '//', '/'],
    ['/a/b', '/a/b', '/a/b'],
    ['//a//b//', '//a//b//', '/a/b/'],
    ['/a%20b', '/a%20b', '/a%2520b'],
    ['/a+b', '/a%20b', '/a%2Bb'],
    ['/%e1%88%b4', '/%E1%88%B4', '/%25e1%2588%25b4'],
    [latin1('/ሴ'), '/%E1%88%B4', '/%E1%88%B4'],
    ['/a%2Fb', '/a/b', '/a%252Fb'],
    [
      "/-._~!$&'()*,;=:@",
      '/-._~%21%24%26%27%28%29%2A%2C%3B%3D%3A%40',
      '/-._~%21%24%26%27%28%29%2A%2C%3B%3D%3A%40',
    ],
    ['/%zz%', '/%25zz%25', '/%25zz%25'],
    ['/model/a%3Ab/invoke', '/model/a%3Ab/invoke', '/model/a%253Ab/invoke'],
  ]
  for (const [raw_path, inS3, elsewhere] of rows) {
    assert.equal(canonicalPath(raw_path, 's3'), inS3)
    assert.equal(canonicalPath(raw_path, 'bedrock'), elsewhere)
  }
})

test('a query is signed sorted by name and value, with one spelling of every escape', () => {
  const rows: ReadonlyArray<readonly [string | null, string]> = [
    [null, ''],
    ['', ''],
    ['acl', 'acl='],
    ['b=2&a=1', 'a=1&b=2'],
    ['a=2&a=1&A=3', 'A=3&a=1&a=2'],
    ['a=%2f+%20/', 'a=%2F%20%20%2F'],
    ['%7e=%7E&%41=b', 'A=b&~=~'],
    ['a=b=c&&', 'a=b%3Dc'],
    [latin1('ሴ=bar'), '%E1%88%B4=bar'],
    ['a-b=1&a=2', 'a=2&a-b=1'],
  ]
  for (const [raw_query, canonical] of rows) assert.equal(canonicalQuery(raw_query), canonical)
})

test('whatever the path, the query and the service, the signature is the one that another program makes', () => {
  const text = fc.string({ unit: fc.constantFrom(...Array.from('aZ09-._~ /:+=&%ü')), maxLength: 6 })
  const segment = text.map(encodeURIComponent).filter((written) => !/^\.{0,2}$/.test(written))
  const pair = fc.tuple(text, text)
  const query = fc.uniqueArray(pair, { selector: ([name]) => name, maxLength: 5 })
  fc.assert(
    fc.property(
      fc.array(segment, { maxLength: 4 }),
      fc.boolean(),
      query,
      fc.constantFrom('s3', 'sqs'),
      fc.option(fc.constant('token'), { nil: undefined }),
      (segments, slash, pairs, service, session_token) => {
        const raw_path = `/${segments.join('/')}${slash && segments.length > 0 ? '/' : ''}`
        const raw_query = pairs
          .filter(([name]) => name !== '')
          .map((both) => both.map(encodeURIComponent).join('='))
          .join('&')
        const { access_key_id, region } = EXAMPLE
        const secret_access_key = EXAMPLE.secret_access_key.reveal()
        const given = { access_key_id, secret_access_key, region, service }
        const client = session_token === undefined ? given : { ...given, session_token }
        const auth = { ...EXAMPLE, service }
        const opened =
          session_token === undefined ? auth : { ...auth, session_token: new Secret(session_token) }
        const request = { method: 'PUT', raw_path, raw_query, headers: [HOST], payload: EMPTY }
        const [authorization, ...own] = signRequest(opened, request, AT_MS)
        const elsewhere = signElsewhere(
          { method: 'PUT', path: `${raw_path}?${raw_query}` },
          Object.fromEntries([HOST, ...own].map(({ name, value }) => [name, value])),
          client,
        )
        assert.equal(authorization?.value, elsewhere)
      },
    ),
  )
})

test('a header is signed with the blanks of HTTP made one, and no byte of a letter taken for one', () => {
  const rows: ReadonlyArray<readonly [string, string]> = [
    ['  two \t  blanks ', 'two blanks'],
    ['', ''],
    [latin1('à'), latin1('à')],
    [latin1(' à à '), latin1('à à')],
    ['\xa0\x85', '\xa0\x85'],
  ]
  for (const [value, signed] of rows) {
    const request = { method: 'GET', raw_path: '/', raw_query: null, payload: EMPTY }
    const headers = [HOST, { name: 'x-amz-meta-a', value }]
    const { text } = canonicalRequest({ ...request, headers }, 's3')
    assert.equal(text.split('\n')[4], `x-amz-meta-a:${signed}`)
  }
})

test('a credential that would break out of its header signs nothing', () => {
  const request = { method: 'GET', raw_path: '/', raw_query: null, headers: [HOST], payload: EMPTY }
  const broken: Partial<AwsCredential>[] = [
    { access_key_id: 'A\r\nx: y' },
    { region: 'a\nb' },
    { service: 's3\0' },
    { session_token: new Secret('a\r\nb') },
  ]
  for (const change of broken)
    assert.deepEqual(withHeaders(signRequest({ ...EXAMPLE, ...change }, request, AT_MS), null), {
      kind: 'unusable',
    })
})

test('a buffered body is signed by its hash; only S3 over TLS gets unsigned bodies', async () => {
  const body = Buffer.from('hello')
  const hash = '2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824'
  const large = Buffer.alloc(300_000, 'a')
  const said = (value: string) => [{ name: 'x-amz-content-sha256', value }]
  const text = (value: string) => ({ kind: 'payload', text: value })
  const chunks = 'STREAMING-UNSIGNED-PAYLOAD-TRAILER'
  const payload = (service: string, ...rest: [Scheme, Header[], Buffer | null]) =>
    payloadOf({ ...EXAMPLE, service }, ...rest)
  const refused = {
    kind: 'refused',
    content_encoding: 'aws-chunked',
    reason: 'signed_chunks',
  }
  assert.deepEqual(await payload('s3', 'https', [], body), text(hash))
  assert.deepEqual(await payload('s3', 'https', said(EMPTY), null), text('UNSIGNED-PAYLOAD'))
  assert.deepEqual(await payload('s3', 'http', said('UNSIGNED-PAYLOAD'), body), text(hash))
  assert.deepEqual(await payload('sqs', 'https', said(EMPTY), body), text(hash))
  assert.deepEqual(
    await payload('sqs', 'https', [], large),
    text('12e1b9b179b29a4f7e5889b185d7ac71bff0ad1f49a7b391d0911b737a0f5381'),
  )
  assert.deepEqual(await payload('s3', 'https', said(chunks), null), text(chunks))
  assert.deepEqual(await payload('s3', 'https', said(chunks), body), text(chunks))
  assert.deepEqual(await payload('s3', 'http', said(chunks), body), refused)
  assert.deepEqual(await payload('sqs', 'https', said(chunks), body), refused)
  for (const value of [
    'STREAMING-AWS4-HMAC-SHA256-PAYLOAD',
    'STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER',
  ])
    assert.deepEqual(await payload('s3', 'https', said(value), null), refused)
  await assert.rejects(payload('s3', 'http', [], null))
  await assert.rejects(payload('sqs', 'https', [], null))
})
