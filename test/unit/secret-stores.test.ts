import assert from 'node:assert/strict'
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { checkAuth, mayNameIn } from '../../admin/integrations/check-auth.ts'
import type { OpenedAuth } from '../../core/credential/catalogue.ts'
import { isReferencePrefix } from '../../core/credential/secret-reference.ts'
import { parseKeyRing } from '../../core/keys/seal.ts'
import { withOwnKey } from '../../core/secret/read-own-key.ts'
import { SecretReferences } from '../../core/secret/secret-references.ts'
import { secretStores } from '../../core/secret/secret-stores.ts'
import { readSettings } from '../../core/settings/settings.ts'
import { openAuth, sealAuth } from '../../core/store/credential-binding.ts'
import { AWS_KEY, startSecretStores, VAULT_TOKEN } from '../kit/start-secret-stores.ts'
import { decide, ORG } from './decision-kit.ts'
import { anIntegration } from './policy-kit.ts'

const MINE = 'org_mine'
const THEIRS = 'org_theirs'
const VALUE = 'value-that-must-not-appear'
const stub = await startSecretStores()
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'agw-stores-')))
const token_file = join(folder, 'token')
after(async () => {
  rmSync(folder, { recursive: true })
  await stub.stop()
})
const env = {
  AGW_VAULT_ADDR: stub.url,
  AGW_VAULT_TOKEN_FILE: token_file,
  AGW_AWS_REGION: 'eu-west-1',
  AGW_AWS_ACCESS_KEY_ID: AWS_KEY.id,
  AGW_AWS_SECRET_ACCESS_KEY: AWS_KEY.secret,
  AGW_AWS_SECRETS_URL: stub.url,
  AGW_SECRET_THEIRS: VALUE,
  AGW_SECRET_REFS: JSON.stringify({
    [MINE]: [
      'vault:kv/data/agents/mine/',
      'vault:v1/mine/',
      'aws-sm:agents/mine/',
      'env:AGW_SECRET_MINE_',
    ],
    [THEIRS]: ['vault:kv/data/agents/theirs/', 'aws-sm:agents/theirs/', 'env:AGW_SECRET_THEIRS'],
  }),
}
function fill(): void {
  writeFileSync(token_file, `${VAULT_TOKEN}\n`)
  stub.isUp = true
  stub.asked.length = 0
  for (const name of Object.keys(stub.secrets)) Reflect.deleteProperty(stub.secrets, name)
  stub.secrets['kv/data/agents/mine/openai'] = { key: 'the right key', other: 'another' }
  stub.secrets['v1/mine/openai'] = { key: 'of version 1' }
  stub.secrets['agents/mine/openai'] = { key: 'of AWS' }
  stub.secrets['agents/mine/text'] = { text: 'a text of AWS' }
  for (const name of [
    'kv/data/agents/theirs/key',
    'agents/theirs/key',
    'kv/data/other',
    'sys/mounts',
  ])
    stub.secrets[name] = { key: VALUE, text: VALUE }
}

fill()
const read = readSettings(env)
assert.ok(read.ok)
const { settings } = read
const ring = parseKeyRing(Buffer.alloc(32, 7).toString('base64'))
const bearer = (ref: string) => ({ type: 'bearer', token: { ref } }) as never

function makeReferences() {
  fill()
  const clock = { now_ms: 0 }
  const alerts: unknown[] = []
  const lines: unknown[] = []
  const note = (...line: unknown[]): void => void lines.push(line)
  /** Variables that were read. */
  const read_names: string[] = []
  const watched = new Proxy<Readonly<Record<string, string | undefined>>>(env, {
    get: (all, name) => (read_names.push(String(name)), all[String(name)]),
  })
  const references = new SecretReferences({
    refs: settings.secretRefs,
    stores: secretStores(settings, watched),
    nowMs: () => clock.now_ms,
    log: { warn: note, error: note } as never,
    onStale: (...alert) => void alerts.push(alert),
  })
  const opened = new Map<string, OpenedAuth>()
  const resolve = (ref: string) => {
    const owner = { ...anIntegration('https://api.example.com'), auth: bearer(ref) }
    const auth =
      opened.get(ref) ?? (openAuth(ring, { ...owner, auth: sealAuth(ring, owner) }) as OpenedAuth)
    opened.set(ref, auth)
    return references.resolve(MINE, auth)
  }
  const value = async (ref: string): Promise<string | null> => {
    const found = await resolve(ref)
    return found?.type === 'bearer' ? found.token.reveal() : null
  }
  return { clock, alerts, lines, value, resolve, read_names }
}

test('a secret comes from Vault and from Secrets Manager', async () => {
  const { value } = makeReferences()
  for (const [ref, expected] of [
    ['vault:kv/data/agents/mine/openai#key', 'the right key'],
    ['vault:kv/data/agents/mine/openai#other', 'another'],
    ['vault:v1/mine/openai#key', 'of version 1'],
    ['aws-sm:agents/mine/openai#key', 'of AWS'],
    ['aws-sm:agents/mine/text', 'a text of AWS'],
    ['vault:kv/data/agents/mine/openai#absent', null],
    ['vault:kv/data/agents/mine/absent#key', null],
    ['aws-sm:agents/mine/absent', null],
    ['aws-sm:agents/mine/text#key', null],
  ] as const) {
    assert.deepEqual(checkAuth(bearer(ref), mayNameIn(settings.secretRefs, MINE)), [], ref)
    assert.equal(await value(ref), expected, ref)
  }
})

