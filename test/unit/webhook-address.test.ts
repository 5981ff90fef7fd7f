import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { AddressPolicy } from '../../core/egress/address-policy.ts'
import { checkWebhookUrl } from '../../admin/webhooks/check-webhook-url.ts'

const strict = new AddressPolicy([])

const REFUSED_ADDRESSES = [
  ['this network', '0.0.0.0', '0.1.2.3'],
  ['loopback', '127.0.0.1', '127.255.255.254', '::1'],
  ['private', '10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1', 'fc00::1', 'fd12:3456::1'],
  ['carrier-grade NAT', '100.64.0.1', '100.127.255.255'],
  ['link-local', '169.254.0.1', 'fe80::1', 'febf::1'],
  ['site-local', 'fec0::1'],
  ['multicast', '224.0.0.1', '239.255.255.255', 'ff02::1'],
  [
    'reserved and broadcast',
    '240.0.0.1',
    '255.255.255.255',
    '192.0.0.1',
    '4000::1',
    '5f00::1',
    '8000::1',
  ],
  ['documentation', '192.0.2.1', '198.51.100.1', '203.0.113.1', '2001:db8::1', '3fff::1'],
  ['benchmarking', '198.18.0.1', '198.19.255.255', '2001:2::1'],
  ['6to4 relays', '192.88.99.1'],
  ['AS112 and AMT', '192.31.196.1', '192.175.48.1', '192.52.193.1', '2620:4f:8000::1'],
  [
    'metadata',
    '169.254.169.254',
    '169.254.170.2',
    '168.63.129.16',
    '100.100.100.200',
    'fd00:ec2::254',
  ],
  ['IPv4-mapped', '::ffff:127.0.0.1', '::ffff:7f00:1', '::ffff:8.8.8.8', '0:0:0:0:0:ffff:a00:1'],
  ['IPv4-compatible', '::127.0.0.1', '::7f00:1', '::8.8.8.8'],
  ['IPv4-translated', '::ffff:0:7f00:1'],
  ['NAT64', '64:ff9b::7f00:1', '64:ff9b::127.0.0.1', '64:ff9b:1::a00:1'],
  ['6to4', '2002:7f00:1::1', '2002:a00:1::', '2002:808:808::1'],
  ['Teredo', '2001::1', '2001:0:4136:e378:8000:63bf:3fff:fdd2'],
  ['ORCHID and other assignments', '2001:10::1', '2001:20::1', '2001:1::1', '2001:1ff::1'],
  ['discard', '100::1'],
  ['unspecified', '::'],
  [
    'no address',
    '',
    'localhost',
    '1.2.3',
    '0x7f.0.0.1',
    '127.1',
    '2130706433',
    'fe80::1%eth0',
    '010.0.0.1',
  ],
] as const

test('threat: SSRF; no address that is not public unicast may be connected to', () => {
  for (const [what, ...addresses] of REFUSED_ADDRESSES)
    for (const address of addresses)
      assert.notEqual(strict.refusalOfAddress(address), null, `${what}: ${address}`)
})

test('public addresses may be connected to', () => {
  for (const address of [
    '8.8.8.8',
    '1.1.1.1',
    '172.32.0.1',
    '100.128.0.1',
    '2606:4700::1111',
    '2a00:1450::1',
    '2003::1',
  ])
    assert.equal(strict.refusalOfAddress(address), null, address)
})

test('an allowed range allows its own addresses, in its own family, and never a metadata service', () => {
  const policy = new AddressPolicy(['10.1.0.0/16', '100.64.0.0/10', '169.254.0.0/16', 'fd00::/8'])
  for (const address of ['10.1.2.3', '100.64.0.1', '169.254.1.1', 'fd12::1'])
    assert.equal(policy.refusalOfAddress(address), null, address)
  for (const address of [
    '10.2.0.1',
    '169.254.169.254',
    '100.100.100.200',
    'fd00:ec2::254',
    '::ffff:10.1.2.3',
    'fe80::1',
  ])
    assert.notEqual(policy.refusalOfAddress(address), null, address)
})

test('every spelling of a refused host is refused in a URL', () => {
  const hosts = [
    '127.0.0.1',
    '127.1',
    '0x7f.0.0.1',
    '0x7f000001',
    '2130706433',
    '017700000001',
    '0177.0.0.1',
    '127.0.0.1.',
    '127。0。0。1',
    '１２７.0.0.1',
    '%31%32%37.0.0.1',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '[0:0:0:0:0:ffff:7f00:1]',
    '[64:ff9b::169.254.169.254]',
    '[2002:a9fe:a9fe::]',
    '169.254.169.254',
    '0xa9fea9fe',
    '2852039166',
    '0',
    'metadata.google.internal',
    'METADATA.google.internal.',
    'metadata',
    'instance-data.ec2.internal',
  ]
  for (const host of hosts)
    assert.notEqual(checkWebhookUrl(`https://${host}/hook`, strict), null, host)
})

test('only plain https URLs are taken', () => {
  const refused = [
    'http://example.com/',
    'HTTP://example.com/',
    'ftp://example.com/',
    'file:///etc/passwd',
    'javascript:alert(1)',
    '//example.com/',
    'example.com',
    'https:///example.com',
    'https:example.com',
    'https:/example.com',
    'https:\\\\example.com',
    'https://',
    'https://user@example.com/',
    'https://:pass@example.com/',
    'https://example.com/#fragment',
    'https://example.com/#',
    ' https://example.com/',
    'https://exam\tple.com/',
    'https://example.com/\n',
    'https://example.com:99999/',
    'https://[::1',
  ]
  for (const url of refused) assert.notEqual(checkWebhookUrl(url, strict), null, url)
  for (const url of [
    'https://example.com',
    'HTTPS://Example.com:8443/a?b=c%20d',
    'https://bücher.example/ü',
    'https://8.8.8.8/',
  ])
    assert.equal(checkWebhookUrl(url, strict), null, url)
})

test('of all IPv6 addresses only 2000::/3 can be allowed without a setting, and every mapped one is refused', () => {
  const group = fc.integer({ min: 0, max: 0xffff })
  fc.assert(
    fc.property(fc.tuple(group, group, group, group, group, group, group, group), (groups) => {
      const address = groups.map((value) => value.toString(16)).join(':')
      const [first] = groups
      if (first < 0x2000 || first > 0x3fff) assert.notEqual(strict.refusalOfAddress(address), null)
    }),
  )
  fc.assert(
    fc.property(fc.ipV4(), (address) => {
      assert.notEqual(strict.refusalOfAddress(`::ffff:${address}`), null)
      assert.notEqual(strict.refusalOfAddress(`::${address}`), null)
      assert.notEqual(strict.refusalOfAddress(`64:ff9b::${address}`), null)
    }),
  )
})
