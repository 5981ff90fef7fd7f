import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import type { ReceivedRequest } from './test-upstream/received-request.ts'

/** Has no types of its own. */
const aws4 = createRequire(import.meta.url)('aws4') as {
  sign(request: object, credentials: object): { headers: Record<string, string> }
}

/** The `Authorization` that another program makes of a request; `headers` are all signed, the date among them. */
export function signElsewhere(
  request: { readonly method: string; readonly path: string },
  headers: Readonly<Record<string, string>>,
  { access_key_id, secret_access_key, session_token, region, service }: AwsClient,
): string | undefined {
  const is_signed = Object.fromEntries(Object.keys(headers).map((name) => [name, true]))
  const signed = aws4.sign(
    { ...request, service, region, headers, extraHeadersToInclude: is_signed },
    { accessKeyId: access_key_id, secretAccessKey: secret_access_key, sessionToken: session_token },
  )
  return signed.headers['Authorization']
}

export interface AwsClient {
  readonly access_key_id: string
  readonly secret_access_key: string
  readonly session_token?: string
  readonly region: string
  readonly service: string
}

/** What an `Authorization` of AWS Signature Version 4 says. */
export function readSignature(authorization: string | undefined): {
  readonly key: string
  readonly names: readonly string[]
} {
  const [, key = '', names = ''] =
    /^AWS4-HMAC-SHA256 Credential=([^,]+), SignedHeaders=([^,]+), Signature=[0-9a-f]{64}$/.exec(
      authorization ?? '',
    ) ?? []
  assert.notEqual(key, '', `no signature: ${authorization}`)
  return { key, names: names.split(';') }
}

/** Signs again, by another program, what arrived, and holds the request to it as the service would. */
export function checkSignature(one: ReceivedRequest, client: AwsClient): void {
  const { session_token, service } = client
  const { names } = readSignature(one.header('authorization'))
  const time = one.header('x-amz-date') ?? ''
  assert.match(time, /^\d{8}T\d{6}Z$/)
  const at_ms = Date.parse(time.replace(/^(....)(..)(..T..)(..)(..Z)$/, '$1-$2-$3:$4:$5'))
  assert.ok(Math.abs(Date.now() - at_ms) < 60_000, time)
  assert.equal(one.header('x-amz-security-token'), session_token)
  // Whatever AWS demands to be signed is signed.
  for (const [name] of one.headers) {
    const lower = name.toLowerCase()
    const is_demanded = lower.startsWith('x-amz-') || lower === 'host' || lower === 'content-type'
    assert.ok(!is_demanded || names.includes(lower), `${name} is not signed`)
  }
  assert.ok(names.includes('host'))
  const hash = one.header('x-amz-content-sha256')
  if (/^[0-9a-f]{64}$/.test(hash ?? '')) assert.equal(hash, one.body_sha256)
  else assert.ok(service === 's3' && one.secure && one.body_bytes >= 0, hash)
  const headers = Object.fromEntries(
    names.map((name) => [name, name === 'host' ? one.host : (one.header(name) ?? '')]),
  )
  assert.equal(one.header('authorization'), signElsewhere(one, headers, client), one.path)
}
