import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { callDigest, type DigestedCall } from '../../core/approval/call-digest.ts'
import { readMcpMessage } from '../../core/approval/mcp-message.ts'
import { wordsOfCall } from '../../core/approval/words-of-call.ts'
import { makeExcerpt } from '../../core/approval/excerpt.ts'
import type { RuleApproval, Scope } from '../../core/catalogue/model.ts'
import { APPROVAL_DEFAULTS, SCOPE_DEFAULTS } from '../../core/catalogue/model.ts'
import { compileIntegrations } from '../../core/decision/compile-integrations.ts'
import { compileScopes } from '../../core/decision/compile-scopes.ts'
import { explainCall } from '../../admin/try/explain-call.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { runOfStore } from '../../core/redis/run-of-store.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { takeApproval } from '../../core/approval/take-approval.ts'
import {
  AGENT_HELD_MAX,
  EDGE_HELD_MAX,
  HeldCalls,
  type HoldEnd,
} from '../../ext-proc/hold/held-calls.ts'
import type { Mail } from '../../admin/alerts/mailer.ts'
import { requestMails } from '../../admin/requests/request-mails.ts'
import { until } from '../kit/until.ts'
import { newRequest, wantedApproval } from '../kit/make-access-request.ts'
import { unitStore } from '../kit/unit-store.ts'
import { repetitions } from '../kit/repetitions.ts'
import { decide, toldOf } from './decision-kit.ts'
import { aScope, anAgent, anIntegration } from './policy-kit.ts'

const asks = (change: Partial<RuleApproval> = {}): RuleApproval => ({
  ...APPROVAL_DEFAULTS,
  ...change,
})
const API = anIntegration('https://x/v1', { integration_id: 'int_a' })

/** The rules that ask for an approval of a call, as `scope rule`; null if none does, `refused` if it is not allowed. */
function askedOf(
  scopes: readonly Scope[],
  method: string,
  path: string,
  more: { readonly headers?: Readonly<Record<string, string>>; readonly body?: string } = {},
  integration = API,
): readonly string[] | string | null {
  const { answer, approval } = explainCall({
    agent: { agent: anAgent(), killed_at: null, scopes: compileScopes(scopes) },
    integrations: compileIntegrations([integration]),
    now_ms: 0,
    method,
    url: `https://x/v1${path}`,
    ...more,
  })
  if (answer === 'refused') return 'refused'
  return approval?.rules.map(({ scope_id, rule }) => `${scope_id} ${rule}`) ?? null
}

const CHARGES = aScope({
  name: 'pay',
  rules: [
    { methods: ['POST'], paths: ['/charges/test'] },
    { methods: ['POST'], paths: ['/charges/**'], approval: asks() },
    { methods: ['*'], paths: ['/**'] },
  ],
})

test('the first rule that matches asks, in every reading of the path and of the method', () => {
  for (const [method, path, expected] of [
    ['POST', '/charges', ['scp_pay 1']],
    ['POST', '/charges/a', ['scp_pay 1']],
    ['POST', '/charges/test', null],
    ['GET', '/charges', null],
    ['POST', '/Charges', ['scp_pay 1']],
    ['POST', '/CHARGES/A', ['scp_pay 1']],
    ['POST', '/ch%61rges', ['scp_pay 1']],
    ['POST', '/charges%2Fa', ['scp_pay 1']],
    ['POST', '/charges%252Fa', ['scp_pay 1']],
    ['post', '/charges', ['scp_pay 1']],
    ['POST', '/charges/tesT', ['scp_pay 1']],
  ] as const)
    assert.deepEqual(askedOf([CHARGES], method, path), expected, `${method} ${path}`)
  const keeping = anIntegration('https://x/v1', {
    integration_id: 'int_a',
    allow_encoded_slashes: true,
  })
  assert.deepEqual(askedOf([CHARGES], 'POST', '/charges%2Fa', {}, keeping), ['scp_pay 1'])
  for (const paths of [['/Charges'], ['/charges%2Fall']]) {
    const rules = [
      { methods: ['POST'], paths, approval: asks() },
      { methods: ['*'], paths: ['/**'] },
    ]
    const path = paths[0]?.toLowerCase().replace('%2f', '/') ?? ''
    assert.deepEqual(askedOf([aScope({ name: 'p', rules })], 'POST', path), ['scp_p 0'], path)
  }
})

