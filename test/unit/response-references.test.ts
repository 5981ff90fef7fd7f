import assert from 'node:assert/strict'
import { hostname, networkInterfaces } from 'node:os'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Header } from '../../core/request/header.ts'
import { parseTarget } from '../../core/request/parse-target.ts'
import type { GatewayAddress } from '../../ext-proc/response/gateway-address.ts'
import { judgeHeaders } from '../../ext-proc/response/judge-headers.ts'
import type { CallPlace } from '../../ext-proc/response/judge-reference.ts'
import { repetitions } from '../kit/repetitions.ts'
import { aPlace, GATEWAY } from './place-kit.ts'
import { anIntegration } from './policy-kit.ts'

const PATH = '/https://api.example.com/v1/things/7?page=2'

interface Called extends Partial<Pick<CallPlace, 'is_proxied' | 'mayCall' | 'method'>> {
  readonly path?: string
  readonly authority?: string
  readonly forwarded_host?: string
  readonly gateway?: GatewayAddress
  /** The base URLs of the organization's integrations. */
  readonly base_urls?: readonly string[]
}

const placeOf = ({
  path = PATH,
  authority = 'gw.test:8080',
  forwarded_host,
  gateway = GATEWAY,
  base_urls = ['https://api.example.com/v1'],
  ...more
}: Called): CallPlace =>
  aPlace(
    path,
    base_urls.map((base_url) => anIntegration(base_url)),
    {
      called: { authority, scheme: 'http', forwarded_host: forwarded_host ?? null },
      gateway,
      ...more,
    },
  )

/** What becomes of a header: its value, or `refused: reason`. */
function judged(name: string, value: string, called: Called = {}): string {
  const result = judgeHeaders(
    [
      { name: ':status', value: '307' },
      { name, value },
    ],
    placeOf(called),
  )
  if (result.kind === 'deny') {
    assert.equal(result.denial.reason, 'redirect_refused')
    assert.equal(result.denial.details['header'], name)
    return `refused: ${String(result.denial.details['reason'])}`
  }
  return result.headers.find((header) => header.name === name)?.value ?? 'dropped'
}

/** One character a byte; what is beyond Latin-1 in UTF-8. */
const asSent = (value: string): string =>
  /^[\0-\xff]*$/.test(value) ? value : Buffer.from(value).toString('latin1')

const ADDRESS = 'refused: gateway_address'
const TARGET = 'refused: target_path'
const UNREADABLE = 'refused: unreadable'
const API = '/https://api.example.com'

/** How the same bytes are written so that clients still take them for a path that begins with `http:`. */
const TARGETS = [
  '/http://other.test/v1/secret',
  '/https://other.test/v1/secret',
  '/HTTP://other.test/',
  '/hTTpS://other.test/',
  '/http:/other.test/',
  '/http:other.test/',
  '/http%3A//other.test/',
  '/http%3a%2f%2fother.test/',
  '/%68ttp://other.test/',
  '/%48%54%54%50://other.test/',
  '/%2568ttp://other.test/',
  '/http%253A//other.test/',
  '/http%25253A//other.test/',
  '/%2525252525252568ttp:',
  '/./http://other.test/',
  '/../http://other.test/',
  '/%2e%2e/http://other.test/',
  '/a/../http://other.test/',
  '/a/%2E%2E/http://other.test/',
  '/a/..%2fhttp://other.test/',
  '/..%2f..%2fhttp://other.test/',
  '/%2fhttp://other.test/',
  '/%5chttp://other.test/',
  '/;/http://other.test/',
  '/..;/http://other.test/',
  '\\http://other.test/',
  '/\thttp://other.test/',
  '/h\tttp://other.test/',
  '\t/http://other.test/',
  ' /http://other.test/',
  '/ http://other.test/',
  '/%20http://other.test/',
  '/%09http://other.test/',
  '/\x01http://other.test/',
  '/\xa0http://other.test/',
  '/http\t:/\t/other.test/',
  '/http:\\\\other.test/',
  '/http:/\\other.test/',
  '/\uFF48ttp://other.test/',
  '/%EF%BD%88ttp://other.test/',
  '/http%EF%BC%9A//other.test/',
  '../../http://other.test/',
  '../../../../../../http://other.test/',
  '..\\..\\http://other.test/',
  '%2e%2e/../http://other.test/',
  './../../http://other.test/',
  'x/../../../http://other.test/',
  '/http://other.test/?a=b#c',
] as const

for (const value of TARGETS)
  test(`a redirect to another API through the gateway is refused: ${JSON.stringify(value)}`, () => {
    const bytes = asSent(value)
    assert.equal(judged('location', bytes), TARGET)
    assert.equal(judged('refresh', `0; url=${bytes}`), TARGET)
    assert.equal(judged('link', `<https://a.test/>; rel=prev, <${bytes}>; rel=next`), TARGET)
    assert.equal(judged('content-location', bytes), TARGET)
  })