test('while a store is down the last value is used for an hour, with one alert, and no call waits', async () => {
  const { clock, alerts, value } = makeReferences()
  const ref = 'vault:kv/data/agents/mine/openai#key'
  assert.equal(await value(ref), 'the right key')
  for (let i = 0; i < 10; i++) assert.equal(await value(ref), 'the right key')
  assert.equal(stub.asked.length, 1)
  stub.isUp = false
  const MINUTE_MS = 60_000
  for (let minute = 6; minute <= 59; minute += 1) {
    clock.now_ms = minute * MINUTE_MS
    assert.equal(await value(ref), 'the right key')
    await new Promise(setImmediate)
  }
  clock.now_ms = 61 * MINUTE_MS
  assert.equal(await value(ref), null)
  assert.equal(alerts.length, 1)
  stub.isUp = true
  writeFileSync(token_file, 'hvs.wrong')
  clock.now_ms += MINUTE_MS
  assert.equal(await value(ref), null)
  writeFileSync(token_file, VAULT_TOKEN)
  clock.now_ms += MINUTE_MS
  assert.equal(await value(ref), 'the right key')
})

/** What an admin of one organization tries: variables, files, other paths, and spellings of them. */
function attacks(): string[] {
  const places = [
    'kv/data/agents/theirs/key#key',
    'kv/data/agents/mine/../theirs/key#key',
    'kv/data/agents/mine/..%2ftheirs/key#key',
    'kv/data/agents/mine/%2e%2e/theirs/key#key',
    'kv/data/agents/mine//../theirs/key#key',
    'kv/data/agents/mine/./../theirs/key#key',
    'kv/data/agents/mine\\..\\theirs\\key#key',
    'kv/data/agents/mine/;/../theirs/key#key',
    'kv/data/agents/mine/?list=true#key',
    'kv/data/agents/mine/openai?version=1#key',
    'kv/data/agents/mineral/key#key',
    'kv/data/other#key',
    'kv/metadata/agents/mine/openai#key',
    'sys/mounts#key',
    'auth/token/lookup-self#id',
    '/kv/data/agents/theirs/key#key',
    'KV/data/agents/mine/openai#key',
    'kv/data/agents/mine/\r\nX-Vault-Token: x#key',
    'kv/data/agents/mine/openai#key#key',
    'kv/data/agents/mine/openai#',
    'agents/theirs/key',
    'agents/theirs/key#key',
    'arn:aws:secretsmanager:eu-west-1:1:secret:agents/mine/openai',
    '@evil.test/kv#key',
    'https://evil.test/v1/kv#key',
    '/proc/self/environ',
    '/etc/passwd',
    `${token_file}`,
    `${folder}/../token`,
    'AGW_SECRET_THEIRS',
    'AGW_VAULT_TOKEN',
    'AGW_ENCRYPTION_KEY',
    'AGW_SECRET_REFS',
    'PATH',
  ]
  const kinds = ['vault', 'aws-sm', 'file', 'env', 'VAULT', 'vault ', 'gcp-sm']
  return kinds.flatMap((kind) => places.map((place) => `${kind}:${place}`))
}

test('200 references of an admin of another organization: no value, one answer, and nothing is read whose time could tell', async () => {
  const { resolve, lines, read_names } = makeReferences()
  const refs = { ...settings.secretRefs, [ORG]: settings.secretRefs[MINE] ?? [] }
  const [messages, answers] = [new Set<string>(), new Set<string>()]
  const tried = attacks()
  assert.ok(tried.length >= 200, String(tried.length))
  for (const ref of tried) {
    const issues = checkAuth(bearer(ref), mayNameIn(settings.secretRefs, MINE))
    assert.equal(issues.length, 1, ref)
    messages.add(`${issues[0]?.path} ${issues[0]?.message}`)
    // In a store that somebody has changed. It is refused at once: nothing that exists or not is waited for.
    assert.equal(resolve(ref), null, ref)
    const { verdict } = await decide({ auth: bearer(ref), refs, env })
    assert.ok(verdict.kind === 'deny')
    const { details, data } = verdict.denial
    answers.add(JSON.stringify([verdict.denial.reason, details, data]))
  }
  assert.equal(answers.size, 1)
  assert.deepEqual(read_names, [])
  assert.equal(messages.size, 1)
  assert.deepEqual(stub.asked, [])
  assert.doesNotMatch(JSON.stringify([...messages, ...answers, ...lines]), new RegExp(VALUE))
})

test('the encryption key of a deployment may be in a store, and a start without it ends', async () => {
  fill()
  const key = Buffer.alloc(32, 9).toString('base64')
  stub.secrets['kv/data/gateway'] = { key }
  const given = { ...env, AGW_ENCRYPTION_KEY: 'vault:kv/data/gateway#key' }
  assert.equal((await withOwnKey(given))['AGW_ENCRYPTION_KEY'], key)
  assert.equal(await withOwnKey(env), env)
  const absent = { ...env, AGW_ENCRYPTION_KEY: 'vault:kv/data/absent#key' }
  await assert.rejects(withOwnKey(absent), /AGW_ENCRYPTION_KEY is vault:kv\/data\/absent#key/)
  await assert.rejects(
    withOwnKey({ ...given, AGW_VAULT_ADDR: undefined, AGW_VAULT_TOKEN_FILE: undefined }),
    /no value/,
  )
})

test('a prefix of a store ends with a slash, and names one path', () => {
  for (const prefix of ['vault:kv/data/agents/', 'aws-sm:agents/'])
    assert.ok(isReferencePrefix(prefix))
  for (const prefix of [
    'vault:',
    'vault:/',
    'vault:kv',
    'vault:kv/../',
    'aws-sm:',
    'aws-sm:a',
    'vault:k#v/',
    'gcp-sm:a/',
  ])
    assert.ok(!isReferencePrefix(prefix), prefix)
})
