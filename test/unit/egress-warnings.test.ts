import assert from 'node:assert/strict'
import { test } from 'node:test'
import { warningsOfIntegration } from '../../admin/integrations/warnings-of-integration.ts'
import { checkWebhookUrl } from '../../admin/webhooks/check-webhook-url.ts'
import { warningsOfWebhook } from '../../admin/webhooks/warnings-of-webhook.ts'
import { AddressPolicy } from '../../core/egress/address-policy.ts'
import { egressWarnings, type EgressRules } from '../../core/egress/egress-warnings.ts'
import { HostNotFound } from '../../core/egress/resolve-host.ts'

const NAMES: Readonly<Record<string, readonly string[]>> = {
  'api.example.com': ['93.184.215.14'],
  'private.example.com': ['10.1.2.3'],
  'many.example.com': ['10.0.0.1', '10.0.0.2', '10.0.0.3', '10.0.0.4'],
  'mixed.example.com': ['10.1.2.3', '93.184.215.14'],
  'six.example.com': ['fd12::1'],
  'mapped.example.com': ['::ffff:7f00:1'],
  'nat64.example.com': ['64:ff9b::a01:203'],
  'imds.example.com': ['169.254.169.254'],
  'imds-and-private.example.com': ['169.254.169.254', '10.1.2.3'],
  'imds-nat64.example.com': ['64:ff9b::a9fe:a9fe'],
  'db.corp.internal': ['10.9.9.9'],
  'public.internal': ['93.184.215.14'],
  localhost: ['127.0.0.1', '::1'],
  metadata: ['10.0.0.5'],
}

const rules = (allowed: readonly string[] = [], more: Partial<EgressRules> = {}): EgressRules => ({
  policy: new AddressPolicy(allowed),
  setting: 'AGW_EGRESS_ALLOW_CIDRS',
  resolve: async (name) => {
    const found = NAMES[name]
    if (found === undefined) throw new HostNotFound(name)
    return found
  },
  allows_private: allowed.length > 0,
  exempt_origin: null,
  ...more,
})

const REFUSED = 'Connections to it are refused'
const never = `${REFUSED}, and no setting allows them.`
const allow = (range: string): string =>
  `${REFUSED} unless AGW_EGRESS_ALLOW_CIDRS includes its range, for example ${range}.`
const unknown = `${REFUSED} unless AGW_EGRESS_ALLOW_CIDRS includes its address.`
const literal = (address: string, why: string, bits = 32): string =>
  `${address} is not a public address (${why}). ${allow(`${address}/${bits}`)}`
const metadata = (host: string): string => `${host} is a cloud metadata service. ${never}`

