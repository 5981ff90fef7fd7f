import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { buildConnector, Client } from 'undici'
import { pinnedConnector } from '../../admin/webhooks/pinned-connector.ts'
import { checkEgressProxy } from '../../cli/doctor/check-egress-proxy.ts'
import { AddressPolicy } from '../../core/egress/address-policy.ts'
import { classifyFailure } from '../../core/egress/classify-failure.ts'
import { egressProxyOf, type EgressProxySettings } from '../../core/egress/egress-proxy.ts'
import { openTunnel, tunnelConnector } from '../../core/egress/open-tunnel.ts'
import { readProxyUrl } from '../../core/egress/read-proxy-url.ts'
import { HostNotFound } from '../../core/egress/resolve-host.ts'
import { noProxyItem } from '../../core/settings/setting-kinds.ts'
import { EgressWays } from '../../ext-proc/upstream/egress-ways.ts'
import { startConnectProxy } from '../kit/start-connect-proxy.ts'
import { startWebhookReceiver } from '../kit/webhook-receiver.ts'

const settings = (more: Partial<EgressProxySettings> = {}): EgressProxySettings => ({
  egressProxy: 'http://proxy.test:3128',
  egressNoProxy: [],
  egressProxyResolves: false,
  ...more,
})

test('the address of a proxy is read with what is percent-encoded, and nothing else is one', () => {
  const good: ReadonlyArray<readonly [string, object]> = [
    ['http://proxy:80', { host: 'proxy', port: 80, user: '', password: '' }],
    ['http://proxy:3128/', { host: 'proxy', port: 3128, user: '', password: '' }],
    ['http://u%40d:p%3A%2F@[::1]:1', { host: '::1', port: 1, user: 'u@d', password: 'p:/' }],
  ]
  for (const [text, parts] of good) assert.deepEqual(readProxyUrl(text), parts)
  const bad =
    'proxy:3128 https://proxy:1 http://proxy socks5://proxy:1 http://a:b:c http://p:70000 http://p:1/x http://p:1?q http://a%3Ab:c@p:1 http://a%0d:c@p:1 http://%ff@p:1'
  for (const text of bad.split(' ')) assert.equal(readProxyUrl(text), null, text)
})

test('exceptions are domains with their subdomains, ports, literals and ranges', () => {
  const egressNoProxy = [
    'corp.example',
    '.only-below.example',
    '*.star.example',
    'port.example:8443',
    '10.0.0.0/8',
    '192.0.2.7',
    '[2001:db8::1]:443',
    '2001:db8:1::/48',
  ]
  for (const item of egressNoProxy) assert.ok(noProxyItem.parse(item).ok, item)
  for (const item of ['a b', 'http://x', '10.0.0.0/33', '*.', 'a/b'])
    assert.ok(!noProxyItem.parse(item).ok, item)
  const proxy = egressProxyOf(settings({ egressNoProxy }))
  const rows: ReadonlyArray<readonly [string, number, boolean]> = [
    ['corp.example', 443, true],
    ['API.corp.example.', 443, true],
    ['notcorp.example', 443, false],
    ['only-below.example', 443, false],
    ['a.only-below.example', 443, true],
    ['a.star.example', 443, true],
    ['port.example', 443, false],
    ['port.example', 8443, true],
    ['10.1.2.3', 80, true],
    ['11.1.2.3', 80, false],
    ['192.0.2.7', 80, true],
    ['[2001:db8::1]', 443, true],
    ['[2001:db8::1]', 80, false],
    ['2001:db8:1::5', 80, true],
    ['localhost', 80, true],
    ['x.localhost', 80, true],
    ['127.9.9.9', 80, true],
    ['[::1]', 80, true],
    ['localhost.example', 80, false],
  ]
  for (const [host, port, expected] of rows)
    assert.equal(proxy?.isExcepted(host, port), expected, `${host}:${port}`)
  assert.ok(egressProxyOf(settings({ egressNoProxy: ['*'] }))?.isExcepted('x.example', 443))
})

const NAMES: Readonly<Record<string, readonly string[]>> = {
  'public.test': ['93.184.215.14'],
  'private.test': ['10.1.2.3'],
  'mixed.test': ['93.184.215.14', '10.1.2.3'],
}

function ways(more: Partial<EgressProxySettings> = {}) {
  const asked: string[] = []
  let now_ms = 0
  const found = new EgressWays({
    proxy: egressProxyOf(settings(more)),
    policies: { listed: new AddressPolicy(['10.0.0.0/8']), unlisted: new AddressPolicy([]) },
    resolve: async (name) => {
      asked.push(name)
      const addresses = NAMES[name]
      if (addresses === undefined) throw new HostNotFound(name)
      return addresses
    },
    nowMs: () => now_ms,
  })
  const pass = (ms: number): void => {
    now_ms += ms
  }
  return { ways: found, asked, pass }
}

test('hosts for the proxy are judged here: literals, names, and unlisted hosts without the private ranges', async () => {
  const { ways: found } = ways()
  const rows: ReadonlyArray<readonly [string, boolean, string]> = [
    ['public.test', false, 'proxied'],
    ['private.test', false, 'proxied'],
    ['private.test', true, 'address_denied'],
    ['mixed.test', true, 'address_denied'],
    ['unknown.test', false, 'dns_failed'],
    ['metadata.google.internal', false, 'address_denied'],
    ['169.254.169.254', false, 'address_denied'],
    ['[::ffff:10.1.2.3]', false, 'address_denied'],
    ['[64:ff9b::a9fe:a9fe]', false, 'address_denied'],
    ['192.168.0.1', false, 'address_denied'],
    ['10.1.2.3', true, 'address_denied'],
    ['localhost', false, 'direct'],
  ]
  for (const [host, is_unlisted, expected] of rows) {
    const way = await found.wayTo(host, 443, is_unlisted)
    assert.equal(way.kind === 'refused' ? way.cause : way.kind, expected, host)
  }
})