test('what a header, the query or the body names asks too', () => {
  const deletes = aScope({
    name: 'd',
    rules: [
      { methods: ['DELETE'], paths: ['/**'], approval: asks() },
      { methods: ['*'], paths: ['/**'] },
    ],
  })
  assert.equal(askedOf([deletes], 'POST', '/a'), null)
  const header = { headers: { 'x-http-method-override': 'DELETE' } }
  assert.deepEqual(askedOf([deletes], 'POST', '/a', header), ['scp_d 0'])
  assert.deepEqual(askedOf([deletes], 'POST', '/a?_method=delete'), ['scp_d 0'])
  const form = {
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: '_method=DELETE',
  }
  assert.equal(askedOf([deletes], 'POST', '/a', form), 'refused')
})

test('a body is read for what it names if a rule asks, also where every call is allowed', async () => {
  const rules = [
    { methods: ['DELETE'], paths: ['/**'], approval: asks() },
    { methods: ['*'], paths: ['/**'] },
  ]
  const scope = {
    rules,
    mcp_tools: SCOPE_DEFAULTS.mcp_tools,
    injection_detection: { ...SCOPE_DEFAULTS.injection_detection, enabled: false },
  }
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  const answers = async (body: string): Promise<string> =>
    toldOf((await decide({ scope, headers, body })).verdict)
  assert.equal(await answers('a=1&_method=DELETE'), 'scope: ambiguous_request _method')
  assert.equal(await answers('a=1'), 'forward')
})

test('a batch that cannot be read passes only where no rule asks', () => {
  const batch = '{"requests":[{"method":"GET","url":"/a"},{"method":"DELETE","url":"/@{a.id}"}]}'
  const allowing = (approval?: RuleApproval): Scope =>
    aScope({
      allow_batches: true,
      rules: [
        { methods: ['DELETE'], paths: ['/items/**'], ...(approval && { approval }) },
        { methods: ['*'], paths: ['/**'] },
      ],
    })
  const json = { headers: { 'content-type': 'application/json' }, body: batch }
  assert.equal(askedOf([allowing()], 'POST', '/$batch', json), null)
  assert.equal(askedOf([allowing(asks())], 'POST', '/$batch', json), 'refused')
  assert.equal(askedOf([allowing(), allowing(asks())], 'POST', '/$batch', json), 'refused')
})

test('another scope of the agent there asks as well, whatever its priority', () => {
  const open = aScope({ name: 'open', priority: 1 })
  const strict = aScope({
    name: 'strict',
    priority: 900,
    rules: [
      { methods: ['GET'], paths: ['/secret'], approval: asks({ needed: 2, approvers: 'admin' }) },
    ],
  })
  assert.equal(askedOf([open, strict], 'GET', '/public'), null)
  assert.deepEqual(askedOf([open, strict], 'GET', '/Secret'), ['scp_strict 0'])
})

const CALL: DigestedCall = {
  agent_id: 'agt_a',
  policy_sha256: 'p',
  integration_id: 'int_a',
  integration_sha256: 'i',
  connection: null,
  method: 'POST',
  url: 'https://x/v1/a?b=1',
  headers: [
    { name: 'x-a', value: '1' },
    { name: 'x-b', value: '2' },
  ],
  body: Buffer.from('body'),
  counted: null,
}
const digestOf = (change: Partial<DigestedCall> = {}): string =>
  callDigest({ ...CALL, ...change }).digest

test('the digest is that which another program computes as the guide says', () => {
  // By hashlib and json.dumps of Python.
  assert.equal(
    digestOf(),
    'sha256:b076726b80853fbd35d1a70a69d38d354f21eef180b8b434cb08f7a6961e6538',
  )
})

test('headers that are written otherwise, repeated or joined have another digest', () => {
  const [a, b] = CALL.headers
  assert.ok(a !== undefined && b !== undefined)
  assert.equal(digestOf({ headers: [b, a] }), digestOf())
  for (const headers of [
    [a],
    [a, b, b],
    [a, { name: 'x-b', value: '2 ' }],
    [{ name: 'x-a', value: '1, 2' }, b],
    [a, { name: 'x-a', value: '2' }],
    [{ name: 'x-a', value: '2' }, a],
    [{ name: 'x-a","1"],["x-b', value: '2' }],
    [a, { name: 'x-b', value: '2\u00ff' }],
    [a, { name: 'x-b', value: '2\u00fe' }],
    [{ name: 'x_a', value: '1' }, b],
  ])
    assert.notEqual(digestOf({ headers }), digestOf(), JSON.stringify(headers))
})

