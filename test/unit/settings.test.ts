import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fromRoot } from '../../core/system/root.ts'
import {
  type Environment,
  readSettings,
  type Settings,
  SETTINGS,
  unknownSettings,
  withoutSecrets,
} from '../../core/settings/settings.ts'
import { tempFolder } from '../kit/temp-folder.ts'

const problemsOf = (env: Environment): readonly string[] => {
  const read = readSettings(env)
  return read.ok ? [] : read.problems
}

const settingsOf = (env: Environment): Settings => {
  const read = readSettings(env)
  if (!read.ok) throw new Error(read.problems.join('\n'))
  return read.settings
}

const file = fromRoot('package.json')

test('an empty environment, and variables set to nothing, give the documented defaults', () => {
  for (const env of [{}, { AGW_PROXY_PORT: '', REDIS_URL: ' ' }]) {
    const settings = settingsOf(env)
    assert.equal(settings.proxyHost, '127.0.0.1')
    assert.equal(settings.proxyPort, 8080)
    assert.equal(settings.apiPort, 8081)
    assert.equal(settings.forwardPort, 8083)
    assert.equal(settings.redisUrl, null)
    assert.equal(settings.organizationId, 'org_default')
    assert.equal(settings.maxBodyBytes, 8_388_608)
    assert.equal(settings.upstreamIdleTimeout_ms, 900_000)
    assert.deepEqual(settings.webhookDelays_ms, [0, 60_000, 300_000, 1_800_000, 7_200_000])
    assert.equal(settings.killLease_ms, 3_000)
    assert.equal(settings.proxyAdmin, true)
    assert.equal(settings.extProcWorkers, Math.min(8, Math.ceil(availableParallelism() / 2) + 1))
    assert.equal(settings.envoyConcurrency, Math.ceil(availableParallelism() / 2))
  }
})

test('each faulty value is named by its variable, and all of them at once', () => {
  const rows: Readonly<Record<string, string>> = {
    AGW_PROXY_HOST: 'http://127.0.0.1',
    AGW_PROXY_PORT: '65536',
    AGW_API_PORT: '-1',
    REDIS_URL: 'redis+sentinel://one:26379,two:26379',
    ENVOY_BIN: '/nowhere/envoy',
    AGW_ADMIN_TOKEN: 'has a space in it',
    AGW_ADMIN_EMAIL: 'nobody',
    AGW_ENCRYPTION_KEY: randomBytes(31).toString('base64'),
    AGW_ORGANIZATION_ID: 'org/1',
    AGW_EXT_PROC_WORKERS: '0',
    AGW_ENVOY_CONCURRENCY: '0',
    AGW_MAX_BODY_BYTES: '8MB',
    AGW_TRUSTED_HOPS: '1.5',
    AGW_UPSTREAM_IDLE_TIMEOUT: '15',
    AGW_EGRESS_ALLOW_CIDRS: '10.0.0.0/33',
    AGW_EGRESS_PROXY: 'https://user:proxy-password@proxy:3128',
    AGW_EGRESS_NO_PROXY: 'a b',
    AGW_EGRESS_PROXY_RESOLVES: 'yes',
    AGW_UPSTREAM_CA_FILE: '/nowhere/ca.pem',
    AGW_WEBHOOK_DELAYS: '0s,soon',
    AGW_SMTP_URL: 'mail.example',
    AGW_EDGE_ID: 'edge one',
    AGW_PROXY_ADMIN: 'true',
    AGW_EXT_PROC_ADDRESS: 'unix:relative.sock',
    AGW_KILL_LEASE_MS: '10',
    AGW_DNS_RESOLVERS: '127.0.0.1',
  }
  const problems = problemsOf(rows)
  for (const name of Object.keys(rows))
    assert.equal(
      problems.filter((problem) => problem.startsWith(`${name} `)).length >= 1,
      true,
      name,
    )
  for (const secret of ['AGW_ADMIN_TOKEN', 'AGW_ENCRYPTION_KEY', 'AGW_EGRESS_PROXY'])
    assert.ok(!problems.join('\n').includes(rows[secret] ?? ''), secret)
})

