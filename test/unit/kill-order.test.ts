import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readKillOrder } from '../../admin/kill/read-kill-order.ts'
import { readReason } from '../../admin/kill/read-reason.ts'

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