/** Absolute references to another API through whatever name the gateway may have. */
for (const value of [
  'http://attacker-controlled-name.test:8080/http://other.test/',
  'https://api.example.com/https://other.test/',
  '//api.example.com/http://other.test/',
  'http://192.0.2.7/%68ttp%3a//other.test/',
  'http://a.test:1/a/../HTTPS:/other.test/',
  'http://user:pw@a.test/http://other.test/',
])
  test(`a path that is a target is refused at any host, which DNS may point at the gateway: ${value}`, () => {
    assert.equal(judged('location', value), TARGET)
    assert.equal(judged('link', `<${value}>; rel="next"`), TARGET)
  })

const HERE: readonly (readonly [string, Called?])[] = [
  ['http://gw.test:8080/admin/agents'],
  ['https://gw.test:8080/x'],
  ['//gw.test:8080/x'],
  ['\\\\gw.test:8080/x'],
  ['/\\gw.test:8080/x'],
  ['\\/gw.test:8080/x'],
  ['/\t/gw.test:8080/x'],
  ['http:\\\\gw.test:8080/x'],
  ['HTTP://GW.TEST:8080/x'],
  ['http://gw.test.:8080/x'],
  ['http://gw.test:08080/x'],
  ['http://gw%2Etest:8080/x'],
  ['http://%67w.test:8080/x'],
  ['http://gw\u3002test:8080/x'],
  ['http://\uFF47w.test:8080/x'],
  ['http://user:pw@gw.test:8080/x'],
  ['http://good.test\\@gw.test:8080/x', { authority: 'good.test' }],
  ['http://gw.test:8080?x'],
  ['http://gw.test:8080#x'],
  ['http://gw.test:8081/dashboard'],
  ['http://127.0.0.1:8080/x'],
  ['http://127.0.0.1:8081/x'],
  ['http://localhost:8080/x'],
  ['http://LOCALHOST.:8080/x'],
  ['http://anything.localhost:8080/x'],
  ['http://127.1:8080/x'],
  ['http://127.8.9.10:8080/x'],
  ['http://2130706433:8080/x'],
  ['http://0x7f000001:8080/x'],
  ['http://0x7f.1:8080/x'],
  ['http://017700000001:8080/x'],
  ['http://0177.0.0.1:8080/x'],
  ['http://127.0.0.1.:8080/x'],
  ['http://0:8080/x'],
  ['http://0.0.0.0:8080/x'],
  ['http://[::1]:8080/x'],
  ['http://[::]:8080/x'],
  ['http://[0:0:0:0:0:0:0:1]:8080/x'],
  ['http://[::ffff:127.0.0.1]:8080/x'],
  ['http://[::ffff:7f00:1]:8080/x'],
  ['http://[64:ff9b::7f00:1]:8080/x'],
  ['http://[::127.0.0.1]:8080/x'],
  ['http://\u2460\u2461\u2466.0.0.1:8080/x'],
  ['http://1\u00b2\u20777.0.0.1:8080/x'.replace('1\u00b2\u20777', '12\u2077')],
  ['http://gw.test/x', { authority: 'gw.test' }],
  ['https://gw.test/x', { authority: 'gw.test' }],
  ['https://gw.test:443/x', { authority: 'gw.test' }],
  ['http://gw.test:80/x', { authority: 'GW.test.' }],
  ['https://public.test/x', { forwarded_host: 'public.test' }],
  // Whatever they are: each would be compared with each reference.
  ['https://elsewhere.test/x', { forwarded_host: ','.repeat(16) }],
  ['https://public.test:8443/x', { forwarded_host: 'first.test, public.test:8443' }],
  ['http://localhost:9999/x', { authority: '127.0.0.1:9999' }],
  ['http://127.0.0.1:9999/x', { authority: 'localhost:9999' }],
  ['http://[::1]:9999/x', { authority: '[::1]:9999' }],
  ['http://b\u00fccher.test:8080/x', { authority: 'xn--bcher-kva.test:8080' }],
  [
    'http://gateway.internal:8080/x',
    { gateway: { hosts: ['gateway.internal'], ports: [8080], proxy_url: null } },
  ],
]

for (const [value, called] of HERE)
  test(`a redirect to the gateway's own address is refused: ${JSON.stringify(value)} of ${called?.authority ?? 'gw.test:8080'}`, () => {
    const raw = asSent(value)
    assert.match(judged('location', raw, called), /^refused: (?:gateway_address|unreadable)$/)
    assert.match(
      judged('content-location', raw, called),
      /^refused: (?:gateway_address|unreadable)$/,
    )
    if (!/[^ -~]/.test(raw)) assert.equal(judged('location', raw, called), ADDRESS)
  })

test('bound to every address, the gateway knows those of its machine, and its name', () => {
  const gateway = { hosts: ['0.0.0.0'], ports: [8080], proxy_url: null }
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? [])
  for (const { address, family } of addresses.filter(
    (one) => one.scopeid === undefined || one.scopeid === 0,
  )) {
    const host = family === 'IPv6' ? `[${address}]` : address
    assert.equal(judged('location', `http://${host}:8080/x`, { gateway }), ADDRESS, address)
  }
  assert.equal(judged('location', `http://${hostname()}:8080/x`, { gateway }), ADDRESS)
  assert.equal(
    judged('location', 'http://192.0.2.77:8080/x', { gateway }),
    'http://gw.test:8080/http://192.0.2.77:8080/x',
  )
})