/** The host of a URL, and the warning; null where there is none. */
const ROWS: readonly (readonly [string, string | null])[] = [
  ['8.8.8.8', null],
  ['[2606:4700::1111]', null],
  ['127.0.0.1', literal('127.0.0.1', 'loopback')],
  ['10.1.2.3:8443', literal('10.1.2.3', 'private')],
  ['172.16.0.1', literal('172.16.0.1', 'private')],
  ['192.168.1.1', literal('192.168.1.1', 'private')],
  ['100.64.0.1', literal('100.64.0.1', 'carrier-grade NAT')],
  ['169.254.1.1', literal('169.254.1.1', 'link-local')],
  ['0.0.0.0', literal('0.0.0.0', 'unspecified')],
  ['224.0.0.1', literal('224.0.0.1', 'multicast')],
  ['255.255.255.255', literal('255.255.255.255', 'broadcast')],
  ['192.0.2.1', literal('192.0.2.1', 'reserved')],
  ['198.18.0.1', literal('198.18.0.1', 'reserved')],
  ['[::1]', literal('::1', 'loopback', 128)],
  ['[::]', literal('::', 'unspecified', 128)],
  ['[fd12::1]', literal('fd12::1', 'private', 128)],
  ['[fe80::1]', literal('fe80::1', 'link-local', 128)],
  ['[ff02::1]', literal('ff02::1', 'multicast', 128)],
  // Spellings of one address, as a token URL may have them.
  ['127.1', literal('127.0.0.1', 'loopback')],
  ['2130706433', literal('127.0.0.1', 'loopback')],
  ['0x7f000001', literal('127.0.0.1', 'loopback')],
  ['017700000001', literal('127.0.0.1', 'loopback')],
  ['0177.0.0.1', literal('127.0.0.1', 'loopback')],
  ['127.0.0.1.', literal('127.0.0.1', 'loopback')],
  ['127。0。0。1', literal('127.0.0.1', 'loopback')],
  ['%31%32%37.0.0.1', literal('127.0.0.1', 'loopback')],
  ['0', literal('0.0.0.0', 'unspecified')],
  [
    '[::ffff:127.0.0.1]',
    `::ffff:7f00:1 is an IPv4 address in IPv6 form. ${REFUSED}; use the IPv4 address.`,
  ],
  ['[64:ff9b::10.1.2.3]', literal('64:ff9b::a01:203', 'an IPv4 address behind NAT64', 128)],
  ['[2002:a01:203::1]', literal('2002:a01:203::1', 'an IPv4 address behind 6to4', 128)],
  ['[::ffff:0:7f00:1]', literal('::ffff:0:7f00:1', 'an IPv4 address in IPv6 form', 128)],
  // Metadata services, in every spelling.
  ['169.254.169.254', metadata('169.254.169.254')],
  ['2852039166', metadata('169.254.169.254')],
  ['0xa9fea9fe', metadata('169.254.169.254')],
  ['0251.0376.0251.0376', metadata('169.254.169.254')],
  ['169.254.43518', metadata('169.254.169.254')],
  ['169.254.170.2', metadata('169.254.170.2')],
  ['168.63.129.16', metadata('168.63.129.16')],
  ['100.100.100.200', metadata('100.100.100.200')],
  ['192.0.0.192', metadata('192.0.0.192')],
  ['[fd00:ec2::254]', metadata('[fd00:ec2::254]')],
  ['[fd00:ec2:0:0:0:0:0:254]', metadata('[fd00:ec2::254]')],
  ['[::ffff:169.254.169.254]', metadata('[::ffff:a9fe:a9fe]')],
  ['[64:ff9b::169.254.169.254]', metadata('[64:ff9b::a9fe:a9fe]')],
  ['[2002:a9fe:a9fe::1]', metadata('[2002:a9fe:a9fe::1]')],
  ['metadata.google.internal', metadata('metadata.google.internal')],
  ['METADATA.google.internal.', metadata('metadata.google.internal')],
  ['instance-data.ec2.internal', metadata('instance-data.ec2.internal')],
  // Names.
  ['api.example.com', null],
  ['mixed.example.com', null],
  ['unknown.example.com', null],
  [
    'private.example.com',
    `private.example.com resolves only to addresses that are not public (10.1.2.3). ${allow('10.1.2.3/32')}`,
  ],
  [
    'many.example.com',
    `many.example.com resolves only to addresses that are not public (10.0.0.1, 10.0.0.2, 10.0.0.3). ${allow('10.0.0.1/32')}`,
  ],
  [
    'six.example.com',
    `six.example.com resolves only to addresses that are not public (fd12::1). ${allow('fd12::1/128')}`,
  ],
  [
    'nat64.example.com',
    `nat64.example.com resolves only to addresses that are not public (64:ff9b::a01:203). ${allow('64:ff9b::a01:203/128')}`,
  ],
  [
    'imds.example.com',
    `imds.example.com resolves to a cloud metadata service (169.254.169.254). ${never}`,
  ],
  [
    'imds-nat64.example.com',
    `imds-nat64.example.com resolves to a cloud metadata service (64:ff9b::a9fe:a9fe). ${never}`,
  ],
  [
    'imds-and-private.example.com',
    `imds-and-private.example.com resolves only to addresses that are not public (169.254.169.254, 10.1.2.3). ${allow('10.1.2.3/32')}`,
  ],
  [
    'localhost',
    `localhost resolves only to addresses that are not public (127.0.0.1, ::1). ${allow('127.0.0.1/32')}`,
  ],
  [
    'LOCALHOST.',
    `localhost resolves only to addresses that are not public (127.0.0.1, ::1). ${allow('127.0.0.1/32')}`,
  ],
  [
    'db.corp.internal',
    `db.corp.internal resolves only to addresses that are not public (10.9.9.9). ${allow('10.9.9.9/32')}`,
  ],
  ['public.internal', null],
  ['other.internal', `other.internal is a private name. ${unknown}`],
  ['nas.local', `nas.local is a private name. ${unknown}`],
  ['api.home.arpa', `api.home.arpa is a private name. ${unknown}`],
  ['internal', `internal is a private name. ${unknown}`],
  ...[
    'kubernetes.default.svc',
    'db.svc',
    'vault',
    'intranet',
    'ip6-localhost',
    'redis-master',
    'db.private',
    'printer.lan',
    'wiki.corp',
    'vault.',
    'VAULT',
  ].map((host): readonly [string, string] => {
    const name = host.toLowerCase().replace(/\.$/, '')
    return [host, `${name} is a private name. ${unknown}`]
  }),
  ['api.notinternal', null],
  ['svc.example.com', null],
  ['internal.example.com', null],
]

for (const member of ['base_url', 'auth.token_url'])
  test(`a ${member} that the egress filter would refuse is named, and what to do`, async () => {
    for (const [host, warning] of ROWS)
      for (const scheme of ['http', 'https']) {
        const url = `${scheme}://${host}/v1`
        const found = await egressWarnings(rules(), [
          { member, url, is_call: member === 'base_url' },
        ])
        assert.deepEqual(found, warning === null ? [] : [`${member}: ${warning}`], url)
      }
  })