test('where the proxy resolves, names are not looked up, and private literals are refused all the same', async () => {
  const { ways: found, asked } = ways({ egressProxyResolves: true })
  assert.deepEqual(await found.wayTo('unknown.test', 8443, true), {
    kind: 'proxied',
    connect: 'unknown.test:8443',
  })
  for (const host of ['192.168.0.1', '[fd00::1]', '169.254.169.254', 'metadata'])
    assert.equal((await found.wayTo(host, 443, false)).kind, 'refused', host)
  assert.deepEqual(asked, [])
})

test('a name is looked up once at a time, and again when its answer is old', async () => {
  const { ways: found, asked, pass } = ways()
  await Promise.all([1, 2, 3].map(async () => found.wayTo('public.test', 443, false)))
  assert.equal((await found.wayTo('public.test', 80, false)).kind, 'proxied')
  assert.deepEqual(asked, ['public.test'])
  pass(31_000)
  await found.wayTo('public.test', 443, false)
  assert.equal(asked.length, 2)
  await found.wayTo('unknown.test', 443, false)
  pass(3_000)
  await found.wayTo('unknown.test', 443, false)
  assert.equal(asked.length, 4)
})

test('names of unlisted hosts do not displace those of integrations', async () => {
  const { ways: found, asked } = ways()
  await found.wayTo('public.test', 443, false)
  for (let i = 0; i < 8_200; i++) await found.wayTo(`u${i}.test`, 443, true)
  const before = asked.length
  assert.ok(!((await found.wayTo('public.test', 443, false)) instanceof Promise))
  assert.equal(asked.length, before)
  await found.wayTo('u0.test', 443, true)
  assert.equal(asked.length, before + 1)
})

test('agw doctor says what a proxy does with private targets, and nothing about its password', async () => {
  const proxy = await startConnectProxy('user', 'pass word')
  try {
    const check = (egressProxy: string, egressProxyResolves: boolean) =>
      checkEgressProxy(settings({ egressProxy, egressProxyResolves }))
    const states = async (url: string, resolves: boolean): Promise<readonly string[]> =>
      (await check(url, resolves)).map(({ state }) => state)
    for (const to of ['localhost:443', '10.0.0.1:443', '169.254.169.254:80']) proxy.deny(to, 403)
    assert.deepEqual(await states(proxy.url, false), ['ok'])
    assert.deepEqual(await states(proxy.url, true), ['ok'])
    proxy.deny('10.0.0.1:443', 503)
    assert.deepEqual(await states(proxy.url, true), ['warning'])
    proxy.deny('10.0.0.1:443', 200)
    assert.deepEqual(await states(proxy.url, true), ['failed'])
    const wrong = await check(`http://user:another@127.0.0.1:${proxy.port}`, true)
    assert.match(JSON.stringify(wrong), /refuses the user and password/)
    assert.ok(!JSON.stringify(wrong).includes('another'))
    const tunnel = openTunnel(
      egressProxyOf(settings({ egressProxy: 'http://u:secret-1@127.0.0.1:1' }))!,
      'public.test',
      443,
      1_000,
    )
    await assert.rejects(tunnel, (error: Error) => !JSON.stringify(error).includes('secret-1'))
  } finally {
    await proxy.stop()
  }
  assert.match(
    JSON.stringify(await checkEgressProxy(settings({ egressProxy: proxy.url }))),
    /does not respond/,
  )
})

test('clients of undici connect through the proxy, with TLS to the receiver and without', async () => {
  const proxy = await startConnectProxy('user', 'pass word')
  const receiver = await startWebhookReceiver(['receiver.test'])
  const plain = createServer((_, response) => response.end('plain'))
  await new Promise<void>((resolve) => plain.listen(0, '127.0.0.1', resolve))
  const egress = egressProxyOf(settings({ egressProxy: proxy.url }))
  assert.ok(egress !== null)
  const statusOf = async (origin: string, ca: string): Promise<number | string> => {
    const client = new Client(origin, {
      connect: tunnelConnector(egress, buildConnector({ ca }), 5_000),
    })
    const answer = await client
      .request({ method: 'POST', path: '/x', body: '{}' })
      .catch((error: unknown) => classifyFailure(error))
    await client.destroy()
    return typeof answer === 'string' ? answer : answer.statusCode
  }
  const secure = `https://receiver.test:${receiver.port}`
  const { port } = plain.address() as AddressInfo
  try {
    assert.equal(await statusOf(secure, receiver.certificates.ca), 204)
    assert.equal(await statusOf(secure, ''), 'tls_failed')
    assert.equal(await statusOf(`http://receiver.test:${port}`, ''), 200)
    proxy.deny(`receiver.test:${port}`, 403)
    assert.equal(await statusOf(`http://receiver.test:${port}`, ''), 'proxy_refused')
  } finally {
    plain.close()
    await Promise.all([receiver.stop(), proxy.stop()])
  }
})

test('of several addresses of a receiver, the next is tried if one cannot be connected to', async () => {
  const plain = createServer((_, response) => response.end())
  await new Promise<void>((resolve) => plain.listen(0, '127.0.0.1', resolve))
  const { port } = plain.address() as AddressInfo
  const connect = pinnedConnector(new AddressPolicy(['127.0.0.0/8']), async () => [
    '127.0.0.9',
    '127.0.0.1',
  ])
  const client = new Client(`http://several.test:${port}`, { connect })
  try {
    assert.equal((await client.request({ method: 'GET', path: '/' })).statusCode, 200)
  } finally {
    await client.destroy()
    plain.close()
  }
})