for (const [value, expected] of [
  ['/v1/other', `${API}/v1/other`],
  ['other', `${API}/v1/things/other`],
  ['../7b', `${API}/v1/7b`],
  ['../../../../7b', `${API}/7b`],
  ['./', `${API}/v1/things/`],
  ['?page=3', `${API}/v1/things/7?page=3`],
  ['#part', `${API}/v1/things/7?page=2#part`],
  ['/v1/a b', `${API}/v1/a%20b`],
  ['/v1/caf\xc3\xa9', `${API}/v1/caf%C3%A9`],
  ['/v1/x?next=/http://other.test/', `${API}/v1/x?next=/http://other.test/`],
  ['/v1/x#/http://other.test/', `${API}/v1/x#/http://other.test/`],
  ['/v1/http://other.test/', `${API}/v1/http://other.test/`],
  ['//api.example.com/v1/x', `${API}/v1/x`],
  ['\\v1\\x', `${API}/v1/x`],
  ['/admin/agents', `${API}/admin/agents`],
  ['/', `${API}/`],
  ['/httpbin/get', `${API}/httpbin/get`],
  ['', ''],
  // A reference whose first segment holds a colon is not a URL of its own.
  ['v1:things', 'v1:things'],
  ['./v1:things', `${API}/v1/things/v1:things`],
] as const)
  test(`a relative redirect stays with its API: ${JSON.stringify(value)}`, () => {
    assert.equal(judged('location', value), expected)
  })

for (const [path, prefix] of [
  ['/https://api.example.com', '/https://api.example.com'],
  ['/https://api.example.com/', '/https://api.example.com'],
  ['/https://api.example.com?a=b', '/https://api.example.com'],
  ['/https:/api.example.com/v1', '/https:/api.example.com'],
  ['/HTTPS://API.Example.com/v1', '/HTTPS://API.Example.com'],
  ['/https%3A//api.example.com%3A8443/v1', '/https%3A//api.example.com%3A8443'],
  ['/https://api.example.com:443/v1', '/https://api.example.com:443'],
  ['/http://127.0.0.1:9000/v1?x=/v1', '/http://127.0.0.1:9000'],
  ['/https://b\xc3\xbccher.test/v1', '/https://xn--bcher-kva.test'],
] as const)
  test(`a relative redirect keeps the caller's spelling of the API: ${path}`, () => {
    const parsed = parseTarget(path)
    assert.ok(parsed.ok)
    const base_urls = [parsed.target.origin]
    assert.equal(judged('location', '/next', { path, base_urls }), `${prefix}/next`)
  })

const GATEWAY_URL = 'http://gw.test:8080'

for (const value of [
  'https://elsewhere.test/x?next=/http://a.test#b',
  'http://127.0.0.1:9000/v1/other',
  'http://localhost:3000/callback?code=1',
  'http://[2001:db8::1]/x',
  'https://elsewhere.test/',
  'https://web.archive.org/web/2020/https://example.com/',
] as const)
  test(`a URL elsewhere that a client follows becomes one of the gateway: ${value}`, () => {
    const expected = `${GATEWAY_URL}/${value}`
    assert.equal(judged('location', value), expected)
    for (const name of ['content-location', 'operation-location', 'x-goog-upload-url'])
      assert.equal(judged(name, value), expected)
    const links = `<${value}>; rel="next", <https://a.test/>; rel=author, <${value}>; rel="last"`
    assert.equal(
      judged('link', links),
      `<${expected}>; rel="next", <https://a.test/>; rel=author, <${expected}>; rel="last"`,
    )
    const gateway = { ...GATEWAY, proxy_url: 'https://public.test' }
    assert.equal(judged('location', value, { gateway }), `https://public.test/${value}`)
    // A client that names the API as Host: what it calls the gateway is not known.
    assert.equal(judged('location', value, { authority: 'api.example.com' }), `/${value}`)
  })

for (const value of [
  'mailto:someone@example.com',
  'myapp://callback?code=1',
  'urn:uuid:1',
] as const)
  test(`a URL of another scheme passes as it is: ${value}`, () => {
    assert.equal(judged('location', value), value)
    assert.equal(judged('content-location', value), value)
    assert.equal(judged('link', `<${value}>; rel="next"`), `<${value}>; rel="next"`)
  })

test('an absolute URL of the API itself leads through the gateway', () => {
  const value = 'https://api.example.com/v1/things?page=3'
  assert.equal(judged('location', value), `${API}/v1/things?page=3`)
  assert.equal(judged('operation-location', value), `${GATEWAY_URL}/${value}`)
  const next = '<https://api.example.com/v1/things?page=3>; rel="next"'
  assert.equal(judged('link', next), `<${GATEWAY_URL}/${value}>; rel="next"`)
  assert.equal(judged('x-next-page', value), value)
  const rewrites = {
    ...anIntegration('https://api.example.com/v1'),
    rewrite_headers: ['x-next-page'],
  }
  const place = aPlace(PATH, [rewrites])
  const result = judgeHeaders([{ name: 'x-next-page', value }], place)
  assert.ok(result.kind === 'pass')
  assert.equal(result.headers[0]?.value, `${GATEWAY_URL}/${value}`)
})

