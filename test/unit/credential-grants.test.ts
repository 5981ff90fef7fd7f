import assert from 'node:assert/strict'
import { createHmac, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { test } from 'node:test'
import { compactVerify, decodeProtectedHeader, jwtVerify } from 'jose'
import { checkAuth } from '../../admin/integrations/check-auth.ts'
import { credentialTypeOf } from '../../core/credential/catalogue.ts'
import { fillPlaceholder } from '../../core/credential/fill-placeholder.ts'
import { narrowest } from '../../core/credential/narrowest.ts'
import { readPrivateKey } from '../../core/credential/private-key.ts'
import type { TokenClient, TokenUse } from '../../core/credential/token-client.ts'
import { Secret } from '../../core/keys/secret.ts'
import { readAnswer } from '../../core/token/read-answer.ts'
import { payloadOf } from '../../ext-proc/credential/payload-of.ts'

const NOW_MS = 1_800_000_000_000
const MOMENT = { now_ms: NOW_MS, nonce: 'n-1' }
const USE: TokenUse = { agent_id: 'agt_1', narrowing: null }
const pemOf = (key: KeyObject): string => key.export({ type: 'pkcs8', format: 'pem' }).toString()
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const PAIRS = {
  RS256: rsa,
  ES256: generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  ES384: generateKeyPairSync('ec', { namedCurve: 'P-384' }),
  EdDSA: generateKeyPairSync('ed25519'),
}

/** The client of an opened credential; every member named here is secret. */
function clientOf(given: Record<string, string>, use = USE): TokenClient {
  const opened = Object.fromEntries(
    Object.entries(given).map(([name, text]) => [
      name,
      /secret|private_key/.test(name) ? new Secret(text) : text,
    ]),
  )
  const { application } = credentialTypeOf(given['type'] as never)
  const client =
    application.kind === 'token'
      ? application.clientOf(opened as never, use)
      : application.kind === 'signature'
        ? application.exchange?.clientOf(opened as never, use)
        : null
  assert.ok(client)
  return client
}

test('a JWT bearer grant is an assertion that a verifier takes, by each kind of key', async () => {
  for (const [alg, { privateKey, publicKey }] of Object.entries(PAIRS)) {
    const client = clientOf({
      type: 'jwt_bearer',
      token_url: 'https://oauth2.googleapis.com/token',
      issuer: 'robot@project.iam.gserviceaccount.com',
      private_key: pemOf(privateKey),
      key_id: 'k1',
      subject: 'user@example.com',
      scope: 'https://www.googleapis.com/auth/drive.readonly',
    })
    const { headers, body } = await client.request('basic', MOMENT)
    const form = new URLSearchParams(body)
    assert.deepEqual(headers, {})
    assert.equal(form.get('grant_type'), 'urn:ietf:params:oauth:grant-type:jwt-bearer')
    const assertion = form.get('assertion') ?? ''
    assert.deepEqual(decodeProtectedHeader(assertion), { alg, typ: 'JWT', kid: 'k1' })
    const { payload } = await jwtVerify(assertion, publicKey, {
      issuer: 'robot@project.iam.gserviceaccount.com',
      subject: 'user@example.com',
      audience: 'https://oauth2.googleapis.com/token',
      currentDate: new Date(NOW_MS),
      requiredClaims: ['iat', 'exp', 'jti'],
    })
    assert.equal(payload['scope'], 'https://www.googleapis.com/auth/drive.readonly')
  }
})

test('a client proves who it is by a key, wherever it has no secret', async () => {
  const { privateKey, publicKey } = PAIRS.ES256
  const private_key = pemOf(privateKey)
  const token_url = 'https://login.example.com/token'
  for (const auth of [
    { type: 'oauth2_client_credentials', token_url, client_id: 'us', private_key },
    { type: 'jwt_bearer', token_url, issuer: 'i', private_key, client_id: 'us' },
  ]) {
    const form = new URLSearchParams((await clientOf(auth).request('basic', MOMENT)).body)
    assert.equal(
      form.get('client_assertion_type'),
      'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    )
    const { payload } = await jwtVerify(form.get('client_assertion') ?? '', publicKey, {
      issuer: 'us',
      subject: 'us',
      audience: token_url,
      currentDate: new Date(NOW_MS),
    })
    const grant = form.get('assertion')
    if (grant !== null) {
      const bearer = await jwtVerify(grant, publicKey, { currentDate: new Date(NOW_MS) })
      assert.notEqual(bearer.payload.jti, payload.jti, 'an assertion is used once')
    }
  }
})

test('an app asks for a token of its installation, narrowed as the scopes say', async () => {
  const narrowing = { repositories: ['web', 'api'], permissions: { issues: 'read' } }
  const auth = {
    type: 'github_app',
    app_id: '12345',
    installation_id: '678',
    private_key: pemOf(rsa.privateKey),
  }
  const client = clientOf(auth, { ...USE, narrowing })
  assert.equal(client.token_url, 'https://api.github.com/app/installations/678/access_tokens')
  const { headers, body } = await client.request('basic', MOMENT)
  assert.deepEqual(JSON.parse(body), {
    repositories: ['api', 'web'],
    permissions: { issues: 'read' },
  })
  const jwt = (headers['authorization'] ?? '').replace('Bearer ', '')
  const { payload } = await jwtVerify(jwt, rsa.publicKey, {
    issuer: '12345',
    currentDate: new Date(NOW_MS),
    algorithms: ['RS256'],
  })
  assert.ok(Number(payload.iat) <= NOW_MS / 1000)
  assert.ok(Number(payload.exp) - Number(payload.iat) <= 600)
  const again = clientOf(auth, {
    ...USE,
    narrowing: { ...narrowing, repositories: ['api', 'web'] },
  })
  assert.equal(again.variant, client.variant)
  assert.notEqual(clientOf(auth).variant, client.variant)
})

test('two scopes narrow to what both allow', () => {
  const one = { repositories: ['a', 'b'], permissions: { contents: 'write', issues: 'admin' } }
  const other = { repositories: ['b', 'c'], permissions: { contents: 'read' } }
  assert.deepEqual(narrowest(one, other), {
    repositories: ['b'],
    permissions: { contents: 'read' },
  })
  assert.deepEqual(narrowest(one, null), one)
  assert.deepEqual(narrowest({ repositories: ['a'] }, { permissions: { x: 'read' } }), {
    repositories: ['a'],
    permissions: { x: 'read' },
  })
})

test('a role is assumed in the name of the agent, and no two agents have one name', async () => {
  const auth = {
    type: 'aws_sigv4',
    access_key_id: 'AKIA',
    secret_access_key: 's',
    region: 'eu-west-1',
    service: 's3',
    role_arn: 'arn:aws:iam::1:role/r',
    external_id: 'x',
    session_policy: '{}',
  }
  const named = async (agent_id: string): Promise<string> => {
    const { headers, body } = await clientOf(auth, { ...USE, agent_id }).request('basic', MOMENT)
    const form = new URLSearchParams(body)
    assert.equal(form.get('ExternalId'), 'x')
    assert.equal(form.get('Policy'), '{}')
    assert.match(headers['authorization'] ?? '', /Credential=AKIA\/\d{8}\/eu-west-1\/sts\//)
    return form.get('RoleSessionName') ?? ''
  }
  assert.equal(await named('agt_1'), 'agt_1')
  const long = 'a'.repeat(100)
  const names = await Promise.all(['a:b', 'a-b', long, `${long}b`, 'x'].map(named))
  assert.equal(new Set(names).size, names.length)
  for (const name of names) assert.match(name, /^[\w+=,.@-]{2,64}$/)
})

test('answers of GitHub and STS are read with their end; all else is a failure', () => {
  const end = new Date(NOW_MS + 600_000).toISOString()
  const github = (body: object, status = 201) =>
    readAnswer('github', status, Buffer.from(JSON.stringify(body)), NOW_MS)
  const good = github({ token: 'ghs_1', expires_at: end })
  assert.ok(good.kind === 'token')
  assert.equal(good.lifetime_s, 600)
  assert.equal(github({ token: 'ghs_1' }).kind, 'failed')
  assert.equal(github({ token: 'a b', expires_at: end }).kind, 'failed')
  assert.equal(github({ token: 'ghs_1', expires_at: 'soon' }).kind, 'failed')
  assert.equal(github({ token: 'ghs_1', expires_at: end }, 200).kind, 'failed')
  const sts = (text: string, status = 200) => readAnswer('sts', status, Buffer.from(text), NOW_MS)
  const keys = `<AccessKeyId>A</AccessKeyId><SecretAccessKey>b/+=</SecretAccessKey><SessionToken>c</SessionToken>`
  const role = sts(`<x>${keys}<Expiration>${end}</Expiration></x>`)
  assert.ok(role.kind === 'token')
  assert.equal(role.token.reveal(), 'A b/+= c')
  for (const text of [
    '',
    keys,
    `${keys}<Expiration></Expiration>`,
    `<Expiration>${end}</Expiration>`,
  ])
    assert.equal(sts(text).kind, 'failed', text)
  assert.equal(sts(keys, 403).kind, 'failed')
})

test('a private key is read without its line breaks too; no other key is taken', () => {
  const pem = pemOf(rsa.privateKey)
  for (const text of [pem, pem.replaceAll('\n', ''), pem.replaceAll('\n', '\\n'), `  ${pem}  `])
    assert.equal(readPrivateKey(text)?.alg, 'RS256')
  const weak = generateKeyPairSync('rsa', { modulusLength: 1024 })
  const p521 = generateKeyPairSync('ec', { namedCurve: 'P-521' })
  const locked = rsa.privateKey.export({
    type: 'pkcs8',
    format: 'pem',
    cipher: 'aes-256-cbc',
    passphrase: 'x',
  })
  const publicPem = rsa.publicKey.export({ type: 'spki', format: 'pem' })
  for (const text of ['', 'x', pemOf(weak.privateKey), pemOf(p521.privateKey), locked, publicPem])
    assert.equal(readPrivateKey(String(text)), null)
})

const HMAC = { type: 'hmac', header: 'X-Sig', algorithm: 'sha256', key: 'k' }
const REQUEST = {
  method: 'POST',
  raw_path: '/v1/a%20b',
  raw_query: 'x=1',
  headers: [{ name: 'host', value: 'api.example.com' }],
  payload: '{"a":1}',
}
function signHmac(more: Record<string, string>, request = REQUEST): Record<string, string> {
  const { application } = credentialTypeOf('hmac')
  assert.ok(application.kind === 'signature')
  const { key, ...rest } = { ...HMAC, ...more }
  const opened = { ...rest, key: new Secret(key ?? '') }
  const set = application.sign(opened as never, request, NOW_MS + 123)
  return Object.fromEntries(set.map(({ name, value }) => [name, value]))
}

test('an HMAC covers what its template names, and is written as the API wants it', () => {
  const over = (text: string, key: string | Buffer = 'k') => createHmac('sha256', key).update(text)
  assert.deepEqual(
    signHmac({ template: '{timestamp}.{body}', value: 't={timestamp},v1={signature}' }),
    { 'X-Sig': `t=1800000000,v1=${over('1800000000.{"a":1}').digest('hex')}` },
  )
  assert.deepEqual(
    signHmac({
      template: '{method}{newline}{host}\n{path_and_query}|{path}|{query}|{timestamp}|{key_id}',
      encoding: 'base64',
      timestamp: 'milliseconds',
      timestamp_header: 'X-Time',
      key_id: 'id',
      key_id_header: 'X-Id',
    }),
    {
      'X-Sig': over('POST\napi.example.com\n/v1/a%20b?x=1|/v1/a%20b|x=1|1800000000123|id').digest(
        'base64',
      ),
      'X-Time': '1800000000123',
      'X-Id': 'id',
    },
  )
  const key = Buffer.from([0, 1, 255])
  assert.equal(
    signHmac({ template: 'ü{body}', key: key.toString('base64'), key_encoding: 'base64' })['X-Sig'],
    over('ü{"a":1}', key).digest('hex'),
  )
  // What a caller sends is never read as a template.
  assert.equal(
    signHmac({ template: '{path}{body}' }, { ...REQUEST, raw_path: '/{body}', payload: 'x' })[
      'X-Sig'
    ],
    over('/{body}x').digest('hex'),
  )
})

test('the body is buffered for a signature over it alone, up to a limit', async () => {
  const { application } = credentialTypeOf('hmac')
  assert.ok(application.kind === 'signature')
  const needs = (template: string) => application.needsBody({ ...HMAC, template } as never, 'https')
  assert.deepEqual(['{method}', '{body}', '{body_sha256}', 'body'].map(needs), [
    false,
    true,
    true,
    false,
  ])
  const payload = (template: string, body: Buffer) =>
    payloadOf({ ...HMAC, template } as never, 'https', [], body)
  assert.deepEqual(await payload('{body}', Buffer.from('a\xff', 'latin1')), {
    kind: 'payload',
    text: 'a\xff',
  })
  assert.equal((await payload('{body}', Buffer.alloc((1 << 20) + 1))).kind, 'too_large')
  assert.equal((await payload('{body_sha256}', Buffer.alloc((1 << 20) + 1))).kind, 'payload')
})

test('members that do not go together are refused with the one to correct', () => {
  const key = pemOf(PAIRS.ES256.privateKey)
  const oauth = {
    type: 'oauth2_client_credentials',
    token_url: 'https://a.example',
    client_id: 'a',
  }
  const aws = { type: 'aws_sigv4', access_key_id: 'a', secret_access_key: 'b', region: 'r' }
  const rows: readonly (readonly [object, string | null])[] = [
    [{ ...HMAC, template: '{path}' }, null],
    [{ ...HMAC, template: '{path}{cookie}' }, '/auth/template'],
    [{ ...HMAC, template: '{path}', value: 'v1' }, '/auth/value'],
    [{ ...HMAC, template: '{path}', timestamp_header: 'x-sig' }, '/auth'],
    [{ ...HMAC, template: '{path}', key_id_header: 'x-id' }, '/auth/key_id'],
    [oauth, '/auth'],
    [{ ...oauth, client_secret: 's' }, null],
    [{ ...oauth, client_secret: 's', private_key: key }, '/auth'],
    [{ ...oauth, private_key: 'a key' }, '/auth/private_key'],
    [{ ...aws, service: 's3', external_id: 'x' }, '/auth/role_arn'],
    [{ ...aws, service: 's3', role_arn: 'r', session_policy: '[]' }, '/auth/session_policy'],
  ]
  for (const [auth, path] of rows)
    assert.deepEqual(
      checkAuth(auth as never, () => false).map((issue) => issue.path),
      path === null ? [] : [path],
      JSON.stringify(auth),
    )
})

test('a signed JWT has no member that can be read two ways', async () => {
  const { body } = await clientOf({
    type: 'jwt_bearer',
    token_url: 'https://a.example/t',
    issuer: 'a","iss":"b',
    private_key: pemOf(PAIRS.ES256.privateKey),
  }).request('post', MOMENT)
  const assertion = new URLSearchParams(body).get('assertion') ?? ''
  const { payload } = await compactVerify(assertion, PAIRS.ES256.publicKey)
  assert.equal(JSON.parse(Buffer.from(payload).toString()).iss, 'a","iss":"b')
})

const TELEGRAM = {
  value: '123:AA-b/c?d#e%',
  paths: ['/bot{agw:token}', '/file/*/bot{agw:token}'],
  query: 'key',
}
test('a token is put where the caller writes the placeholder at a declared place, and nowhere else', () => {
  const fill = (raw_path: string, raw_query: string | null = null, base = 0) =>
    fillPlaceholder({ raw_path, raw_query }, base, TELEGRAM)
  const token = '123:AA-b/c%3Fd%23e%25'
  const rows: readonly (readonly [string, string | null, string | null, string | null])[] = [
    ['/bot{agw:token}/sendMessage', null, `/bot${token}/sendMessage`, null],
    ['/bot%7Bagw%3Atoken%7d/getMe', 'a={agw:token}', `/bot${token}/getMe`, 'a={agw:token}'],
    ['/file/x/bot{agw:token}/f', null, `/file/x/bot${token}/f`, null],
    ['/x', 'a=1&key=%7Bagw:token%7D', '/x', `a=1&key=${encodeURIComponent(TELEGRAM.value)}`],
    ['/x', 'key={agw:token}x', null, null],
    ['/bot999:own/sendMessage', null, null, null],
    ['/other/{agw:token}', 'q={agw:token}', null, null],
    ['/bot{agw:token}x/y', null, null, null],
    ['/x/bot{agw:token}', null, null, null],
    ['/bot%257Bagw:token%257D', null, null, null],
  ]
  for (const [path, query, filled_path, filled_query] of rows)
    assert.deepEqual(
      fill(path, query),
      filled_path === null ? null : { raw_path: filled_path, raw_query: filled_query },
      path,
    )
  assert.equal(fill('/v1/bot{agw:token}/x', null, 1)?.raw_path, `/v1/bot${token}/x`)
  assert.equal(fill('/v1/bot{agw:token}/x', null, 0), null)
})

test('places of a placeholder are checked when they are saved', () => {
  const auth = { type: 'placeholder', token: 't' }
  for (const [more, path] of [
    [{ paths: '/bot{agw:token} /file/bot{agw:token}' }, null],
    [{ query: 'key' }, null],
    [{}, '/auth'],
    [{ paths: 'bot{agw:token}' }, '/auth/paths'],
    [{ paths: '/bot' }, '/auth/paths'],
    [{ paths: '/{agw:token}?x' }, '/auth/paths'],
    [{ paths: '/{agw:token}', token: 'a/../b' }, '/auth/token'],
  ] as const)
    assert.deepEqual(
      checkAuth({ ...auth, ...more } as never, () => false).map((issue) => issue.path),
      path === null ? [] : [path],
    )
})
