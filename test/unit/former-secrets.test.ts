import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { hideFormerSecrets } from '../../admin/activity/hide-former-secrets.ts'
import { checkWebhookUrl } from '../../admin/webhooks/check-webhook-url.ts'
import { hideUrlParts, hideWebhookUrl } from '../../admin/webhooks/hide-webhook-url.ts'
import { checkArchive } from '../../cli/doctor/check-archive.ts'
import { writeArchiveLines } from '../../core/activity/archive-line.ts'
import { AddressPolicy } from '../../core/egress/address-policy.ts'
import { activityEntry } from '../kit/activity-entry.ts'
import { tempFolder } from '../kit/temp-folder.ts'

const SLACK = 'https://hooks.slack.com/services/T0123ABCD/B0456EFGH/abcdefghijklmnop'

test('of the URL of a webhook only the origin is shown', () => {
  const rows: readonly (readonly [url: string, shown: string])[] = [
    [SLACK, 'https://hooks.slack.com/***'],
    [
      'https://acme.webhook.office.com/webhookb2/a@b/IncomingWebhook/c/d',
      'https://acme.webhook.office.com/***',
    ],
    ['https://discord.com/api/webhooks/123/token', 'https://discord.com/***'],
    ['https://h.example.com:8443/a', 'https://h.example.com:8443/***'],
    ['https://h.example.com?key=secret', 'https://h.example.com/***'],
    ['https://h.example.com/?key=secret', 'https://h.example.com/***'],
    ['https://h.example.com/a?b#c', 'https://h.example.com/***'],
    ['https://h.example.com//secret', 'https://h.example.com/***'],
    ['https://user:secret@h.example.com/a', 'https://h.example.com/***'],
    ['HTTPS://H.example.com/%73ecret', 'https://h.example.com/***'],
    ['https://[2606:4700::1]/secret', 'https://[2606:4700::1]/***'],
    ['https://h.example.com', 'https://h.example.com'],
    ['https://h.example.com/', 'https://h.example.com/'],
    ['not a url with a secret', '***'],
    ['', '***'],
  ]
  for (const [url, shown] of rows) {
    assert.equal(hideWebhookUrl(url), shown)
    assert.equal(hideWebhookUrl(shown), shown)
  }
})

test('a URL as a read shows it is not taken for one', () => {
  const policy = new AddressPolicy([])
  assert.match(checkWebhookUrl(hideWebhookUrl(SLACK), policy) ?? '', /provide the complete URL/)
  assert.equal(checkWebhookUrl(SLACK, policy), null)
})

test('what a receiver says repeats no part of the URL that was called', () => {
  const url = `${SLACK}?signature=0123456789&x=${'%C3%BC'.repeat(9)}`
  const rows: readonly (readonly [text: string, shown: string])[] = [
    ['no_service', 'no_service'],
    ['nothing at /services/T0123ABCD/B0456EFGH/abcdefghijklmnop', 'nothing at ***'],
    ['token abcdefghijklmnop is revoked', 'token *** is revoked'],
    ['T0123ABCD and B0456EFGH', '*** and ***'],
    ['signature 0123456789 does not match', '*** *** does not match'],
    [`you said ${'ü'.repeat(9)}`, 'you said ***'],
    [`you said ${'%C3%BC'.repeat(9)}`, 'you said ***'],
    [`GET ${SLACK} 404`, 'GET https://hooks.slack.com*** 404'],
    ['it was cut at abcdefghij', 'it was cut at ***'],
    ['it was cut at /services/T0123A', 'it was cut at ***'],
    ['services are down', 'services are down'],
    ['', ''],
  ]
  for (const [text, shown] of rows) assert.equal(hideUrlParts(text, url), shown)
})

const changed = (action: string, before: unknown, after: unknown) =>
  activityEntry('admin_action', { data: { action, before, after } })