const OWN = anIntegration('https://api.example.com/v1')
const OTHER = anIntegration('https://other.test')
const LISTING = {
  ...OWN,
  also_hosts: [
    { host: 'cdn.test', methods: ['GET'], paths: ['/**'], credential: false as const },
    { host: '*.files.test', methods: ['GET'], paths: ['/**'], credential: false as const },
  ],
}

test('a redirect to another integration passes where the client follows it by a GET that a scope allows', () => {
  const value = 'https://other.test/x'
  const rows: readonly (readonly [
    status: string,
    method: string,
    mayGet: boolean,
    passes: boolean,
  ])[] = ['301', '302', '303', '307', '308'].flatMap((status) =>
    ['GET', 'HEAD', 'POST', 'PUT', 'DELETE'].map((method) => {
      const isPost = method === 'POST' && (status === '301' || status === '302')
      return [
        status,
        method,
        true,
        isPost || status === '303' || /^(?:GET|HEAD)$/.test(method),
      ] as const
    }),
  )
  for (const [status, method, mayGet, passes] of [...rows, ['302', 'GET', false, false] as const])
    for (const is_proxied of [false, true]) {
      const place = aPlace(PATH, [OWN, OTHER], {
        method,
        is_proxied,
        mayCall: (as) => mayGet && as === 'GET',
      })
      const headers = [
        { name: ':status', value: status },
        { name: 'location', value },
      ]
      const result = judgeHeaders(headers, place)
      assert.equal(result.kind, passes ? 'pass' : 'deny', `${status} ${method} ${is_proxied}`)
      if (result.kind === 'pass')
        assert.equal(result.headers[1]?.value, is_proxied ? value : `${GATEWAY_URL}/${value}`)
    }
})

test('a redirect to another integration passes after no call that some clients would repeat there', () => {
  for (const status of ['301', '302', '303'])
    for (const is_proxied of [false, true])
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
        const place = aPlace(PATH, [OWN, OTHER], { method, is_proxied, mayCall: () => true })
        const headers = [
          { name: ':status', value: status },
          { name: 'location', value: 'https://other.test/x' },
        ]
        assert.equal(judgeHeaders(headers, place).kind, 'deny', `${status} ${method}`)
      }
})

test('a redirect to a host that the answering integration lists passes, whatever the method', () => {
  for (const is_proxied of [false, true])
    for (const [value, passes] of [
      ['https://cdn.test/x', true],
      ['https://a.files.test/x', true],
      ['https://other.test/x', false],
      ['https://listed.test/x', false],
    ] as const) {
      const foreign = {
        ...OTHER,
        also_hosts: [
          { host: 'listed.test', methods: ['GET'], paths: ['/**'], credential: false as const },
        ],
      }
      const place = aPlace(PATH, [LISTING, foreign], { is_proxied })
      const headers = [
        { name: ':status', value: '307' },
        { name: 'location', value },
      ]
      assert.equal(judgeHeaders(headers, place).kind, passes ? 'pass' : 'deny', value)
    }
})

test('the URL of a next call that leads to another integration is left out', () => {
  const place = aPlace(PATH, [OWN, OTHER], { mayCall: () => true })
  for (const [name, value] of [
    ['link', '<https://other.test/x>; rel="next"'],
    ['operation-location', 'https://other.test/x'],
  ] as const) {
    const result = judgeHeaders([{ name, value }], place)
    assert.deepEqual(result, { kind: 'pass', headers: [], left_out: [name] })
  }
})

test('through the forward proxy too, only what clients follow by GET leads to another integration', () => {
  const to = 'https://other.test/x'
  const rows: readonly (readonly [
    name: string,
    value: string,
    fate: 'pass' | 'left_out' | 'deny',
  ])[] = [
    ['refresh', `0; url=${to}`, 'pass'],
    ['link', `<${to}>; rel="next", <${to}>; rel=prev`, 'pass'],
    ['link', `<${to}>; rel="next", <${to}>; rel="webmention"`, 'deny'],
    ['link', `<${to}>; rel="next"; x="<${to}>"`, 'left_out'],
    ['link', `<${to}>; rel="http://www.w3.org/ns/ldp#inbox"`, 'deny'],
    ['x-goog-upload-url', to, 'left_out'],
    ['operation-location', to, 'left_out'],
    ['x-upload', to, 'left_out'],
    ['x-storage-url', to, 'deny'],
    ['www-authenticate', `Bearer realm="${to}"`, 'pass'],
    ['proxy-authenticate', `Bearer realm="${to}"`, 'deny'],
  ]
  for (const [name, value, fate] of rows) {
    const place = aPlace(PATH, [{ ...OWN, rewrite_headers: ['x-upload'] }, OTHER], {
      is_proxied: true,
      mayCall: () => true,
    })
    const headers = [{ name, value }]
    const result = judgeHeaders(headers, place)
    const seen =
      result.kind === 'deny' ? 'deny' : result.left_out.includes(name) ? 'left_out' : 'pass'
    assert.equal(seen, fate, `${name}: ${value}`)
    if (seen === 'pass') assert.deepEqual(result.kind === 'pass' && result.headers, headers)
  }
})