test('settings that contradict each other are errors', () => {
  const rows: ReadonlyArray<readonly [Record<string, string>, RegExp]> = [
    [{ AGW_TLS_CERT_FILE: file }, /AGW_TLS_CERT_FILE and AGW_TLS_KEY_FILE/],
    [{ AGW_TLS_KEY_FILE: file }, /AGW_TLS_CERT_FILE and AGW_TLS_KEY_FILE/],
    [{ AGW_EXT_PROC_ADDRESS: '10.0.0.1:9000' }, /AGW_EXT_PROC_TLS_CERT_FILE.*KEY.*CA/],
    [{ AGW_ACCESS_LOG_ADDRESS: '10.0.0.1:9001' }, /AGW_ACCESS_LOG_ADDRESS is a TCP address/],
    [
      {
        AGW_EXT_PROC_ADDRESS: '10.0.0.1:9000',
        AGW_EXT_PROC_TLS_CERT_FILE: file,
        AGW_EXT_PROC_TLS_KEY_FILE: file,
      },
      /AGW_EXT_PROC_TLS_CA_FILE missing/,
    ],
    [{ AGW_EXT_PROC_TLS_CA_FILE: file }, /must be set together/],
    [{ AGW_PROXY_PORT: '9', AGW_API_PORT: '9' }, /must be different/],
    [{ AGW_PROXY_PORT: '8083' }, /AGW_FORWARD_PORT \(8083 if unset; or off\) and AGW_PROXY_PORT/],
    [{ AGW_API_PORT: '8083' }, /AGW_FORWARD_PORT .* and AGW_API_PORT must be different/],
    [{ AGW_SMTP_URL: 'smtp://mail.example' }, /AGW_ALERT_EMAIL_FROM/],
    [{ AGW_WEBHOOK_DELAYS: ',' }, /at least one delay/],
    [{ AGW_EGRESS_PROXY_RESOLVES: 'true' }, /requires AGW_EGRESS_PROXY/],
  ]
  for (const [env, problem] of rows) assert.match(problemsOf(env).join('\n'), problem)
  assert.deepEqual(problemsOf({ AGW_PROXY_PORT: '0', AGW_API_PORT: '0' }), [])
  assert.deepEqual(problemsOf({ AGW_API_PORT: '8083', AGW_FORWARD_PORT: 'off' }), [])
  assert.equal(problemsOf({ AGW_PROXY_PORT: 'x', AGW_API_PORT: 'y' }).length, 2)
})

test('every form of a store is accepted and no other', () => {
  const good = [
    'redis://localhost',
    'rediss://user:pass@store.example:6380/2',
    'unix:///run/agw/valkey.sock',
    'redis+sentinel://one:26379,two:26379/main',
    'redis+cluster://user:pass@one:6379,[::1]:6379',
  ]
  const bad = [
    'http://x',
    'redis://',
    'unix://relative',
    'redis+cluster://one',
    'valkey',
    'redis+sentinel://a:1',
  ]
  for (const url of good) assert.equal(settingsOf({ REDIS_URL: url }).redisUrl, url)
  for (const url of bad) assert.equal(problemsOf({ REDIS_URL: url }).length, 1, url)
})

test('ranges are made canonical, and a bare address is a range of one', () => {
  const { egressAllowCidrs } = settingsOf({
    AGW_EGRESS_ALLOW_CIDRS: '10.1.2.3/8, 192.168.1.7 ,fd00:0:0::1/64',
  })
  assert.deepEqual(egressAllowCidrs, ['10.0.0.0/8', '192.168.1.7/32', 'fd00::/64'])
})

test('several encryption keys, the newest first, may be given for a rotation', () => {
  const keys = [randomBytes(32).toString('base64'), randomBytes(32).toString('base64url')].join(
    ', ',
  )
  assert.equal(settingsOf({ AGW_ENCRYPTION_KEY: keys }).encryptionKey, keys)
})

test('an AGW_ variable that is not a setting is reported', () => {
  assert.deepEqual(
    unknownSettings({ AGW_PROXY_PROT: '1', AGW_URL: 'x', AGW_TOKEN: 'y', HOME: '/' }),
    ['AGW_PROXY_PROT is not a setting of this gateway.'],
  )
})

test('an admin token has at least 32 characters, and the message says how to make one', () => {
  for (const token of ['a', 'x'.repeat(8), randomBytes(15).toString('hex'), 'y'.repeat(31)])
    assert.match(
      problemsOf({ AGW_ADMIN_TOKEN: token }).join(),
      /^AGW_ADMIN_TOKEN (has fewer than 32 characters\. Generate one with: openssl rand|is not a token)/,
    )
  for (const length of [32, 33, 64, 512]) {
    const token = 'z'.repeat(length)
    assert.equal(settingsOf({ AGW_ADMIN_TOKEN: token }).adminToken, token)
  }
  assert.equal(problemsOf({ AGW_ADMIN_TOKEN: 'z'.repeat(513) }).length, 1)
  assert.equal(problemsOf({ AGW_ADMIN_TOKEN: `${'z'.repeat(40)} ${'z'.repeat(40)}` }).length, 1)
})