const HOLDING = [
  changed('integration.create', null, {
    auth: { type: 'basic', username: 'sk_live_1', password_last4: null },
  }),
  changed(
    'integration.update',
    { auth: { type: 'basic', username: 'sk_live_1', password_last4: 'abcd' } },
    { auth: { type: 'bearer', token_last4: 'wxyz' }, auth_replaced: true },
  ),
  changed(
    'integration.delete',
    { auth: { type: 'basic', username: 'sk_live_1' }, scopes: 1 },
    null,
  ),
  changed('integration.of_tomorrow', { auth: { type: 'basic', username: ['sk_live_1'] } }, 7),
  changed('webhook.create', null, { url: `${SLACK}/sk_live_1` }),
  changed('webhook.update', { url: `${SLACK}/sk_live_1` }, { url: `${SLACK}/sk_live_1/2` }),
  changed('webhook.delete', { url: 'https://h.example.com/?sk_live_1', name: 'a' }, null),
]
const HOLDING_NONE = [
  changed('integration.create', null, {
    auth: { type: 'basic', username_last4: null, password_last4: null },
  }),
  changed('integration.create', null, { auth: { type: 'header', name: 'x', value_last4: 'abcd' } }),
  changed('integration.create', null, { auth: { type: 'of_tomorrow', username: 'u' } }),
  changed('integration.update', { name: 'username' }, { name: 'url', auth_replaced: true }),
  changed('webhook.create', null, { url: 'https://hooks.slack.com/***' }),
  changed('webhook.create', null, { url: 'https://h.example.com/' }),
  changed('webhook.update', { left_out: true, size_bytes: 9 }, { secret: 'changed' }),
  changed('agent.update', { metadata: { url: 'https://x/y', username: 'u' } }, null),
  changed('organization.create', undefined, 'text'),
  activityEntry('request_allowed', { data: { auth: { type: 'basic', username: 'u' } } }),
]

test('a secret that version 0.1 wrote into the log is in no entry that anybody reads', () => {
  for (const entry of HOLDING) {
    const shown = hideFormerSecrets(entry)
    assert.doesNotMatch(JSON.stringify(shown), /sk_live_1/)
    assert.equal(hideFormerSecrets(shown), shown)
    assert.deepEqual({ ...shown, data: null }, { ...entry, data: null })
  }
  for (const entry of HOLDING_NONE) assert.equal(hideFormerSecrets(entry), entry)
  const { data } = hideFormerSecrets(HOLDING[1] ?? activityEntry('admin_action'))
  assert.deepEqual(data, {
    action: 'integration.update',
    before: { auth: { type: 'basic', username_last4: null, password_last4: 'abcd' } },
    after: { auth: { type: 'bearer', token_last4: 'wxyz' }, auth_replaced: true },
  })
})

test('agw doctor names the files of the archive that show one, with the number of their lines', async () => {
  const folder = join(tempFolder('archive'), 'archive')
  assert.deepEqual(await checkArchive(folder), [])
  const key = { key_id: 'k', key: Buffer.alloc(32) }
  const write = (name: string, entries: readonly object[]): string => {
    const file = join(folder, 'ins_1', 'org_default', name)
    mkdirSync(join(folder, 'ins_1', 'org_default'), { recursive: true })
    const lines = entries.map((entry, n) => {
      const entry_text = JSON.stringify(entry)
      return writeArchiveLines([{ n, place: '1-0', entry_text }], key, 'start').bytes.toString()
    })
    writeFileSync(file, lines.join(''))
    return file
  }
  write('2026-01-01T00.ndjson', HOLDING_NONE)
  write('2026-01-01T01.ndjson', [{ gap: { missing: 1 } }])
  assert.deepEqual(await checkArchive(folder), [
    { check: 'archive', state: 'ok', says: '2 files show no secret' },
  ])
  const two = write('2026-01-01T02.ndjson', [...HOLDING_NONE, ...HOLDING.slice(0, 2)])
  const one = write('2026-01-01T03.ndjson', HOLDING.slice(4, 5))
  writeFileSync(one, '{"torn', { flag: 'a' })
  const findings = await checkArchive(folder)
  assert.deepEqual(
    findings.map(({ state, says }) => [state, says]),
    [
      ['warning', `${one} shows user names or webhook URLs in 1 line`],
      ['warning', `${two} shows user names or webhook URLs in 2 lines`],
    ],
  )
  const [late] = await checkArchive(folder, -1)
  assert.equal(late?.says, '4 of 4 files could not be checked within -0.001 s')
})