for (const [value, expected] of [
  ['//elsewhere.test/x', 'https://elsewhere.test/x'],
  ['\\\\elsewhere.test\\x', 'https://elsewhere.test/x'],
  ['https:\\\\elsewhere.test\\x', 'https://elsewhere.test/x'],
  ['ht\ttps://else\twhere.test/x', 'https://elsewhere.test/x'],
  [' https://elsewhere.test/x ', 'https://elsewhere.test/x'],
  ['http://gw.test:8080\\@elsewhere.test/x', ADDRESS],
  ['http://elsewhere.test\\@gw.test:8080/x', 'http://elsewhere.test/@gw.test:8080/x'],
  ['http://gw.test:8080@elsewhere.test/x', UNREADABLE],
  ['https://elsewhere.test/caf\xe9', 'https://elsewhere.test/caf%E9'],
  ['https://0x7f.1:9000/x', 'https://127.0.0.1:9000/x'],
  ['https://0127.0.0.1/x', 'https://87.0.0.1/x'],
  ['https://1.2.3/x', 'https://1.2.0.3/x'],
  ['https://[0:0::7]/x', 'https://[::7]/x'],
] as const)
  test(`an absolute redirect that clients read in different ways goes out as one reads it: ${JSON.stringify(value)}`, () => {
    const isRefused = expected.startsWith('refused:')
    assert.equal(judged('location', value), isRefused ? expected : `${GATEWAY_URL}/${expected}`)
  })

for (const value of [
  'http:/other.test/',
  'https:other.test/',
  'http:',
  'https:/\\other.test/'.replace('/\\', '/'),
  'http://',
  'http://[::1',
  '//[x/',
  'http://a b.test/',
  `http://${'\u4e00'.repeat(255)}/`,
  `//${'%e4%b8%80'.repeat(85)}/`,
  'http://1.2.3.4.5/',
  'http://256.0.0.1/',
  'http://elsewhere.test:99999/',
  'http://elsewhere.test:80a/',
  'x\x01y://elsewhere.test/'.replace('x\x01y', 'xy:\x01'),
] as const)
  test(`what cannot be read is refused: ${JSON.stringify(value)}`, () => {
    assert.equal(judged('location', value), UNREADABLE)
    assert.equal(judged('content-location', value), UNREADABLE)
  })

test('of several different redirects, in which clients differ, none goes out', () => {
  const place = placeOf({})
  const of = (...values: string[]): readonly Header[] =>
    values.map((value) => ({ name: 'location', value }))
  const differing = judgeHeaders(of('/a', '/b'), place)
  assert.equal(differing.kind === 'deny' && differing.denial.details['reason'], 'repeated')
  assert.equal(judgeHeaders(of('/a', '/http://other.test/'), place).kind, 'deny')
  const same = judgeHeaders(of('/a', '/a'), place)
  assert.deepEqual(same, { kind: 'pass', headers: of(`${API}/a`, `${API}/a`), left_out: [] })
})

for (const [name, value] of [
  ['content-location', '/v1/things/7.json'],
  ['content-location', 'things/7.en'],
  ['link', '</v1/things?page=3>; rel="next", <things?page=1>; rel="prev"'],
  ['link', '</style.css>; rel=preload; as=style, <//cdn.test/x.js>; rel=preload'],
  ['link', '<>; rel=self'],
  ['link', '<../8>; rel=next'],
  ['link', ''],
  ['refresh', '5'],
  ['refresh', '0; url=/v1/next'],
  ['refresh', "5;URL='https://elsewhere.test/x'"],
  ['link', '</v1/proxy/http://other.test/>; rel=via'],
] as const)
  test(`a reference that stays with the API, or leads elsewhere, goes out as it is: ${name}: ${value}`, () => {
    assert.equal(judged(name, value), value)
  })

for (const [name, value, expected] of [
  ['link', '/http://other.test/; rel=next', TARGET],
  ['link', '<https://a.test/>, </http://other.test/>; rel=next', TARGET],
  ['link', '<https://a.test/; rel=prev, </http://other.test/>; rel=next', TARGET],
  ['link', '< /http://other.test/ >; rel=next', TARGET],
  ['link', "<'/http://other.test/'>; rel=next", TARGET],
  ['link', '<../../../http://other.test/>; rel=next', TARGET],
  ['link', '<../../../../http://other.test/>; rel=next', TARGET],
  ['link', '<..%2f../%2e%2e/../http:/other.test/>; rel=next', TARGET],
  ['link', '<http://user@gw.test:8080/>; rel=next', ADDRESS],
  ['link', '<http://gw.test:8080@elsewhere.test/>; rel=next', UNREADABLE],
  ['link', '<http://elsewhere.test\\@gw.test:8080/>; rel=next', UNREADABLE],
  [
    'link',
    Array.from({ length: 300 }, (_, i) => `<https://a.test/${i}>`).join(', '),
    'refused: too_many',
  ],
  ['refresh', '0;/http://other.test/', TARGET],
  ['refresh', '0,url=/http://other.test/', TARGET],
  ['refresh', '0; URL = "/http://other.test/"', TARGET],
  ['refresh', "0;url='/http://other.test/' ", TARGET],
  ['refresh', ';/http://other.test/', TARGET],
  ['refresh', '0 /http://other.test/', TARGET],
  ['refresh', '0; url=http://localhost:8080/x', ADDRESS],
] as const)
  test(`a reference that leads back is refused: ${name}: ${value.slice(0, 60)}`, () => {
    assert.equal(judged(name, value), expected)
  })

