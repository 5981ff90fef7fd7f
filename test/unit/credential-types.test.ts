import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { AuthSchema, AuthView } from '../../admin/integrations/auth-schema.ts'
import { integrationView } from '../../admin/integrations/integration-view.ts'
import { checkInput } from '../../admin/http/check-input.ts'
import {
  CREDENTIAL_TYPES,
  credentialTypeOf,
  type SealedAuth,
  SECRET_MEMBER_NAMES,
  secretMembers,
} from '../../core/credential/catalogue.ts'
import { defineCredential, type FilledPair } from '../../core/credential/credential-type.ts'
import { optionalSecret, secret, shown } from '../../core/credential/member.ts'
import { HIDDEN_MEMBERS } from '../../core/credential/hidden-members.ts'
import type { Integration } from '../../core/catalogue/model.ts'
import { ownedName } from '../../core/request/owned-name.ts'
import { plainHeaderName } from '../../core/request/plain-header-name.ts'
import { fromRoot } from '../../core/system/root.ts'
import { sampleText } from '../kit/sample-auth.ts'
import { isSealed, parseKeyRing, seal } from '../../core/keys/seal.ts'
import { Secret } from '../../core/keys/secret.ts'
import { credentialBinding, openAuth, sealAuth } from '../../core/store/credential-binding.ts'

const ring = parseKeyRing(randomBytes(32).toString('base64'))
const secretOf = (type: string, member: string): string => `the-${type}-${member}-is-long`

/** Each type with all of its members, as a caller gives it. */
const EVERY = CREDENTIAL_TYPES.map(({ type, members }) => {
  const given = Object.entries(members).map(([member, declared]) => [
    member,
    declared.visibility === 'secret'
      ? secretOf(type, member)
      : sampleText(member, declared, 'https://login.example.com'),
  ])
  return { type, auth: { type, ...Object.fromEntries(given) } as SealedAuth }
})

const owning = (auth: SealedAuth): Integration => ({
  integration_id: 'int_1',
  organization_id: 'org_1',
  name: 'api',
  base_url: 'https://api.example.com/v1',
  strip_agent_id: true,
  allow_empty_segments: false,
  auth,
  created_at: '2026-01-01T00:00:00.000Z',
})
const sealed = (auth: SealedAuth): Integration => {
  const integration = owning(auth)
  return { ...integration, auth: sealAuth(ring, integration) }
}

/** Every header and query parameter that a credential sets, its headers in their plain form. */
function placesSetBy(auth: SealedAuth): readonly string[] {
  const opened = openAuth(ring, sealed(auth))
  assert.ok(opened !== null)
  const { application } = credentialTypeOf(auth.type)
  const headers = (filled: readonly FilledPair[]): string[] =>
    filled.map(({ name }) => `header ${plainHeaderName(name.toLowerCase())}`)
  switch (application.kind) {
    case 'static': {
      const filling = application.apply(opened as never)
      // The placeholder is at a place that the operator declares.
      const declared = filling.placeholder === undefined ? [] : ['header authorization']
      const named = filling.query.map(({ name }) => `query ${name}`)
      return [...headers(filling.headers), ...named, ...declared]
    }
    // Its token is set as that of `bearer`.
    case 'token':
    case 'connection':
      return ['header authorization']
    case 'signature': {
      const request = {
        method: 'GET',
        raw_path: '/',
        raw_query: null,
        headers: [{ name: 'host', value: 'api.example.com' }],
        payload: createHash('sha256').digest('hex'),
      }
      return headers(application.sign(opened as never, request, 0))
    }
  }
}