test('the same text in other bytes, and the same bytes said to be encoded, have other digests', () => {
  const text = '{"amount":1,"to":"\u00e9"}'
  const bodies = [
    Buffer.from(text),
    Buffer.from(text, 'latin1'),
    Buffer.from(text, 'utf16le'),
    Buffer.from(text, 'utf16le').swap16(),
    Buffer.from(`\ufeff${text}`),
    Buffer.from(text.normalize('NFD')),
    Buffer.from('{"to":"\u00e9","amount":1}'),
    gzipSync(text),
  ]
  const encodings = [[], [{ name: 'content-encoding', value: 'gzip' }]]
  const digests = bodies.flatMap((body) => encodings.map((headers) => digestOf({ body, headers })))
  assert.equal(new Set(digests).size, bodies.length * encodings.length)
})

test('Prefer counts, but for how long the caller waits', () => {
  const preferring = (...values: string[]): string =>
    digestOf({ headers: [...CALL.headers, ...values.map((value) => ({ name: 'prefer', value }))] })
  for (const value of ['wait=5', ' Wait = 30 ', 'wait=0, wait=1'])
    assert.equal(preferring(value), digestOf(), value)
  assert.equal(preferring('wait=5,return=minimal'), preferring('return=minimal'))
  assert.notEqual(preferring('a="b, wait=5, c"'), preferring('a="b, wait=6, c"'))
  // An API may write, validate or answer otherwise.
  for (const value of ['resolution=merge-duplicates', 'tx=rollback', 'wait=5, return=minimal'])
    assert.notEqual(preferring(value), digestOf(), value)
  assert.notEqual(preferring('wait=5', 'handling=lenient'), digestOf())
})

test('two calls have one digest only if they are the same call', () => {
  const text = fc.string({
    maxLength: 4,
    unit: fc.constantFrom('a', '"', ',', '[', ']', '\\', ' '),
  })
  const aCall = fc.record({
    method: text,
    url: text,
    headers: fc.array(fc.record({ name: text, value: text }), { maxLength: 3 }),
    body: text.map((one) => Buffer.from(one)),
  })
  const known = new Map<string, string>()
  fc.assert(
    fc.property(aCall, (change) => {
      const headers = [...change.headers].sort((x, y) =>
        x.name < y.name ? -1 : x.name > y.name ? 1 : 0,
      )
      const same = JSON.stringify([change.method, change.url, headers, change.body.toString()])
      const digest = digestOf(change)
      assert.equal(known.get(digest) ?? same, same)
      known.set(digest, same)
    }),
    { numRuns: repetitions(1_000) },
  )
})

const multipart = (boundary: string, body: string, more = '') =>
  digestOf({
    headers: [{ name: 'content-type', value: `multipart/form-data; boundary=${boundary}${more}` }],
    body: Buffer.from(body.replaceAll('BOUNDARY', boundary)),
  })
const PART = '--BOUNDARY\r\na: b\r\n\r\none\r\n--BOUNDARY\r\n\r\ntwo\r\n--BOUNDARY--\r\n'

test('a multipart body has the digest of its parts, unless a reader might split it otherwise', () => {
  assert.equal(multipart('x', PART), multipart('yy', PART))
  assert.equal(multipart('x', PART), multipart('"z z"', PART.replaceAll('BOUNDARY', 'z z')))
  for (const [name, body] of [
    ['a preamble', `pre\r\n${PART}`],
    ['an epilogue', `${PART}post`],
    ['bare line feeds', PART.replaceAll('\r\n', '\n')],
    ['the boundary in a part', PART.replace('one', 'on--BOUNDARYe')],
    ['another boundary in a part', PART.replace('one', '\n--yy\n\nthree')],
    ['a part without an end of its header', PART.replace('a: b\r\n\r\none', 'a: b')],
    ['no end', PART.replace('--BOUNDARY--\r\n', '')],
    ['space after a boundary', PART.replace('--BOUNDARY\r\n', '--BOUNDARY \r\n')],
  ] as const)
    assert.notEqual(multipart('x', body), multipart('yy', body), name)
  const encoded = (boundary: string): string =>
    digestOf({
      headers: [
        { name: 'content-encoding', value: 'gzip' },
        { name: 'content-type', value: `multipart/form-data; boundary=${boundary}` },
      ],
      body: Buffer.from(PART.replaceAll('BOUNDARY', boundary)),
    })
  assert.notEqual(encoded('x'), encoded('yy'))
  assert.notEqual(encoded('x'), multipart('x', PART))
  assert.notEqual(multipart('x', PART), multipart('x', PART, '; boundary=y'))
  assert.notEqual(multipart('x', PART), multipart('x', PART.replace('one', 'One')))
  assert.notEqual(multipart('x', PART), multipart('x', PART.replace('a: b', 'a: B')))
})

