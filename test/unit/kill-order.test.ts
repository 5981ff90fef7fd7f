import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readKillOrder } from '../../admin/kill/read-kill-order.ts'
import { readReason } from '../../admin/kill/read-reason.ts'
import { readLockOrder } from '../../admin/kill/read-lock-order.ts'

const SECRET = 'q1w2e3r4t5y6u7i8o9p0'

test('threat 25: a secret that the reason of a kill quotes is masked before it is stored', () => {
  for (const [reason, kept] of [
    [`leaked key sk_live_${SECRET}`, 'leaked key sk_***'],
    [`leaked: Authorization: Bearer ${SECRET}`, 'leaked: Authorization: Bearer ***'],
    ['the password is hunter2', 'the password is ***'],
    ['password=hunter2 in a log', 'password=*** in a log'],
    [`ghp_${SECRET} was pushed`, 'ghp_*** was pushed'],
    [
      `posted to https://hooks.slack.com/services/${SECRET}`,
      'posted to https://hooks.slack.com/services/***',
    ],
    [`https://bot:${SECRET}@example.com`, 'https://bot:***@example.com'],
    [`Cookie: session=${SECRET} was in its output`, 'Cookie: session=*** was in its output'],
    ['card 4111 1111 1111 1111 was charged', 'card *** was charged'],
    [`?api_key=${SECRET}`, '?api_key=***'],
    [`{"client_secret": "${SECRET}"}`, '{"client_secret": "***"}'],
    ['it behaves oddly', 'it behaves oddly'],
    [
      'ticket OPS-1234, see https://example.com/t/1234',
      'ticket OPS-1234, see https://example.com/t/1234',
    ],
  ] as const) {
    assert.equal(readReason(reason), kept)
    assert.equal(readKillOrder(JSON.stringify({ reason })).reason, kept)
  }
})

test('a kill has a reason of any type, or none', () => {
  for (const [body, kept] of [
    ['', null],
    ['{', null],
    ['{}', null],
    ['{"reason": null}', null],
    ['{"reason": 7}', '7'],
    [`{"reason": {"password": "${SECRET}"}}`, '{"password":"***"}'],
    [`{"reason": ["sk_live_${SECRET}"]}`, '["sk_***"]'],
    ['{"reason": "\\ud800"}', '\ufffd'],
    [JSON.stringify({ reason: 'x'.repeat(3000) }), 'x'.repeat(2000)],
  ] as const)
    assert.equal(readKillOrder(body).reason, kept, body.slice(0, 60))
})

test('no member of a kill or a lock makes it fail, however deep it is nested', () => {
  const deep = `${'['.repeat(10_000)}${']'.repeat(10_000)}`
  const { reason, notify_ignored } = readKillOrder(`{"reason":${deep},"notify":[${deep}]}`)
  assert.deepEqual([reason, notify_ignored], ['', ['']])
  const lock = `{"target":{"agent_id":"a\\ud800"},"message":${deep},"mode":${deep},"x":${deep}}`
  const read = readLockOrder(lock, 0)
  assert.ok('target' in read)
  assert.deepEqual(read.target, { agent_id: 'a\ufffd' })
  assert.deepEqual([read.mode, read.message, read.ignored], ['deny', '', ['x', 'mode']])
})

test('with exactly one target no body makes a lock fail; with none, or two that differ, it locks nothing', () => {
  const one = '"target" : {"agent_id":"a"}'
  const targetOf = (body: string): unknown => {
    const read = readLockOrder(body, 0)
    return 'target' in read ? read.target : null
  }
  const deep = '['.repeat(50_000)
  const odd = [
    '"message":"said "stop" twice"',
    '"message":"said \\"target\\":{\\"agent_id\\":\\"b\\"}"',
    `"message":"two
lines"`,
    "'message':'x'",
    '"mode":deny',
    '"mode":NaN',
    '"x":undefined',
    '"x":0x10',
    '"x":1e999',
    '"x":"\\ud800"',
    '"x":"\\q"',
    `"x":"${'y'.repeat(100_000)}`,
    `"x":${deep}`,
    '/* why */',
    ',',
    '"x"',
    '{',
    ']',
    '"message":"$MESSAGE',
    '"__proto__":{"mode":"read_only"}',
    '"constructor":{"prototype":{}}',
    '"toString":null',
    '"mode":"deny","mode":"read_only"',
    '"x":{"target":{"agent_id":"a"}}',
    one,
    '"target":null',
    '"target":{"agent_id":"a","agent_id":"a","key_id":null}',
  ]
  const whole = `{${one},"mode":"read_only","expires_at":"2030-01-01T00:00:00Z","message":"é \u{1f600}"}`
  const utf16 = Buffer.from(`\ufeff${whole}`, 'utf16le')
  const bodies = [
    ...odd.flatMap((text) => [`{${one},${text}}`, `{${text},${one}}`, `{${text},${one}`]),
    ...Array.from({ length: whole.length - one.length }, (_, i) =>
      whole.slice(0, one.length + 1 + i),
    ),
    `\ufeff${whole}`,
    utf16.toString(),
    utf16.swap16().toString(),
    `${whole}\0`,
    `${whole}${whole}`,
    `[${whole}`,
    `x=${whole}`,
    ` \n\t{"x":"target",${one}}`,
    `{"x":{"target":{"agent_id":"b"}},${one}}`,
    '{"\\u0074arget":{"\\u0061gent_id":"\\u0061"}}',
  ]
  assert.ok(bodies.length >= 100)
  for (const body of bodies) assert.deepEqual(targetOf(body), { agent_id: 'a' }, body.slice(0, 99))
  const other = '"target":{"agent_id":"b"}'
  for (const body of [
    ...Array.from({ length: one.length }, (_, i) => `{${one}`.slice(0, i + 1)),
    `{${one},${other}}`,
    `{${one},"message":"a "quoted" one",${other}`,
    '{"target":{"agent_id":"a","agent_id":"b"}}',
    '{"target":{"agent_id":"a","everything":true}}',
    `{"target":{"agent_id":${deep}`,
    `{"target":{"agent_id":${deep}${deep.replaceAll('[', ']')}}}`,
    `{"target":{`.repeat(5_000),
    `{"target":[${whole}]}`,
    `{"x":${whole}}`,
    `[${whole}]`,
    JSON.stringify(whole),
  ])
    assert.equal(targetOf(body), null, body.slice(0, 99))
})

test('the end of a lock is a time that ISO 8601 writes with four digits of the year, or none', () => {
  for (const [expires_at, kept] of [
    ['9999-12-31T23:59:59Z', '9999-12-31T23:59:59.000Z'],
    ['9999-12-31T23:59:59-23:59', null],
  ] as const) {
    const read = readLockOrder(JSON.stringify({ target: { agent_id: 'a' }, expires_at }), 0)
    assert.ok('target' in read)
    assert.equal(read.expires_at, kept)
  }
})