test('every declaration is in the catalogue, under a name of its own', () => {
  const folder = fromRoot('core', 'credential')
  const declaring = readdirSync(folder)
    .filter((name) => name.endsWith('.ts'))
    .filter((name) => /= defineCredential\(/.test(readFileSync(`${folder}/${name}`, 'utf8')))
  assert.deepEqual(
    declaring.map((name) => name.replace(/\.ts$/, '').replaceAll('-', '_')).sort(),
    CREDENTIAL_TYPES.map(({ type }) => type).sort(),
  )
})

test('a member that is neither secret nor shown does not compile, nor does a secret used as text', () => {
  const declared = { label: '', sends: '', owned: () => ({ kind: 'header', name: 'x' }) } as const
  defineCredential({
    ...declared,
    type: 'forgetful',
    members: {
      // @ts-expect-error: whether it is secret is not said
      key: { text: 'text', presence: 'required', may_be_empty: false, was_public: false },
    },
    application: { kind: 'static', apply: () => ({ headers: [], query: [] }) },
  })
  defineCredential({
    ...declared,
    type: 'careless',
    members: { name: shown('header_name'), key: secret('text'), more: optionalSecret('text') },
    application: {
      kind: 'static',
      // @ts-expect-error: a secret is a `Secret`, which is revealed on purpose
      apply: ({ name, key }) => ({ headers: [{ name, value: key }], query: [] }),
    },
  })
})

test('a sealed member does not open under another type of credential', () => {
  const stored = sealed({ type: 'header', name: 'x-key', value: 'secret-value' })
  assert.notEqual(openAuth(ring, stored), null)
  const moved = { ...stored.auth, type: 'query' } as SealedAuth
  assert.equal(openAuth(ring, { ...stored, auth: moved }), null)
})

for (const { type, auth } of EVERY) {
  const secrets = secretMembers(type).map((member) => secretOf(type, member))
  const holdsNone = (text: string): void => {
    for (const one of secrets) assert.ok(!text.includes(one), text)
  }

  test(`${type}: what is stored holds no secret, and opens to what was given`, () => {
    const stored = sealed(auth)
    holdsNone(JSON.stringify(stored))
    const opened = openAuth(ring, stored) as unknown as Record<string, unknown>
    assert.deepEqual(Object.keys(opened), Object.keys(auth))
    for (const [member, given] of Object.entries(auth)) {
      const value = opened[member]
      assert.equal(value instanceof Secret, secretMembers(type).includes(member), member)
      assert.equal(value instanceof Secret ? value.reveal() : value, given)
    }
    holdsNone(JSON.stringify(opened))
  })

  test(`${type}: what is stored opens for its own integration and origins alone`, () => {
    const stored = sealed(auth)
    const opens = (change: Partial<Integration>, by = ring): boolean =>
      openAuth(by, { ...stored, ...change }) !== null
    assert.ok(opens({ base_url: 'https://api.example.com/v2', name: 'renamed' }))
    const entry = { host: 'files.example.com', methods: ['GET'], paths: ['/**'] }
    assert.ok(opens({ also_hosts: [{ ...entry, credential: false }] }))
    if (secrets.length === 0) return
    assert.equal(opens({ also_hosts: [{ ...entry, credential: true }] }), false)
    assert.equal(opens({ organization_id: 'org_2' }), false)
    assert.equal(opens({ integration_id: 'int_2' }), false)
    for (const base_url of [
      'https://evil.example.com/v1',
      'http://api.example.com/v1',
      'https://api.example.com:8443/v1',
    ])
      assert.equal(opens({ base_url }), false, base_url)
    for (const [member, { text }] of Object.entries(
      CREDENTIAL_TYPES.find((one) => one.type === type)?.members ?? {},
    ))
      if (text === 'url') {
        const other = { ...stored.auth, [member]: 'https://evil.example.com/token' } as SealedAuth
        assert.equal(opens({ auth: other }), false, member)
      }
    assert.equal(opens({}, parseKeyRing(randomBytes(32).toString('base64'))), false)
  })

  test(`${type}: what is set in a request is what the type owns, or Authorization, which no caller's value passes`, () => {
    const required = Object.entries(credentialTypeOf(auth.type).members)
      .filter(([, { presence }]) => presence === 'required')
      .map(([member]) => member)
    const least = Object.fromEntries(
      Object.entries(auth).filter(([member]) => member === 'type' || required.includes(member)),
    ) as SealedAuth
    const services = type === 'aws_sigv4' ? ['s3', 'execute-api'] : [null]
    for (const given of [auth, least])
      for (const service of services) {
        const one = service === null ? given : ({ ...given, service } as SealedAuth)
        const owned = ownedName(one)
        const set = placesSetBy(one)
        const own =
          owned.kind === 'header'
            ? [owned.name, ...(owned.further ?? [])].map((name) => `header ${name}`)
            : [`query ${owned.name}`]
        const covered = new Set(['header authorization', ...own])
        for (const place of set) assert.ok(covered.has(place), `${place} is not in ${own.join()}`)
        if (type !== 'none') assert.ok(set.length > 0)
        assert.equal(
          set.some((place) => own.includes(place)),
          type !== 'none',
        )
      }
  })

  test(`${type}: a read shows the last four characters of a secret, and its schema takes nothing more`, () => {
    const view = integrationView(ring, sealed(auth))['auth'] as Record<string, unknown>
    holdsNone(JSON.stringify(view))
    for (const member of secretMembers(type))
      assert.equal(view[`${member}_last4`], secretOf(type, member).slice(-4))
    assert.ok(checkInput(AuthView, view).ok)
    for (const member of secretMembers(type))
      assert.ok(!checkInput(AuthView, { ...view, [member]: 'x' }).ok)
    assert.ok(!checkInput(AuthView, { ...view, another: 'x' }).ok)
  })

  test(`${type}: the schema takes it whole, and without no required member`, () => {
    assert.ok(checkInput(AuthSchema, auth).ok)
    const members = CREDENTIAL_TYPES.find((one) => one.type === type)?.members ?? {}
    for (const [member, { presence }] of Object.entries(members)) {
      const rest = Object.fromEntries(Object.entries(auth).filter(([name]) => name !== member))
      assert.equal(checkInput(AuthSchema, rest).ok, presence === 'optional', member)
    }
    assert.ok(!checkInput(AuthSchema, { ...auth, another: 'x' }).ok)
  })

  test(`${type}: the logs hide every secret member`, () => {
    for (const member of secretMembers(type)) {
      assert.ok(SECRET_MEMBER_NAMES.includes(member))
      assert.ok(HIDDEN_MEMBERS.paths.includes(member), member)
    }
  })
}

/** The kinds of payload for which no body is read. */
const NEEDS_NO_BODY: readonly string[] = ['literal', 'refused']

test('a body is buffered wherever a signature covers it', () => {
  let signatures = 0
  for (const { type, auth } of EVERY) {
    const { application } = credentialTypeOf(auth.type)
    if (application.kind !== 'signature') continue
    signatures++
    for (const scheme of ['http', 'https'] as const)
      for (const value of ['s3', 'execute-api', '']) {
        const given = { ...auth, service: value } as never
        if (application.needsBody(given, scheme)) continue
        const payload = application.payload(given, { scheme, headers: [], is_buffered: false })
        assert.ok(NEEDS_NO_BODY.includes(payload.kind), `${type} ${scheme} ${value}`)
      }
  }
  assert.ok(signatures > 0)
})

test('a user name that was stored in the clear opens as it is; a sealed one that is not ours does not', () => {
  const integration = sealed({ type: 'basic', username: 'sk_live_0123456789', password: '' })
  const { auth } = integration
  assert.ok(auth.type === 'basic')
  const usernameOf = (username: string): string | null => {
    const opened = openAuth(ring, { ...integration, auth: { ...auth, username } })
    return opened?.type === 'basic' ? opened.username.reveal() : null
  }
  assert.equal(usernameOf(auth.username), 'sk_live_0123456789')
  for (const clear of ['', 'u', 'sk_live_1', 'v1.a.b.c', 'v1.0123abcd', 'a user with blanks ü'])
    assert.equal(usernameOf(clear), clear)
  const elsewhere = { ...integration, base_url: 'https://evil.example.com' }
  const other = parseKeyRing(randomBytes(32).toString('base64'))
  const moved = [
    seal(ring, 'x', credentialBinding(elsewhere, 'username')),
    seal(ring, 'x', credentialBinding(integration, 'password')),
    seal(other, 'x', credentialBinding(integration, 'username')),
    auth.password,
  ]
  for (const text of moved) {
    assert.ok(isSealed(text))
    assert.equal(usernameOf(text), null)
  }
})

test('no other secret is read in the clear', () => {
  for (const { type, auth } of EVERY)
    for (const member of secretMembers(type)) {
      const integration = sealed(auth)
      const clear = { ...integration.auth, [member]: secretOf(type, member) } as SealedAuth
      const opened = openAuth(ring, { ...integration, auth: clear })
      assert.equal(opened !== null, type === 'basic' && member === 'username', `${type} ${member}`)
    }
})

test('a stored credential of an unknown type opens to nothing and shows nothing', () => {
  const auth = { type: 'of_tomorrow', key: 'in the clear', name: 'x' } as unknown as SealedAuth
  assert.equal(openAuth(ring, owning(auth)), null)
  assert.deepEqual(integrationView(ring, owning(auth))['auth'], { type: 'of_tomorrow' })
  assert.deepEqual(ownedName(auth), { kind: 'header', name: 'authorization' })
})

const PAGE = fromRoot('docs', 'guides', 'credentials.md')
const PLACE = /(<!-- types: [^\n]*-->\n)[^]*?(<!-- \/types -->)/
const ELSEWHERE = {
  static: 'nothing',
  token: 'client id and secret to the token endpoint, by the gateway itself',
  connection:
    'code, refresh token, client id and secret to the token endpoint, tokens to the endpoints for revocation and introspection',
  signature: 'nothing; the signing key never leaves the gateway',
} as const

test('docs/guides/credentials.md lists every type', () => {
  const rows = CREDENTIAL_TYPES.map(({ type, members, sends, application }) => {
    const named = Object.entries(members).map(
      ([member, { visibility, presence }]) =>
        `${visibility === 'secret' ? `**\`${member}\`**` : `\`${member}\``}${presence === 'optional' ? '?' : ''}`,
    )
    return `| \`${type}\` | ${named.join(', ')} | ${sends} | ${ELSEWHERE[application.kind]} |`
  })
  const head = ['| `type` | members | what the API receives | what else the gateway sends |']
  const table = [...head, '|---|---|---|---|', ...rows].join('\n')
  const fresh = readFileSync(PAGE, 'utf8').replace(
    PLACE,
    (_, begin: string, end: string) => `${begin}\n${table}\n\n${end}`,
  )
  if (process.env['UPDATE_DOCS'] === '1') writeFileSync(PAGE, fresh)
  assert.equal(readFileSync(PAGE, 'utf8'), fresh)
})
