import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkAlsoHosts } from '../../admin/integrations/check-also-hosts.ts'
import type { AlsoHost } from '../../core/catalogue/model.ts'
import { credentialOwner } from '../../core/decision/also-hosts.ts'
import { compileIntegrations } from '../../core/decision/compile-integrations.ts'
import { compileScopes } from '../../core/decision/compile-scopes.ts'
import { coverTarget } from '../../core/decision/cover-target.ts'
import { decideScope } from '../../core/decision/decide-scope.ts'
import { parseTarget } from '../../core/request/parse-target.ts'
import { anIntegration, aScope } from './policy-kit.ts'

const listing = (host: string, more: Partial<AlsoHost> = {}): AlsoHost => ({
  host,
  methods: ['GET'],
  paths: ['/**'],
  credential: false,
  ...more,
})
const TABLE = compileIntegrations([
  anIntegration('https://git.test', {
    integration_id: 'int_a',
    auth: { type: 'basic', username: 'sealed', password: 'sealed' },
    also_hosts: [
      listing('codeload.test', { paths: ['/*/tar.gz/**'] }),
      listing('*.files.test'),
      listing('port.test:8443'),
      listing('own.test'),
      listing('uploads.test', { methods: ['PUT'], credential: true }),
      listing('*.files.test', { methods: ['PUT'] }),
      listing('up.files.test', { credential: true, paths: ['/in/*'] }),
    ],
  }),
  anIntegration('https://own.test:444/v1', { integration_id: 'int_b' }),
  anIntegration('https://api.test', {
    integration_id: 'int_c',
    also_hosts: [
      listing('codeload.test', { methods: ['GET', 'PUT'] }),
      listing('uploads.test', { methods: ['GET', 'PUT'] }),
    ],
  }),
])

/** What an agent with these scopes gets: why not, or the settings that apply. */
function answer(url: string, method = 'GET', scopes = SCOPES): string {
  const parsed = parseTarget(`/${url}`)
  assert.ok(parsed.ok)
  const covered = coverTarget(TABLE, parsed.target)
  if (covered.kind === 'refused') return covered.reason
  const { integration } = covered
  const asked = { method, target: parsed.target, integration }
  const decision = decideScope(compileScopes(scopes), TABLE, asked)
  if (decision.kind === 'denied') return decision.reason
  const { scope_ids, rate } = decision.settings
  const owner = credentialOwner(integration, decision.scope)
  if (owner !== null) {
    assert.equal(owner.integration_id, 'int_a')
    assert.deepEqual(integration.integration.auth, owner.auth)
  }
  return `${scope_ids.join()} ${String(rate.requests_per_minute)}${owner === null ? '' : ' credential'}`
}

const limit = (requests_per_minute: number) => ({
  rate_limiting: { ...aScope().rate_limiting, requests_per_minute },
})
const NARROW = [{ methods: ['GET'], paths: ['/only'] }]
const SCOPES = [
  aScope({ name: '1', integration_id: 'int_a', rules: NARROW, ...limit(9) }),
  aScope({ name: '2', integration_id: 'int_c', rules: NARROW, ...limit(7) }),
]

test('a listed host is governed by the scopes for the integrations that list it, with the rules of the entry', () => {
  const [first, second] = SCOPES
  assert.ok(first !== undefined && second !== undefined)
  const rows: readonly (readonly [string, string, string, typeof SCOPES?])[] = [
    ['https://codeload.test/o/tar.gz/v1', 'GET', 'scp_1,scp_2 7'],
    ['https://codeload.test/o/tar.gz/v1', 'PUT', 'scp_2 7'],
    ['https://codeload.test/other', 'GET', 'scp_2 7'],
    ['https://codeload.test/o/tar.gz/v1', 'DELETE', 'method_not_allowed'],
    ['https://codeload.test/other', 'GET', 'path_not_allowed', [first]],
    ['https://codeload.test/o/tar.gz/v1', 'GET', 'scp_1 9', [first]],
    ['https://codeload.test/o/tar.gz/v1', 'GET', 'no_scope', []],
    ['https://a.files.test/x', 'GET', 'scp_1 9'],
    ['https://A.Files.Test./x', 'GET', 'scp_1 9'],
    ['https://port.test:8443/x', 'GET', 'scp_1 9'],
    ['https://files.test/x', 'GET', 'integration_not_found'],
    ['https://a.b.files.test/x', 'GET', 'integration_not_found'],
    ['https://a.files.test:444/x', 'GET', 'integration_not_found'],
    ['http://a.files.test/x', 'GET', 'integration_not_found'],
    ['https://port.test/x', 'GET', 'integration_not_found'],
    ['https://codeload.test:8443/x', 'GET', 'integration_not_found'],
    // The host of an integration is never a listed one, whatever port.
    ['https://own.test/x', 'GET', 'integration_not_found'],
    ['https://git.test/only', 'GET', 'scp_1 9 credential'],
    // The credential is sent for the scope of the integration whose entry says so, and for no other one.
    ['https://uploads.test/x', 'PUT', 'scp_1,scp_2 7 credential'],
    ['https://uploads.test/x', 'PUT', 'scp_1 9 credential', [first]],
    ['https://uploads.test/x', 'PUT', 'scp_2 7', [second]],
    ['https://uploads.test/x', 'GET', 'scp_2 7'],
    ['https://uploads.test:8443/x', 'PUT', 'integration_not_found'],
    ['https://up.files.test/in/x', 'GET', 'scp_1,scp_1 9 credential'],
    ['https://up.files.test/in/x', 'PUT', 'scp_1 9'],
    ['https://up.files.test/x', 'GET', 'scp_1 9'],
  ]
  for (const [url, method, expected, scopes] of rows)
    assert.equal(answer(url, method, scopes), expected, `${method} ${url}`)
})

test('a listed host is a name that nobody else can register below', () => {
  const message = (host: string): string | null =>
    checkAlsoHosts({ also_hosts: [listing(host)] })[0]?.message ?? null
  for (const host of [
    'codeload.github.com',
    '*.githubusercontent.com',
    'x.test:8443',
    'xn--bcher-kva.test',
  ])
    assert.equal(message(host), null, host)
  for (const host of [
    '*.com',
    '*.co.uk',
    '*.test',
    '*',
    '*.*.example.com',
    'a.*.example.com',
    '*example.com',
    'localhost',
    '127.0.0.1',
    '[::1]',
    'Example.com',
    'example.com.',
    'example.com:443',
    'example.com:99999',
    '*.example.com:8443',
    'https://example.com',
    'user@example.com',
    'example.com/x',
    'b\u00fccher.test',
  ])
    assert.notEqual(message(host), null, host)
  const twice = checkAlsoHosts({ also_hosts: [listing('a.test'), listing('a.test')] })
  assert.deepEqual(twice, [{ path: '/also_hosts/1/host', message: 'is listed twice' }])
  const wildcard = checkAlsoHosts({ also_hosts: [listing('*.example.com', { credential: true })] })
  assert.equal(wildcard[0]?.path, '/also_hosts/0/credential')
  const path = checkAlsoHosts({ also_hosts: [listing('a.test', { paths: ['files'] })] })
  assert.equal(path[0]?.path, '/also_hosts/0/paths/0')
  const headers = checkAlsoHosts({ rewrite_headers: ['x-next', 'set-cookie'] })
  assert.deepEqual(
    headers.map((issue) => issue.path),
    ['/rewrite_headers/1'],
  )
})