test('an excerpt shows no secret, no control character, and at most 8 KiB', () => {
  const secret = `sk_live_${'a1B2c3D4'.repeat(4)}`
  const headers = [
    { name: 'x-api-key', value: secret },
    { name: 'x-note', value: 'a\u001b[31m' },
  ]
  const shown = makeExcerpt(headers, Buffer.from(`{"key":"${secret}","note":"\u001b[2J\u0007"}`))
  // An approver must see the text in its order, and all of it.
  const turned = makeExcerpt(
    [],
    Buffer.from('{"to": "\u202e1_tcca\u2066", "c\u200bc": "a\u2028b"}\n'),
  )
  assert.equal(turned.body, '{"to": "\ufffd1_tcca\ufffd", "c\ufffdc": "a\ufffdb"}\n')
  assert.ok(!JSON.stringify(shown).includes(secret))
  assert.doesNotMatch(JSON.stringify(shown), /\\u00(?:0[0-8]|1|7f)/)
  assert.match(shown.body ?? '', /^\{"key":"\*\*\*/)
  for (const text of ['\u0001', '"', 'ü', '😀', 'a']) {
    const long = makeExcerpt(headers, Buffer.from(text.repeat(100_000)))
    assert.ok(Buffer.byteLength(JSON.stringify(long)) <= 8_192, text)
    assert.equal(long.is_cut, true)
  }
  // A secret that begins before the cut.
  const cut = makeExcerpt([], Buffer.from(`${' '.repeat(6_130)}${secret}`))
  assert.ok(!(cut.body ?? '').includes('sk_live_a1'), cut.body?.trim())
  assert.equal(makeExcerpt([], Buffer.from([0, 1, 2])).body, null)
})

const JSON_HEADERS = [{ name: 'content-type', value: 'application/json' }]

test('what matters most in a body is shown, wherever the agent has put it and whatever it has put before', () => {
  const secret = `sk_live_${'a1B2c3D4'.repeat(4)}`
  const decoys = Array.from({ length: 400 }, (_, i) => `"x${i}":{"amount":${i},"to":"a"}`)
  const padding = `"note":"${'y'.repeat(9_000)}"`
  const body = `{${padding},${decoys.join()},"amount":5000,"to":"acct_1","amount":9000,"user":"${secret}\u202e"}`
  const shown = makeExcerpt(JSON_HEADERS, Buffer.from(body))
  assert.equal(shown.is_cut, true)
  assert.ok(!shown.body?.includes('acct_1'))
  assert.deepEqual(shown.matters?.fields.slice(0, 3), [
    ['amount', '5000'],
    ['amount', '9000'],
    ['to', 'acct_1'],
  ])
  assert.equal(shown.matters?.fields.length, 12)
  assert.equal(shown.matters?.more, 800 + 4 - 12)
  assert.ok(!JSON.stringify(shown).includes('sk_live_a1'))
  assert.ok(!/\u202e/u.test(JSON.stringify(shown)))
  const type = [{ name: 'content-type', value: 'application/x-www-form-urlencoded' }]
  const form = makeExcerpt(type, Buffer.from('a=1&items%5B0%5D%5Bprice%5D=7&unit_amount=5%30'))
  assert.deepEqual(form.matters?.fields, [
    ['unit_amount', '50'],
    ['items.0.price', '7'],
  ])
  for (const unclear of ['{"amount":1', '{"amount":1} {"amount":2}', 'amount: 1'])
    assert.equal(makeExcerpt(JSON_HEADERS, Buffer.from(unclear)).matters, null, unclear)
  for (const letter of ['\u0001', 'ü', '😀', '"', '\\']) {
    const long = `{${Array.from({ length: 50 }, () => `"amount":${JSON.stringify(letter.repeat(900))}`).join()}}`
    const bytes = Buffer.byteLength(JSON.stringify(makeExcerpt(JSON_HEADERS, Buffer.from(long))))
    assert.ok(bytes <= 8_192, `${letter} ${bytes}`)
  }
})

test('an action has the words of its template only if the URL can be read in one way', () => {
  for (const [method, url, words] of [
    ['POST', 'https://api.stripe.com/v1/refunds?amount=1', 'Refund a payment (Stripe)'],
    [
      'POST',
      'https://api.stripe.com/v1/payment_intents/pi_1/capture',
      'Capture a payment (Stripe)',
    ],
    ['DELETE', 'https://api.github.com/repos/a/b/contents/c/d.txt', 'Delete a file (GitHub)'],
    ['DELETE', 'https://acme.atlassian.net/rest/api/3/project/A', 'Delete a project (Jira Cloud)'],
    ['GET', 'https://api.stripe.com/v1/refunds', null],
    ['POST', 'https://api.stripe.com/v1/refunds/re_1', null],
    ['POST', 'https://api.stripe.com/v1/x/..%2frefunds', null],
    ['POST', 'https://api.stripe.com/v1/payment_intents/a%2fb/capture', null],
    ['POST', 'https://api.stripe.com.evil.example/v1/refunds', null],
    ['POST', 'https://evil.example/https://api.stripe.com/v1/refunds', null],
    ['DELETE', 'https://evil.example.atlassian.net/rest/api/3/project/A', null],
    ['POST', `https://api.stripe.com/v1/refunds?${'x'.repeat(3_000)}`, null],
  ] as const)
    assert.equal(wordsOfCall(method, url), words, `${method} ${url}`)
})

const ORG = 'org_approvals'
let count = 0

/** An agent in the store, with what it asks for. */
async function anAsker(redis: RedisClient) {
  const agent_id = `agt_${++count}`
  const store = (change: object): Promise<number> =>
    redis.hset(REDIS_KEYS.agents(ORG), agent_id, JSON.stringify(anAgent({ agent_id, ...change })))
  await store({ revision: 7 })
  const ask = async (digest: string, more: Parameters<typeof newRequest>[1] = {}) => {
    const wanted = await wantedApproval(redis, ORG, agent_id, digest)
    return await takeApproval(redis, { ...wanted, revision: 7 }, newRequest(wanted, more))
  }
  return { agent_id, store, ask }
}

test('an agent has at most 200 open requests; the 201st is refused, those of others are not', async () => {
  const { redis } = await unitStore()
  const [one, other] = [await anAsker(redis), await anAsker(redis)]
  const asked = await Promise.all(Array.from({ length: 200 }, (_, i) => one.ask(`a ${i}`)))
  assert.ok(asked.every(({ kind }) => kind === 'pending'))
  assert.deepEqual(await one.ask('a 200'), { kind: 'busy' })
  assert.equal((await one.ask('a 7')).kind, 'pending')
  assert.equal((await other.ask('b')).kind, 'pending')
})

test('a request that has expired is told once, makes room and is asked for again', async () => {
  const { redis } = await unitStore()
  const { ask } = await anAsker(redis)
  assert.equal((await ask('c', { valid_ms: 0 })).kind, 'pending')
  assert.equal((await ask('c')).kind, 'expired')
  assert.equal((await ask('c')).kind, 'pending')
})

test('that a call was approved and used before outlives a request that expired in between', async () => {
  const { redis } = await unitStore()
  const { ask } = await anAsker(redis)
  const asked = await ask('u', { valid_ms: 0 })
  assert.ok(asked.kind === 'pending')
  const { request_id } = asked
  await redis.hset(REDIS_KEYS.accessRequest(ORG, request_id), 'consumed_ms', '5')
  for (let again = 0; again < 2; again++) {
    const next = await ask('u', { valid_ms: 0 })
    assert.ok(next.kind === 'pending')
    assert.deepEqual(next.used, { request_id, was_sent: null })
    const key = REDIS_KEYS.accessRequest(ORG, next.request_id)
    assert.deepEqual(await redis.hmget(key, 'used', 'used_count', 'used_ms'), [
      request_id,
      '1',
      '5',
    ])
    assert.equal((await ask('u', { valid_ms: 0 })).kind, 'expired')
  }
})

test('ended requests are kept up to a bound, and expire in the store by themselves', async () => {
  const { redis } = await unitStore()
  const { ask } = await anAsker(redis)
  for (let i = 0; i < 1_200; i += 200)
    await Promise.all(Array.from({ length: 200 }, (_, j) => ask(`d ${i + j}`, { valid_ms: 0 })))
  assert.ok((await redis.zcard(REDIS_KEYS.accessRequestsEnded(ORG))) <= 1_000)
  const kept = await redis.zrange(REDIS_KEYS.accessRequestIndex(ORG), 0, '-1')
  assert.ok(kept.length <= 1_000 + 400)
  for (const id of kept.slice(-3)) {
    const left_ms = await redis.pttl(REDIS_KEYS.accessRequest(ORG, id))
    assert.ok(left_ms > 0 && left_ms <= 3_600_000)
  }
})

test('nothing is asked or taken for an agent that the store knows otherwise, as after a kill', async () => {
  const { redis } = await unitStore()
  const { ask, store } = await anAsker(redis)
  assert.equal((await ask('e')).kind, 'pending')
  await store({ revision: 8, status: 'killed' })
  assert.deepEqual(await ask('e'), { kind: 'stale' })
  await store({ revision: 9 })
  assert.deepEqual(await ask('e'), { kind: 'stale' })
})

test('an approval of another run of the store, which may have lost that it was used, is void', async () => {
  const { redis } = await unitStore()
  const { ask } = await anAsker(redis)
  await redis.hset(REDIS_KEYS.adminTokens(ORG), 'tok_a', JSON.stringify({ role: 'admin' }))
  const approvals = JSON.stringify([{ email: 'a@b', token_id: 'tok_a', approved_at: '' }])
  const run = await runOfStore(redis)
  for (const [approved_run, kind] of [
    ['0123', 'pending'],
    [run, 'taken'],
  ] as const) {
    const asked = await ask(`f ${kind}`)
    assert.ok(asked.kind === 'pending')
    const request = REDIS_KEYS.accessRequest(ORG, asked.request_id)
    await redis.hset(request, { status: 'approved', approvals, approved_run })
    const answered = await ask(`f ${kind}`)
    assert.equal(answered.kind, kind)
    const status = await redis.hget(request, 'status')
    assert.equal(status, kind === 'taken' ? 'approved' : 'cancelled')
  }
})

test('no organization keeps the held calls of an edge from others, and one alone may have all', async (t) => {
  const { redis } = await unitStore()
  const calls = new HeldCalls(redis)
  t.after(() => calls.drain())
  const ends: Record<string, HoldEnd[]> = { a: [], b: [], c: [] }
  const hold = async (organization_id: string, count: number): Promise<void> => {
    let begun = 0
    await redis.hset(REDIS_KEYS.accessRequest(organization_id, 'arq_1'), 'status', 'pending')
    const all = Array.from({ length: count }, (_, i) => {
      const agent_id = `agt_${Math.floor(i / AGENT_HELD_MAX)}`
      const call_id = `${organization_id} ${i}`
      const held = { organization_id, agent_id, request_id: 'arq_1', call_id }
      const over = calls.wait(held, 600_000, new Promise(() => undefined), () => void begun++)
      return over.then((end) => {
        ends[organization_id]?.push(end)
        begun++
      })
    })
    void Promise.all(all)
    await until('each is held or answered', () => begun >= count)
  }
  await hold('a', EDGE_HELD_MAX + 1)
  assert.deepEqual(ends, { a: ['full'], b: [], c: [] })
  await hold('b', 600)
  assert.equal(ends['a']?.length, 501)
  assert.equal(ends['b']?.length, 100)
  await hold('c', 1)
  assert.deepEqual([ends['a']?.length, ends['b']?.length, ends['c']?.length], [502, 100, 0])
  assert.equal(calls.size, EDGE_HELD_MAX)
})

test('one e-mail a minute tells an organization of its requests, with nothing that an agent wrote', async () => {
  const { redis } = await unitStore()
  const mails: Mail[] = []
  let [now_ms, isDown] = [0, false]
  const settings = { apiUrl: 'https://gateway.example', apiHost: '', apiPort: 0 }
  const send = async (mail: Mail): Promise<void> => {
    if (isDown) throw new Error('the mail server is down')
    mails.push(mail)
  }
  const clock = { now: () => ({ ms: Date.now() }) } as never
  const log = { warn: () => undefined } as never
  const mailer = { send, close: () => undefined }
  const begin = () => requestMails({ redis, clock, nowMs: () => now_ms, settings, mailer, log })
  let mail = begin()
  const round = async (ms: number): Promise<readonly string[]> => {
    now_ms += ms
    await mail(['org_a', 'org_b'])
    return mails.splice(0).map(({ subject, text }) => `${subject}\n${text}`)
  }
  const ask = async (organization_id: string, digest: string): Promise<void> => {
    const record = JSON.stringify(anAgent({ agent_id: 'agt_m', revision: 1 }))
    await redis.hset(REDIS_KEYS.agents(organization_id), 'agt_m', record)
    const wanted = await wantedApproval(redis, organization_id, 'agt_m', digest)
    await takeApproval(redis, wanted, newRequest(wanted, { mark: 'words-of-an-agent' }))
  }
  assert.deepEqual(await round(0), [])
  for (const digest of ['1', '2', '3']) await ask('org_a', digest)
  const [first = '', ...others] = await round(1_000)
  assert.deepEqual(others, [])
  assert.match(
    first,
    /^Agent Access Gateway: 3 requests wait .*org_a.*https:\/\/gateway\.example\/#\/requests\n/s,
  )
  assert.doesNotMatch(first, /words-of|agt_m|arq_/)
  await ask('org_a', '4')
  await ask('org_b', '1')
  // What one organization has to wait for, another one has not.
  assert.deepEqual(
    (await round(58_000)).map((text) => /org_\w/.exec(text)?.[0]),
    ['org_b'],
  )
  assert.match((await round(2_000)).join(), /4 requests wait .* 1 of them/s)
  assert.deepEqual(await round(600_000), [])
  // Another process, after this one has died.
  mail = begin()
  assert.deepEqual(await round(0), [])
  await ask('org_a', '5')
  isDown = true
  assert.deepEqual(await round(1_000), [])
  isDown = false
  assert.deepEqual(await round(1_000), [])
  assert.equal((await round(60_000)).length, 1)
})

const toolCall = (params: string, id = '1'): Buffer =>
  Buffer.from(`{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{${params}}}`)

test('of an MCP message only its id, its progress token and what the gateway has asked for are left out', () => {
  const plain = '"name":"a","arguments":{"id":1,"requestState":"agw.x"}'
  const read = readMcpMessage(toolCall(plain))
  assert.deepEqual(read?.sent, toolCall(plain))
  assert.deepEqual(read?.counted, toolCall(plain, ''))
  const state = '"requestState":"agw.x"'
  const answers = '"inputResponses":{"agw_approval":{"action":"accept"}}'
  for (const params of [
    `${plain},${answers},${state}`,
    `${state},${plain}`,
    `"name":"a",${state},${answers},"arguments":{"id":1,"requestState":"agw.x"}`,
  ]) {
    const repeated = readMcpMessage(toolCall(params, '"two"'))
    assert.deepEqual(repeated?.sent, toolCall(plain, '"two"'), params)
    assert.deepEqual(repeated?.counted, read?.counted, params)
    assert.equal(repeated?.state, 'agw.x')
  }
  const foreign = toolCall(`${plain},"requestState":"of the API","inputResponses":{}`)
  assert.deepEqual([readMcpMessage(foreign)?.sent, readMcpMessage(foreign)?.state], [foreign, null])
  for (const unclear of [
    toolCall(`${plain},"name":"b"`),
    toolCall(`${plain},"n\\u0061me":"b"`),
    Buffer.from('{"id":1,"id":2}'),
    Buffer.from('[{"id":1}]'),
    Buffer.from('{"id":1} '),
    Buffer.from(`{${Array.from({ length: 1_001 }, (_, i) => `"${i}":0`).join()}}`),
  ])
    assert.equal(readMcpMessage(unclear), null, unclear.toString().slice(0, 80))
  const object = toolCall(plain, '{"hidden":"order"}')
  assert.deepEqual(readMcpMessage(object)?.counted, object)
})