test('a verdict secret is one token or a few, newest first', () => {
  const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((letter) => letter.repeat(64))
  const rows: ReadonlyArray<readonly [string, readonly (string | undefined)[]]> = [
    [`${a}`, [a]],
    [`${a},${b}`, [a, b]],
    [` ${a} , ${b} ,${c}`, [a, b, c]],
    [`${a},${a}`, [a]],
  ]
  for (const [text, secrets] of rows)
    assert.deepEqual(settingsOf({ AGW_VERDICT_SECRET: text }).verdictSecrets, secrets)
  for (const text of [`${a},`, `,${a}`, `${a},short`, `${a} ${b}`, [a, b, c, d].join(',')]) {
    const problems = problemsOf({ AGW_VERDICT_SECRET: text }).join()
    assert.match(problems, /^AGW_VERDICT_SECRET (is not a token|lists more than 3)/, text)
    assert.doesNotMatch(problems, /aaa|bbb|short/)
  }
})

test('logs are exported to OTLP/HTTP alone', () => {
  const of = (url: string) => problemsOf({ AGW_LOG_EXPORT_URL: url }).join()
  assert.equal(of('https://c/v1/logs'), '')
  assert.match(of('syslog+tls://siem.example:6514'), /^AGW_LOG_EXPORT_URL is not http.*Collector/)
})

/** A value of each secret setting, by its variable. */
const SECRETS: Readonly<Record<string, readonly [keyof Settings, string, object?]>> = {
  AGW_ADMIN_TOKEN: ['adminToken', 't'.repeat(40)],
  AGW_GENERATED_ADMIN_TOKEN: ['generatedAdminToken', 'g'.repeat(40)],
  AGW_LOG_EXPORT_HEADERS: ['logExportHeaders', 'authorization=x', { authorization: 'x' }],
  AGW_TRACE_HEADERS: ['traceHeaders', 'authorization=x', { authorization: 'x' }],
  AGW_ENCRYPTION_KEY: ['encryptionKey', randomBytes(32).toString('base64')],
  AGW_VERDICT_SECRET: ['verdictSecrets', 'v'.repeat(64)],
  AGW_EGRESS_PROXY: ['egressProxy', 'http://user:pass@proxy:3128'],
  AGW_SMTP_URL: ['smtpUrl', 'smtps://user:pass@mail.example'],
  AGW_VAULT_TOKEN: ['vaultToken', 'hvs.token'],
  AGW_AWS_SECRET_ACCESS_KEY: ['awsSecretAccessKey', 'secret-key'],
  AGW_AWS_SESSION_TOKEN: ['awsSessionToken', 'session-token'],
  REDIS_URL: ['redisUrl', 'rediss://user:pass@store.example:6380'],
  REDIS_SENTINEL_PASSWORD: ['redisSentinelPassword', 'sentinel password'],
}
const AWS = { AGW_AWS_REGION: 'eu-west-1', AGW_AWS_ACCESS_KEY_ID: 'AKIA' }
/** What a secret setting needs in addition. */
const WITH: Readonly<Record<string, Environment>> = {
  AGW_LOG_EXPORT_HEADERS: { AGW_LOG_EXPORT_URL: 'http://127.0.0.1:4318/v1/logs' },
  AGW_TRACE_HEADERS: { AGW_TRACE_URL: 'http://127.0.0.1:4318/v1/traces' },
  AGW_SMTP_URL: { AGW_ALERT_EMAIL_FROM: 'a@b.example', AGW_ALERT_EMAIL_TO: 'c@d.example' },
  AGW_VAULT_TOKEN: { AGW_VAULT_ADDR: 'https://vault.example' },
  AGW_AWS_SECRET_ACCESS_KEY: AWS,
  AGW_AWS_SESSION_TOKEN: { ...AWS, AGW_AWS_SECRET_ACCESS_KEY: 'secret-key' },
  REDIS_SENTINEL_PASSWORD: { REDIS_URL: 'redis+sentinel://one:26379/main' },
}

test('every secret setting can come from a file, and no other setting can', () => {
  const folder = tempFolder('settings')
  const names = Object.values(SETTINGS)
    .filter(({ kind }) => kind.is_secret === true)
    .map(({ name }) => name)
  assert.deepEqual([...names].sort(), Object.keys(SECRETS).sort())
  for (const [name, [field, value, parsed = value]] of Object.entries(SECRETS)) {
    const path = join(folder, name)
    for (const content of [value, `${value}\n`, `${value}\r\n`, `\ufeff${value}\n\n`]) {
      writeFileSync(path, content)
      const read = settingsOf({ ...WITH[name], [`${name}_FILE`]: path })[field]
      assert.deepEqual([read].flat(), [parsed], name)
    }
    assert.deepEqual(unknownSettings({ [`${name}_FILE`]: path }), [])
  }
  assert.equal(unknownSettings({ AGW_API_PORT_FILE: file }).length, 1)
})

