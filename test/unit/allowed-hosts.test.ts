import assert from 'node:assert/strict'
import { hostname } from 'node:os'
import { test } from 'node:test'
import { allowedHosts } from '../../admin/http/allowed-hosts.ts'
import { readSettings } from '../../core/settings/settings.ts'

const checkOf = (env: Record<string, string>): ((host: string | undefined) => boolean) => {
  const read = readSettings(env)
  if (!read.ok) throw new Error(read.problems.join('\n'))
  return allowedHosts(read.settings)
}

test('threat: a DNS name that is not configured is refused, however it is written', () => {
  const isAllowed = checkOf({})
  const refused = [
    'evil.example',
    'evil.example:8081',
    'EVIL.example.',
    '127.0.0.1.evil.example',
    '127.0.0.1.nip.io:8081',
    'localhost.evil.example',
    'evil-localhost',
    'localhostt',
    'rebind',
    'admin',
    'a.b.c.d',
    '127.0.0.1@evil.example',
    'evil.example@127.0.0.1',
    'evil.example#127.0.0.1',
    'evil.example, 127.0.0.1',
    '127.0.0.1 evil.example',
    'evil.example/127.0.0.1',
    '[::1].evil.example',
    '[evil.example]',
    '[127.0.0.1]',
    '::1',
    '127.1',
    '2130706433',
    '0x7f000001',
    '0177.0.0.1',
    '127.0.0.1:80:80',
    '127.0.0.1:port',
    '',
    ' ',
    ':8081',
    '\u0661\u0662\u0667.0.0.1',
  ]
  for (const host of refused) assert.equal(isAllowed(host), false, host)
})

test('addresses, localhost and the names of the machine are always allowed', () => {
  const isAllowed = checkOf({ AGW_API_HOST: 'gateway.internal' })
  const allowed = [
    '127.0.0.1',
    '127.0.0.1:8081',
    '10.4.5.6:80',
    '192.0.2.1',
    '[::1]',
    '[::1]:8081',
    '[fd00::7]:8081',
    '[::ffff:10.0.0.1]:8081',
    'localhost',
    'LOCALHOST:8081',
    'localhost.:8081',
    'agw.localhost',
    'gateway.internal',
    'Gateway.Internal.:8081',
    hostname(),
    undefined,
  ]
  for (const host of allowed) assert.equal(isAllowed(host), true, host)
})

test('further names are those of the setting, whole or below a domain', () => {
  const isAllowed = checkOf({ AGW_API_ALLOWED_HOSTS: 'agw.example.com, *.internal, admin' })
  for (const host of [
    'agw.example.com',
    'AGW.example.com:443',
    'a.internal',
    'a.b.internal:1',
    'admin:8081',
  ])
    assert.equal(isAllowed(host), true, host)
  for (const host of [
    'internal',
    'xinternal',
    'x.agw.example.com',
    'example.com',
    'a.internal.evil.example',
    'admin2',
  ])
    assert.equal(isAllowed(host), false, host)
})

test('the setting accepts only host names', () => {
  for (const text of ['*', '*.', 'http://a', 'a:80', 'a b', '*.a*', '[::1]', 'a/b', '.a', 'a..'])
    assert.equal(readSettings({ AGW_API_ALLOWED_HOSTS: text }).ok, false, text)
})
