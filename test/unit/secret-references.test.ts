import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { checkAuth, mayNameIn } from '../../admin/integrations/check-auth.ts'
import { authView } from '../../admin/integrations/integration-view.ts'
import { AuthSchema } from '../../admin/integrations/auth-schema.ts'
import { checkInput } from '../../admin/http/check-input.ts'
import type { OpenedAuth } from '../../core/credential/catalogue.ts'
import { parseKeyRing, unseal } from '../../core/keys/seal.ts'
import { secretRefs } from '../../core/settings/setting-kinds.ts'
import { SETTINGS, unknownSettings } from '../../core/settings/settings.ts'
import {
  credentialBinding,
  openAuth,
  resealAuth,
  sealAuth,
} from '../../core/store/credential-binding.ts'
import { SecretReferences } from '../../core/secret/secret-references.ts'
import { decide, ORG, storesOf } from './decision-kit.ts'
import { anIntegration } from './policy-kit.ts'

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'agw-refs-')))
after(() => rmSync(folder, { recursive: true }))
const VALUE = 'value-that-must-not-appear'
const [mine, other, data] = ['mine', 'other', 'data'].map((name) => {
  const path = join(folder, name)
  mkdirSync(path)
  writeFileSync(join(path, 'key'), `${name === 'mine' ? 'the right key' : VALUE}\n`)
  return path
}) as [string, string, string]
const other_org = 'org_other'
const refs = {
  [ORG]: ['env:AGW_SECRET_MINE_', `file:${mine}/`],
  [other_org]: ['env:AGW_SECRET_', `file:${other}/`],
}
const env = {
  AGW_SECRET_MINE_A: 'the right key',
  AGW_SECRET_OTHER: VALUE,
  AGW_SECRET_REFS: VALUE,
  AGW_ENCRYPTION_KEY: VALUE,
  REDIS_URL: VALUE,
  PATH: VALUE,
}
const bearer = (ref: string) => ({ type: 'bearer', token: { ref } }) as never
const ring = parseKeyRing(Buffer.alloc(32, 7).toString('base64'))

for (const ref of ['env:AGW_SECRET_MINE_A', `file:${mine}/key`])
  test(`${ref.slice(0, 5)} the API gets what is named, and the store has the name alone`, async () => {
    const { verdict } = await decide({ auth: bearer(ref), refs, env })
    assert.ok(verdict.kind === 'forward')
    const sent = verdict.changes.set.find(({ name }) => name === 'authorization')?.value
    assert.equal(sent, 'Bearer the right key')
  })

symlinkSync(join(other, 'key'), join(mine, 'link'))
symlinkSync(other, join(mine, 'folder'))
symlinkSync('/proc/self/environ', join(mine, 'environ'))
symlinkSync('/dev/zero', join(mine, 'zero'))
execFileSync('mkfifo', [join(mine, 'pipe')])
writeFileSync(join(mine, 'large'), VALUE.repeat(5_000))
writeFileSync(join(mine, 'lines'), `${VALUE}\r\nx-more: 1`)
writeFileSync(join(mine, 'bytes'), Buffer.from([0xff, 0xfe]))
writeFileSync(join(mine, 'empty'), '')

/** What may not be named: refused when it is saved and, where a store was manipulated, when it is used. */
const NEVER = [
  'env:PATH',
  'env:REDIS_URL',
  'env:AGW_ENCRYPTION_KEY',
  'env:AGW_SECRET_REFS',
  'env:AGW_SECRET_REFS_FILE',
  'env:AGW_SECRET_OTHER',
  'env:AGW_SECRET_ABSENT',
  'env:AGW_SECRET_MINE_A\n',
  'env:agw_secret_mine_a',
  'env:__proto__',
  `file:${other}/key`,
  `file:${other}/absent`,
  `file:${data}/key`,
  `file:${mine}`,
  `file:${mine}/`,
  `file:${mine}/../other/key`,
  `file:${mine}/./key`,
  `file:${mine}//key`,
  `file:${mine}-other/key`,
  `file:${mine}/key\0`,
  'file:/proc/self/environ',
  `file:/proc/self/root${other}/key`,
  'file:/etc/passwd',
  'file:../other/key',
  `FILE:${mine}/key`,
  `file://${mine}/key`,
  '',
]
/** What may be named, and is not what a secret can be. */
const UNFIT = [
  'link',
  'folder/key',
  'environ',
  'zero',
  'pipe',
  'large',
  'lines',
  'bytes',
  'empty',
  'absent',
]

const denied = async (ref: string): Promise<void> => {
  const { verdict } = await decide({ auth: bearer(ref), refs, env })
  assert.ok(verdict.kind === 'deny', ref)
  const { reason, details, data: logged } = verdict.denial
  const base_url = 'https://api.example.com/v1'
  assert.equal(reason, 'credential_unavailable', ref)
  assert.deepEqual(details, { base_url })
  assert.deepEqual(logged, { base_url, cause: 'reference_unavailable' })
  assert.doesNotMatch(JSON.stringify(verdict), new RegExp(VALUE))
}

test('an admin of one organization gets no variable, file or path of another or of the gateway', async () => {
  const messages = new Set<string>()
  for (const ref of NEVER) {
    const issues = checkAuth(bearer(ref), mayNameIn(refs, ORG))
    assert.deepEqual(
      issues.map(({ path }) => path),
      ['/auth/token'],
      ref,
    )
    messages.add(issues[0]?.message ?? '')
    await denied(ref)
  }
  assert.equal(messages.size, 1, 'the answer does not say whether it exists')
  assert.match([...messages][0] ?? '', /AGW_SECRET_REFS/)
})