/** What is allowed, the host, and whether there is a warning. */
const ALLOWED: readonly (readonly [string, string, boolean])[] = [
  ['10.0.0.0/8', '10.1.2.3', false],
  ['10.0.0.0/8', 'private.example.com', false],
  ['10.0.0.0/8', '192.168.1.1', true],
  ['10.1.0.0/16', '10.2.0.1', true],
  ['127.0.0.0/8', 'localhost', false],
  ['127.0.0.0/8', '[::1]', true],
  ['::1/128', 'localhost', false],
  ['fd00::/8', 'six.example.com', false],
  ['10.0.0.0/8', 'imds-and-private.example.com', false],
  // The address of an unknown name is not known here.
  ['10.0.0.0/8', 'other.internal', false],
  ['0.0.0.0/0', '169.254.169.254', true],
  ['::/0', '[64:ff9b::a9fe:a9fe]', true],
  ['0.0.0.0/0', 'imds.example.com', true],
  ['::ffff:0:0/96', '[::ffff:7f00:1]', true],
]

test('a webhook with a private name is stored with the same warning, which names its own setting', async () => {
  const ofWebhooks = rules([], { setting: 'AGW_WEBHOOK_ALLOW_CIDRS' })
  const rows = ROWS.filter(
    ([host]) => checkWebhookUrl(`https://${host}/`, ofWebhooks.policy) === null,
  )
  assert.ok(rows.filter(([, warning]) => warning !== null).length >= 20)
  for (const [host, warning] of rows) {
    const found = await warningsOfWebhook(ofWebhooks, `https://${host}/hook/secret`)
    const expected = warning?.replace('AGW_EGRESS_ALLOW_CIDRS', 'AGW_WEBHOOK_ALLOW_CIDRS')
    assert.deepEqual(found, expected === undefined ? [] : [`url: ${expected}`], host)
    assert.ok(!found.join().includes('secret'))
  }
})

test('an allowed range ends the warning for its addresses, and for no metadata service', async () => {
  for (const [range, host, is_warned] of ALLOWED) {
    const url = `http://${host}/`
    const found = await egressWarnings(rules([range]), [{ member: 'base_url', url, is_call: true }])
    assert.equal(found.length > 0, is_warned, `${host} with ${range}: ${found.join()}`)
  }
})

test('a token request is refused by the name of a metadata service too, a call by its addresses', async () => {
  const url = 'http://metadata/'
  const allowed = rules(['10.0.0.0/8'])
  const both = [
    { member: 'base_url', url, is_call: true },
    { member: 'auth.token_url', url, is_call: false },
  ]
  assert.deepEqual(await egressWarnings(allowed, both), [`auth.token_url: ${metadata('metadata')}`])
})

test('the exempt origin has no warning, and nothing next to it is exempt', async () => {
  const exempt = rules([], { exempt_origin: 'http://127.0.0.1:8082' })
  const count = async (url: string, is_call: boolean): Promise<number> =>
    (await egressWarnings(exempt, [{ member: 'base_url', url, is_call }])).length
  assert.equal(await count('http://127.0.0.1:8082/1/v1', true), 0)
  assert.equal(await count('http://127.0.0.1:8082/1/v1', false), 1)
  assert.equal(await count('http://127.0.0.1:8083/v1', true), 1)
  assert.equal(await count('https://127.0.0.1:8082/v1', true), 1)
  assert.equal(await count('http://127.0.0.2:8082/v1', true), 1)
})

test('a name whose servers do not respond is not an error and does not delay the response', async () => {
  const silent = rules([], { resolve: () => new Promise(() => undefined) })
  const named = [{ member: 'base_url', url: 'https://api.example.com/v1', is_call: true }]
  assert.deepEqual(await egressWarnings(silent, named, 1), [])
})

test('a base URL that seems to contain a key is warned of, since every role reads it', async () => {
  const random = 'aZ3bY7cX1dW9eV5fU2gT8hS4iR6jQ0kPlOmN'
  const rows: readonly (readonly [path: string, isWarned: boolean])[] = [
    [`/bot1234567890:AA${random.slice(0, 33)}`, true],
    [`/bot1234567890%3AAA${random.slice(0, 33)}`, true],
    [`/v1/sk_live_${random.slice(0, 24)}`, true],
    [`/ghp_${random}`, true],
    [`/services/T12345678/B12345678/${random.slice(0, 24)}`, true],
    ['', false],
    ['/v1', false],
    ['/accounts/550e8400-e29b-41d4-a716-446655440000/v1', false],
    ['/openai/deployments/gpt-4o-mini-2024-07-18', false],
    ['/v2/projects/my-project-number-17/locations/europe-west1', false],
  ]
  for (const [path, isWarned] of rows) {
    const base_url = `https://api.example.com${path}`
    const warnings = await warningsOfIntegration(rules(), { base_url, auth: { type: 'none' } })
    assert.equal(warnings.length, isWarned ? 1 : 0, path)
    assert.ok(warnings.every((one) => one.startsWith('base_url: the path seems to contain a key')))
    assert.ok(!warnings.join().includes(random.slice(0, 8)))
  }
})