test('whatever an API sends, a client that follows the redirect stays with the API or leaves the gateway', () => {
  const piece = fc.constantFrom(
    '/',
    '//',
    '\\',
    '..',
    '.',
    '%2e',
    '%2f',
    '%5c',
    'http:',
    'HTTPS:',
    'http',
    ':',
    '%3a',
    '@',
    '?',
    '#',
    '\t',
    ' ',
    'a',
    'gw.test:8080',
    'other.test',
    'api.example.com',
    ';',
    '%',
    '[::1]:8080',
    '127.1:8080',
    '\xe9',
  )
  const base = new URL(`http://gw.test:8080${PATH}`)
  fc.assert(
    fc.property(
      fc.array(piece, { maxLength: 9 }).map((pieces) => pieces.join('')),
      (value) => {
        const result = judged('location', value)
        if (result.startsWith('refused:')) return
        let seen: URL
        try {
          seen = new URL(result, base)
        } catch {
          // No client can follow it.
          return
        }
        // No HTTP client follows another scheme.
        if (!/^https?:$/.test(seen.protocol)) return
        if (seen.origin !== base.origin) {
          assert.notEqual(`${seen.hostname}:${seen.port}`, 'gw.test:8080')
          return
        }
        // The gateway decides a URL of another origin when it is called.
        const isElsewhere = /^http:\/\/gw\.test:8080\/https?:\/\//.test(result)
        assert.ok(
          isElsewhere || seen.pathname === API || seen.pathname.startsWith(`${API}/`),
          `${value} -> ${result}`,
        )
      },
    ),
    { numRuns: repetitions(20_000) },
  )
})

test('a status that is not final, or that HTTP does not have, is refused', () => {
  for (const value of ['101', '100', '103', '199', '1000', '2000', '20', '']) {
    const result = judgeHeaders([{ name: ':status', value }], placeOf({}))
    assert.equal(result.kind === 'deny' && result.denial.reason, 'upstream_reset', value)
  }
  for (const value of ['200', '304', '418', '599', '999'])
    assert.equal(judgeHeaders([{ name: ':status', value }], placeOf({})).kind, 'pass')
})

test('the log shows where a refused redirect leads, without its query', () => {
  const result = judgeHeaders(
    [{ name: 'location', value: `/http://other.test/${'a'.repeat(400)}?token=secret` }],
    placeOf({}),
  )
  assert.ok(result.kind === 'deny')
  assert.deepEqual(result.denial.details, {
    base_url: 'https://api.example.com/v1',
    header: 'location',
    reason: 'target_path',
  })
  assert.equal(String(result.denial.data?.['leads_to']).length, 200)
  assert.ok(!JSON.stringify(result.denial).includes('secret'))
})

/** Paths of the API's origin that are in another integration, which has a credential of its own. */
const NEIGHBOURS = [
  'https://api.example.com/v1',
  'https://api.example.com/v1/two',
  'https://api.example.com/Three',
]
for (const value of [
  '/v1/two',
  '/v1/two/',
  '/v1/two/x?y#z',
  '../two/x',
  '/v1/./two',
  '/v1/x/../two',
  '/v1/x/%2e%2e/two',
  '/v1/%74wo',
  '/v1/TWO/x',
  '/v1%2ftwo/x',
  '/v1//two/x',
  '/%76%31/two',
  '//api.example.com/v1/two',
  '\\v1\\two',
  '/v1/\ttwo',
  '/Three/x',
  '/three/x',
  'url:/v1/two',
] as const)
  test(`a redirect to another integration of the same origin is refused: ${JSON.stringify(value)}`, () => {
    const called = { base_urls: NEIGHBOURS }
    assert.equal(judged('location', value, called), 'refused: other_integration')
    assert.equal(judged('link', `<${value}>; rel=next`, called), 'dropped')
    assert.equal(judged('content-location', value, called), 'dropped')
  })

for (const [value, expected] of [
  ['/v1/things', `${API}/v1/things`],
  ['/v1/twofold', `${API}/v1/twofold`],
  ['/v2/two', `${API}/v2/two`],
  ['/', `${API}/`],
] as const)
  test(`a redirect to the same integration, to none, or of another host passes: ${value}`, () => {
    assert.equal(judged('location', value, { base_urls: NEIGHBOURS }), expected)
    const others = ['https://api.example.com', 'https://other.test/v1/two']
    const base_url = 'https://api.example.com/v1'
    assert.equal(judged('location', '/v1/two', { base_urls: [base_url] }), `${API}/v1/two`)
    assert.equal(
      judged('location', '/v2', { base_urls: [base_url, ...others] }),
      'refused: other_integration',
    )
  })