test('a file of a secret that cannot be used aborts startup and is named, without its content', () => {
  const folder = tempFolder('settings')
  const put = (name: string, content: string): string => {
    writeFileSync(join(folder, name), content)
    return join(folder, name)
  }
  mkdirSync(join(folder, 'directory'))
  const good = put('good', 'g'.repeat(40))
  const rows: ReadonlyArray<readonly [Record<string, string>, RegExp]> = [
    [{ AGW_ADMIN_TOKEN: 'g'.repeat(40), AGW_ADMIN_TOKEN_FILE: good }, /are both set/],
    [{ REDIS_URL: 'redis://a', REDIS_URL_FILE: good }, /REDIS_URL and REDIS_URL_FILE are both set/],
    [
      { AGW_ADMIN_TOKEN_FILE: '/nowhere/token' },
      /_FILE names a file .* \/nowhere\/token \(ENOENT\)/,
    ],
    [{ AGW_ADMIN_TOKEN_FILE: join(good, 'x') }, /cannot be read: .*ENOTDIR/],
    [{ AGW_ADMIN_TOKEN_FILE: join(folder, 'directory') }, /not a regular file: .*directory/],
    [{ AGW_ADMIN_TOKEN_FILE: '/dev/zero' }, /not a regular file/],
    [{ AGW_ADMIN_TOKEN_FILE: put('empty', '') }, /names an empty file: .*empty/],
    [{ AGW_ADMIN_TOKEN_FILE: put('blank', ' \n\t\n') }, /names an empty file: .*blank/],
    [{ AGW_ADMIN_TOKEN_FILE: put('large', 'l'.repeat(70_000)) }, /more than 65536 bytes/],
    [{ AGW_ADMIN_TOKEN_FILE: put('short', 'short-token') }, /short\) has fewer than 32 characters/],
    [{ AGW_ADMIN_TOKEN_FILE: put('lines', `${'a'.repeat(40)}\n${'b'.repeat(40)}`) }, /not a token/],
    [{ AGW_ENCRYPTION_KEY_FILE: put('key', 'short-key') }, /AGW_ENCRYPTION_KEY_FILE .* 32 bytes/],
    [
      { REDIS_URL_FILE: put('url', 'http://hidden-host') },
      /REDIS_URL_FILE .* must be one of redis/,
    ],
    [{ AGW_SMTP_URL_FILE: put('smtp', 'hidden-mail') }, /AGW_SMTP_URL_FILE .* is not smtp/],
    [{ AGW_VERDICT_SECRET_FILE: put('verdict', 'a b') }, /AGW_VERDICT_SECRET_FILE/],
  ]
  for (const [env, problem] of rows) {
    const text = problemsOf({ ...WITH['AGW_SMTP_URL'], ...env }).join('\n')
    assert.match(text, problem)
    assert.doesNotMatch(text, /g{40}|short-token|a{40}|short-key|hidden/)
  }
})

test('a child of the launcher gets a secret of its own only, whichever form the operator used', () => {
  const env = { AGW_ADMIN_TOKEN_FILE: '/a', REDIS_URL_FILE: '/b', AGW_ADMIN_TOKEN: 'c', PATH: '/d' }
  assert.deepEqual(withoutSecrets(env, ['AGW_ADMIN_TOKEN', 'REDIS_URL']), { PATH: '/d' })
})

test('an encryption key that is given where its id belongs is not in the message', () => {
  const key = randomBytes(32).toString('base64')
  for (const value of [key, `0123abcd, ${key}`, `${key},${key}`]) {
    const problems = problemsOf({ AGW_LOST_ENCRYPTION_KEYS: value }).join('\n')
    assert.match(problems, /AGW_LOST_ENCRYPTION_KEYS contains value \d, which is not a key id of 8/)
    assert.ok(!problems.includes(key), problems)
  }
})

test('a percentage has at most two decimals, and the options of an export need its address', () => {
  const url = { AGW_TRACE_URL: 'http://127.0.0.1:4318/v1/traces' }
  assert.equal(settingsOf(url).traceSample, 1)
  assert.equal(settingsOf({}).traceUrl, null)
  for (const [text, value] of [
    ['0.01', 0.01],
    ['100', 100],
    ['12.5', 12.5],
  ] as const)
    assert.equal(settingsOf({ ...url, AGW_TRACE_SAMPLE: text }).traceSample, value)
  for (const text of ['0', '0.00', '100.01', '0.001', '1%', '-1', '1e1'])
    assert.match(
      problemsOf({ ...url, AGW_TRACE_SAMPLE: text }).join(),
      /^AGW_TRACE_SAMPLE is not a percentage/,
      text,
    )
  assert.deepEqual(problemsOf({ AGW_TRACE_SAMPLE: '5', AGW_TRACE_HEADERS: 'a=b' }), [
    'AGW_TRACE_HEADERS requires AGW_TRACE_URL.',
    'AGW_TRACE_SAMPLE requires AGW_TRACE_URL.',
  ])
})