test('what is in the folder is a regular file in it, small, and fit for a header', async () => {
  for (const name of UNFIT) {
    assert.deepEqual(checkAuth(bearer(`file:${mine}/${name}`), mayNameIn(refs, ORG)), [])
    await denied(`file:${mine}/${name}`)
  }
})

test('an organization without prefixes may name nothing, whatever its id is', () => {
  for (const id of ['org_none', '__proto__', 'constructor'])
    assert.equal(checkAuth(bearer('env:AGW_SECRET_MINE_A'), mayNameIn(refs, id)).length, 1)
})

test('a reference is taken for secrets alone, and read back as it is', () => {
  const ref = 'env:AGW_SECRET_MINE_A'
  assert.ok(checkInput(AuthSchema, bearer(ref)).ok)
  for (const wrong of [{ ref, more: 1 }, { ref: 1 }, {}, [ref]])
    assert.ok(!checkInput(AuthSchema, { type: 'bearer', token: wrong }).ok)
  assert.ok(!checkInput(AuthSchema, { type: 'header', name: { ref }, value: 'a' }).ok)
  const owner = { ...anIntegration('https://api.example.com'), auth: bearer(ref) }
  const sealed = { ...owner, auth: sealAuth(ring, owner) }
  assert.doesNotMatch(JSON.stringify(sealed.auth), /AGW_SECRET/)
  assert.deepEqual(authView(ring, sealed), { type: 'bearer', token: { ref } })
  const moved = { ...sealed, base_url: 'https://evil.example.com' }
  assert.equal(openAuth(ring, moved), null, 'it is bound to the origin')
  const again = resealAuth(ring, sealed)
  assert.ok(again !== null)
  assert.deepEqual(authView(ring, { ...owner, auth: again }), { type: 'bearer', token: { ref } })
})

test('a process of a version without references does not open one', () => {
  const owner = { ...anIntegration('https://api.example.com'), auth: bearer('env:AGW_SECRET_A') }
  const auth = sealAuth(ring, owner) as { readonly type: 'bearer'; readonly token: string }
  // As that version opens the secret.
  assert.equal(unseal(ring, auth.token, credentialBinding({ ...owner, auth }, 'token')), null)
})

test('a reference that was not read is never sent as a value', () => {
  const owner = {
    ...anIntegration('https://api.example.com'),
    auth: bearer('env:AGW_SECRET_MINE_A'),
  }
  const opened = openAuth(ring, { ...owner, auth: sealAuth(ring, owner) })
  assert.ok(opened?.type === 'bearer')
  assert.throws(() => opened.token.reveal())
})

test('a value is kept for five minutes, and for an hour while it cannot be read', async () => {
  let now_ms = 0
  const lines: string[] = []
  const alerts: unknown[] = []
  const changing: Record<string, string> = { AGW_SECRET_A: 'one' }
  const log = (_: unknown, text: string): void => void lines.push(text)
  const references = new SecretReferences({
    refs: { [ORG]: ['env:AGW_SECRET_'] },
    stores: storesOf(changing),
    onStale: (...alert) => void alerts.push(alert),
    nowMs: () => now_ms,
    log: { warn: log, error: log } as never,
  })
  const owner = { ...anIntegration('https://api.example.com'), auth: bearer('env:AGW_SECRET_A') }
  const opened = openAuth(ring, { ...owner, auth: sealAuth(ring, owner) }) as OpenedAuth
  const at = async (ms: number): Promise<string | null> => {
    now_ms = ms
    const auth = await references.resolve(ORG, opened)
    return auth?.type === 'bearer' ? auth.token.reveal() : null
  }
  const MINUTE = 60_000
  assert.equal(await at(0), 'one')
  changing['AGW_SECRET_A'] = 'two'
  assert.equal(await at(5 * MINUTE - 1), 'one')
  assert.equal(await at(5 * MINUTE), 'two')
  delete changing['AGW_SECRET_A']
  assert.equal(await at(11 * MINUTE), 'two')
  assert.equal(await at(12 * MINUTE), 'two')
  assert.equal(lines.length, 1)
  assert.equal(alerts.length, 1)
  assert.equal(await at(65 * MINUTE), 'two')
  assert.equal(await at(65 * MINUTE + 1), null)
  assert.equal(await at(67 * MINUTE), null)
  assert.equal(lines.length, 2)
  changing['AGW_SECRET_A'] = 'three'
  assert.equal(await at(68 * MINUTE), 'three')
})

test('what a deployment may allow: variables of its own, and folders', () => {
  const parse = (...prefixes: string[]) => secretRefs.parse(JSON.stringify({ [ORG]: prefixes }))
  assert.ok(parse('env:AGW_SECRET_', 'env:AGW_SECRET_A', 'file:/run/secrets/').ok)
  const wrong = 'env: env:AGW_ env:AGW_SECRET env:PATH file:/ file:/run file:/proc/ file:/dev/shm/'
  for (const prefix of `${wrong} file:/run/../ file:run/ file:/run// vault:kv *`.split(' '))
    assert.ok(!parse(prefix).ok, prefix)
  for (const text of ['[]', 'null', '{', '{"org_default":"env:AGW_SECRET_"}'])
    assert.ok(!secretRefs.parse(text).ok)
  const ours = Object.values(SETTINGS).filter(({ name }) => name.startsWith('AGW_SECRET_'))
  assert.deepEqual(
    ours.map(({ name }) => name),
    ['AGW_SECRET_REFS'],
  )
  assert.deepEqual(unknownSettings({ AGW_SECRET_MINE_A: 'x', AGW_SECRET_REFS: '{}' }), [])
})