/** What a proxy in front of the gateway that decodes, or cuts parameters off, makes a climb out of the API's origin. */
for (const value of [
  '/..%2fother.test/secret',
  '/v1/..%2f..%2f..%2fother.test/secret',
  '/%2e%2e%2fother.test/secret',
  '/%2e%2e%5cother.test/secret',
  '/..%252fother.test/secret',
  '/%252e%252e/other.test/secret',
  '/..;/other.test/secret',
  '/..;x=y/other.test/secret',
  '/v1/%20..%20/other.test',
  '/%EF%BC%8E%EF%BC%8E/other.test/secret',
  '/x%2f..',
  '/v1/..%2f..%2fadmin',
] as const)
  test(`a path in which a lenient reader finds a climb is refused: ${value}`, () => {
    assert.equal(judged('location', value), TARGET)
    assert.equal(judged('operation-location', value), TARGET)
    assert.equal(judged('link', `<${value.slice(1)}>; rel=next`), TARGET)
  })

for (const value of [
  '/v1/a..b',
  '/v1/..a',
  '/v1/a;b=..c',
  '/v1/%2fx',
  '/v1/a%3Bb',
  '/v1/...',
  '/v1/x?y=..%2f',
  '/v1/x#..%2f',
])
  test(`a path without one passes: ${value}`, () => {
    assert.equal(judged('location', value), `${API}${value}`)
  })

/** Go, superagent and follow-redirects send `Authorization` to another port, or to a host below. */
for (const [value, called] of [
  ['http://gw.test:9090/x'],
  ['https://gw.test/x'],
  ['//gw.test:9090/x'],
  ['http://GW.test.:9090/x'],
  ['http://user@gw.test:9090/x'],
  ['http://%67w.test:9090/x'],
  ['http://gw\u3002test:9090/x'],
  ['http://sub.gw.test/x'],
  ['http://a.b.gw.test:8080/x'],
  ['http://public.test:1/x', { forwarded_host: 'public.test' }],
  ['http://localhost:3000/x', { authority: 'localhost:8080' }],
  ['http://app.localhost:3000/x', { authority: 'localhost:8080' }],
  ['http://10.0.0.1:1/x', { authority: '10.0.0.1:8080' }],
  ['http://167772161:1/x', { authority: '10.0.0.1:8080' }],
  ['http://[2001:db8:0::1]:1/x', { authority: '[2001:db8::1]:8080' }],
  ['http://api.example.com:1/x', { authority: 'api.example.com:8080' }],
] as const satisfies readonly (readonly [string, Called?])[])
  test(`a redirect to another port of the gateway's host, or below it, is refused: ${JSON.stringify(value)}`, () => {
    assert.equal(judged('location', asSent(value), called), ADDRESS)
  })

test("a redirect to the API itself at another port of the gateway's host leads through the gateway", () => {
  const path = '/http://127.0.0.1:9000/v1/x'
  const authority = '127.0.0.1:8080'
  const one = 'http://127.0.0.1:9000/v1'
  assert.equal(
    judged('location', 'http://127.0.0.1:9000/y?z', { path, authority, base_urls: [one] }),
    '/http://127.0.0.1:9000/y?z',
  )
  assert.equal(
    judged('location', 'http://127.0.0.1:9001/y', { path, authority, base_urls: [one] }),
    ADDRESS,
  )
  const base_urls = [one, 'http://127.0.0.1:9000/two']
  assert.equal(
    judged('location', 'http://127.0.0.1:9000/two', { path, authority, base_urls }),
    'refused: other_integration',
  )
  // A client that names the API as Host.
  const named = { authority: 'api.example.com' }
  assert.equal(judged('location', 'https://api.example.com/x', named), `${API}/x`)
  assert.equal(judged('location', 'https://not-gw.test/x'), `${GATEWAY_URL}/https://not-gw.test/x`)
})

/** Java drops `url:` from a URL, and others a scheme that they do not know. */
for (const [value, expected] of [
  ['url:http://gw.test:8080/x', ADDRESS],
  ['URL:http://127.0.0.1:8080/x', ADDRESS],
  ['url:url:http://localhost:8080/x', ADDRESS],
  ['feed:http://a.test/http://other.test/', TARGET],
  ['view-source:http://gw.test:8080/x', ADDRESS],
  ['url:/http://other.test/x', TARGET],
  ['url:../../../http://other.test/x', TARGET],
  ['x:%2e%2e/%2e%2e/http:/other.test/', TARGET],
  ['x://gw.test:8080/x', ADDRESS],
  ['ws://gw.test:8080/http://other.test/', ADDRESS],
  ['x:http:/other.test/', UNREADABLE],
  ['urn:ietf:params:oauth:token-type:jwt', 'urn:ietf:params:oauth:token-type:jwt'],
  ['a:b:c:', 'a:b:c:'],
  ['x:y[z', 'x:y[z'],
  [
    'myapp://user:pw@host/path?q=http://gw.test:8080/',
    'myapp://user:pw@host/path?q=http://gw.test:8080/',
  ],
] as const)
  test(`what stands behind another scheme is judged too: ${value}`, () => {
    assert.equal(judged('location', value), expected)
  })

