import assert from 'node:assert/strict'
import { test } from 'node:test'
import { admit } from '../../core/decision/admit.ts'
import type { ApiKey, UnlistedHosts } from '../../core/catalogue/model.ts'
import { compileIntegrations } from '../../core/decision/compile-integrations.ts'
import { compileScopes } from '../../core/decision/compile-scopes.ts'
import { credentialOwner } from '../../core/decision/also-hosts.ts'
import { parseTarget } from '../../core/request/parse-target.ts'
import { anAgent, anIntegration } from './policy-kit.ts'

const listing = (host: string) => ({
  host,
  methods: ['GET'],
  paths: ['/only'],
  credential: false,
})
const TABLE = compileIntegrations([
  anIntegration('https://api.listed.test/v1/deep', {
    auth: {
      type: 'oauth2_client_credentials',
      token_url: 'https://login.listed.test/token',
      client_id: 'a',
      client_secret: 'b',
    },
    also_hosts: [listing('cdn.listed.test'), listing('*.files.test'), listing('port.test:8443')],
  }),
  anIntegration('http://xn--bcher-kva.test:8080'),
  anIntegration('https://203.0.113.7'),
  anIntegration('https://[2001:db8::7]/v1'),
])
const CLOSED = new Set(['blind.test'])

const key: ApiKey = {
  key_id: 'key_a',
  organization_id: 'org_default',
  agent_id: 'agt_a',
  hash: '',
  last4: '',
  name: '',
  agent_ids: null,
  uses: ['proxy'],
  created_at: '',
  expires_at: null,
  revoked_at: null,
  revoked_by: null,
}

interface Asked {
  readonly method?: string
  readonly by_default?: UnlistedHosts
  readonly of_agent?: UnlistedHosts | null
  readonly killed_at?: string
  readonly is_proxied?: boolean
}

/** `unlisted` if the call is admitted to a host that nothing names, else why not. */
function answer(url: string, asked: Asked = {}): string {
  const { method = 'GET', by_default = 'refuse', of_agent = 'allow', is_proxied = true } = asked
  const admission = admit({
    request: {
      method,
      target: parseTarget(`/${Buffer.from(url).toString('latin1')}`),
      headers: [],
      upgrade: null,
      named_agents: [],
      named_users: [],
      is_proxied: false,
      installation: '',
    },
    now_ms: 0,
    caller: { kind: 'known', key, place: { kind: 'authorization' } },
    integrations: TABLE,
    agent: {
      agent: anAgent({ unlisted_hosts: of_agent }),
      killed_at: asked.killed_at ?? null,
      scopes: compileScopes([]),
    },
    ...(is_proxied ? { unlisted: { by_default, closed_hosts: CLOSED } } : {}),
  })
  if (admission.kind === 'missing') return admission.fact
  if (admission.kind === 'not_admitted')
    return (admission.details['reason'] as string | undefined) ?? admission.reason
  const { integration, scope, settings } = admission
  assert.equal(credentialOwner(integration, scope), null)
  assert.deepEqual(integration.integration.auth, { type: 'none' })
  assert.equal(settings.injection.enabled && settings.injection.mode === 'block', true)
  assert.equal(settings.rate.requests_per_minute, 600)
  return integration.is_unlisted ? 'unlisted' : 'listed'
}

test('a host that nothing names is open to an agent that may call such hosts, and to no other one', () => {
  const url = 'https://open.test/any//path?q=1'
  const rows: readonly (readonly [Asked, string])[] = [
    [{}, 'unlisted'],
    [{ method: 'DELETE' }, 'unlisted'],
    [{ of_agent: null, by_default: 'allow' }, 'unlisted'],
    [{ of_agent: null }, 'empty_segment'],
    [{ of_agent: 'refuse', by_default: 'allow' }, 'empty_segment'],
    [{ is_proxied: false }, 'empty_segment'],
    [{ method: 'TRACE' }, 'method_not_allowed'],
    [{ killed_at: '2026-01-01T00:00:00.000Z' }, 'agent_killed'],
    // As before, an agent that may not is not told whether it is killed.
    [{ killed_at: '2026-01-01T00:00:00.000Z', of_agent: null }, 'empty_segment'],
  ]
  for (const [asked, expected] of rows) assert.equal(answer(url, asked), expected)
  for (const open of [
    'https://open.test',
    'http://open.test:8080/x',
    'https://a.b.files.test/x',
    'https://files.test/x',
    'https://listed.test/v1/deep',
  ])
    assert.equal(answer(open), 'unlisted', open)
  assert.equal(answer('https://open.test/x', { of_agent: null }), 'integration_not_found')
})

/** Hosts that something names, and their spellings. */
const NAMED = {
  'api.listed.test': [
    'API.Listed.Test',
    'api.listed.test.',
    'ａpi.listed.test',
    'api。listed.test',
  ],
  'login.listed.test': ['LOGIN.listed.test.'],
  'cdn.listed.test': [
    'cdn.LISTED.test',
    'cdn.listed.test.',
    'cdn.listed%2etest',
    '%63dn.listed.test',
  ],
  'a.files.test': ['A.FILES.TEST.'],
  'port.test': ['Port.test'],
  'xn--bcher-kva.test': [
    'bücher.test',
    'BÜCHER.test',
    'b%C3%BCcher.test',
    'bu\u0308cher.test',
    'XN--BCHER-KVA.test.',
  ],
  'blind.test': ['BLIND.test', 'blind.test.'],
  '203.0.113.7': [
    '203.0.113.7.',
    '3405803783',
    '0xcb007107',
    '0xCB.0.0x71.7',
    '0313.0.0161.07',
    '203.113.7',
    '203.28935',
    '[::ffff:203.0.113.7]',
    '[::ffff:cb00:7107]',
    '203%2e0.113.7',
    '２０３.0.113.7',
  ],
  '[2001:db8::7]': ['[2001:0DB8:0::0007]', '[2001:db8:0:0:0:0:0:7]'],
} as const

test('a host that anything names is never an unlisted one, whatever scheme, port, path and spelling', () => {
  for (const [host, spellings] of Object.entries(NAMED))
    for (const spelling of [host, ...spellings])
      for (const scheme of ['https', 'http', 'HTTPS'])
        for (const port of ['', ':443', ':80', ':8443', ':8080', ':1'])
          for (const path of ['', '/', '/v1', '/v1/deep/x', '/V1/Deep/x', '/only', '//x', '/%2e/x'])
            for (const method of ['GET', 'POST'])
              assert.notEqual(
                answer(`${scheme}://${spelling}${port}${path}`, { method, by_default: 'allow' }),
                'unlisted',
                `${method} ${scheme}://${spelling}${port}${path}`,
              )
})

test('an address is never an unlisted host: it is a spelling of some host', () => {
  for (const host of ['198.51.100.1', '127.0.0.1', '2130706433', '[::1]', '[2001:db8::1]'])
    assert.notEqual(answer(`https://${host}/x`), 'unlisted', host)
})