for (const [name, value, expected] of [
  ['link', '<x</http://other.test/>; rel=next', TARGET],
  ['link', '<https://a.test/,<http://gw.test:8080/x>>; rel=next', ADDRESS],
  ['link', '<</http://other.test/>', TARGET],
  ['refresh', '0; x=/http://other.test/', TARGET],
  ['refresh', '0;url=;url=/http://other.test/', TARGET],
  ['refresh', "0; a; 'http://gw.test:8080/x'", ADDRESS],
  ['odata-entityid', '/http://other.test/', TARGET],
  ['odata-entityid', 'http://gw.test:8080/things(1)', ADDRESS],
  ['x-storage-url', 'http://localhost:8080/http://other.test/', ADDRESS],
  // Clients of container registries ask the realm for a token, those of MCP ask for metadata, with their key.
  ['www-authenticate', 'Bearer realm="http://gw.test:8080/http://other.test/"', ADDRESS],
  ['www-authenticate', 'Bearer realm="/http://other.test/",service="x"', TARGET],
  ['www-authenticate', 'Bearer realm=/http://other.test/', TARGET],
  [
    'www-authenticate',
    'Basic realm="x", Bearer resource_metadata = "http://a.test/http://other.test/"',
    TARGET,
  ],
  ['www-authenticate', 'Bearer resource_metadata="\\/http://other.test/"', UNREADABLE],
  ['www-authenticate', 'Bearer realm="\\h\\t\\t\\p://gw.test:8080/"', ADDRESS],
  ['www-authenticate', 'Bearer realm="//gw.test:8080/x"', ADDRESS],
  ['www-authenticate', 'Bearer realm="../../../http://other.test/"', TARGET],
  ['www-authenticate', 'Bearer realm="url:http://gw.test:8080/"', ADDRESS],
  ['www-authenticate', 'Bearer realm="http:/other.test/"', UNREADABLE],
  ['www-authenticate', 'Bearer nonce="//+", realm="http://gw.test:8080/x', ADDRESS],
  ['proxy-authenticate', 'Basic realm="http://gw.test:8080/x"', ADDRESS],
  ['www-authenticate', 'Bearer resource_metadata="x/../../../../other.test/v1/x"', TARGET],
  ['www-authenticate', 'Bearer realm=x/../../../../other.test/', TARGET],
  ['www-authenticate', 'Bearer realm="x/%2E%2e/.%2e/%2e./../other.test/"', TARGET],
  ['www-authenticate', 'Bearer realm="x/.\t./../../../other.test/"', TARGET],
  ['www-authenticate', 'Bearer realm="x\\\\..\\\\..\\\\..\\\\..\\\\other.test"', TARGET],
  ['www-authenticate', 'Bearer realm="x/..;/y"', TARGET],
  ['www-authenticate', 'Bearer realm="x/..%2fy"', TARGET],
  ['www-authenticate', 'Bearer realm="?x/../../../../http://other.test/"', TARGET],
  ['www-authenticate', 'Bearer realm="ht\ttp://gw.test:8080/x"', ADDRESS],
  ['www-authenticate', 'Bearer realm="feed:http://gw.test:8080/x"', ADDRESS],
  ['proxy-authenticate', 'Bearer as_uri="x/../../../../other.test/v1/x"', TARGET],
  [
    'www-authenticate',
    Array.from({ length: 300 }, (_, i) => `Bearer realm="https://a.test/${i}"`).join(', '),
    'refused: too_many',
  ],
] as const)
  test(`further references that clients follow are judged: ${name}: ${value.slice(0, 60)}`, () => {
    assert.equal(judged(name, value), expected)
  })

for (const value of [
  'Basic realm="API", charset="UTF-8"',
  'Bearer realm="https://auth.example.com/token",service="registry",scope="repository:a/b:pull"',
  'Bearer resource_metadata="https://api.example.com/.well-known/oauth-protected-resource"',
  'Digest realm="x", nonce="//+Ab/cd==", opaque="/Ab", qop="auth"',
  'Negotiate YWJj//+=',
  'Bearer error="invalid_token", error_description="see http docs"',
  'Bearer error="invalid_token", error_description="Expired... see https://a.test/b"',
  '',
])
  test(`a challenge that leads elsewhere or nowhere goes out as it is: ${value}`, () => {
    assert.equal(judged('www-authenticate', value), value)
  })

test('a URL in a challenge may be the name of a folder, and all else may only look like one', () => {
  const base_urls = ['https://api.example.com/v1', 'https://api.example.com/v1/things/two']
  for (const name of ['resource_metadata', 'authorization_uri', 'Token_URL'])
    for (const value of [`Bearer ${name}="two/x"`, `Bearer a=b,${name} = two`])
      assert.equal(judged('www-authenticate', value, { base_urls }), 'refused: other_integration')
  for (const value of ['Basic realm="two"', 'Bearer scope="repository:two/x:pull"'])
    assert.equal(judged('www-authenticate', value, { base_urls }), value)
})
