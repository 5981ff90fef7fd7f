import assert from 'node:assert/strict'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { test } from 'node:test'
import { countSealed } from '../../admin/encryption/count-sealed.ts'
import { runDoctor } from '../../cli/commands/doctor.ts'
import { runKeysRotate } from '../../cli/commands/keys-rotate.ts'
import { connectRedis } from '../../core/redis/connect-redis.ts'
import type { Environment } from '../../core/settings/settings.ts'
import { parseKeyRing, sealedUnder } from '../../core/keys/seal.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { sharedStack } from '../kit/shared-stack.ts'
import { runCommand } from '../kit/run-command.ts'
import { until } from '../kit/until.ts'

const stack = await sharedStack()
const file = join(stack.dataDir, 'encryption-key')
const keys = (): string[] => readFileSync(file, 'utf8').trim().split(',')
const idOf = (key = ''): string => parseKeyRing(key).primary_id
const here: Environment = {
  AGW_DATA_DIR: stack.dataDir,
  AGW_PROXY_PORT: new URL(stack.proxyUrl).port,
  AGW_API_PORT: new URL(stack.apiUrl).port,
}

const rotate = (env = here, timeout_s = 60) =>
  runCommand((out) => runKeysRotate({ timeout_s }, env, out))

test('agw keys rotate replaces the key under traffic, without a restart and without a failed call', async () => {
  const { operator } = stack
  const { headers, base_url } = await operator.makeAccess(stack.ownBaseUrl())
  // Each is a change of what the calls need.
  for (let i = 0; i < 200; i++)
    await operator.send('POST', '/admin/integrations', {
      name: `rotated ${i}`,
      base_url: `https://rotated-${i}.test`,
      auth: { type: 'bearer', token: 'a-token-to-rotate' },
    })
  const pids = [...(await stack.pids('ext-proc')), ...(await stack.pids('admin'))]
  const [before = ''] = keys()
  let made = 0
  const failed: string[] = []
  let isOver = false
  const calls = (async () => {
    while (!isOver) {
      const response = await fetch(`${stack.proxyUrl}/${base_url}/anything`, { headers })
      const text = await response.text()
      if (response.status === 200) made++
      else failed.push(text)
    }
  })()
  const { code, text } = await rotate()
  isOver = true
  await calls
  assert.equal(code, 0, `${text}\n${stack.log().slice(-5_000)}`)
  assert.deepEqual(failed, [], stack.log().slice(-5_000))
  assert.ok(made > 10)
  const [after_ = '', ...more] = keys()
  assert.deepEqual(more, [])
  assert.notEqual(after_, before)
  assert.equal(statSync(file).mode & 0o777, 0o600)
  for (const line of ['was added in front', 'is in use', 'Everything is encrypted', 'was removed'])
    assert.ok(text.includes(line), text)
  const redis = connectRedis(stack.redisUrl, { name: 'test', role: 'queue' })
  assert.deepEqual([...(await countSealed(redis, 'all')).keys()], [idOf(after_)])
  redis.disconnect()
  assert.deepEqual([...(await stack.pids('ext-proc')), ...(await stack.pids('admin'))], pids)
  const { status } = await fetch(`${stack.proxyUrl}/${base_url}/anything`, { headers })
  assert.equal(status, 200)
})

test('what an edge encrypts after a rotation needs the new key alone, without a restart', async () => {
  const rules = [{ methods: ['*'], paths: ['/**'], approval: {} }]
  const access = await stack.operator.makeAccess(stack.ownBaseUrl(), { rules })
  const redis = connectRedis(stack.redisUrl, { name: 'test', role: 'queue' })
  const ask = async (path: string): Promise<string | null> => {
    const { request_id } = (await stack.callAs(access, path)).json().details
    const sealed = await redis.hget(REDIS_KEYS.accessRequest('org_default', request_id), 'excerpt')
    return sealedUnder(sealed ?? '')
  }
  let asked = 0
  for (let i = 0; i < 2; i++) {
    assert.equal((await rotate()).code, 0)
    const [key] = keys()
    await until(
      'the edge encrypts with the new key',
      async () => (await ask(`/${asked++}`)) === idOf(key),
    )
  }
  redis.disconnect()
})

test('a rotation that was interrupted after its first step is continued', async () => {
  const [before = ''] = keys()
  const next = randomBytes(32).toString('base64')
  writeFileSync(file, `${next},${before}\n`)
  const { code, text } = await rotate()
  assert.equal(code, 0, text)
  assert.match(text, new RegExp(`^Continuing the rotation to key ${idOf(next)}`))
  assert.deepEqual(keys(), [next])
})

test('credentials that no key opens are named with what to do, at once, and the rotation continues after that', async () => {
  const { operator } = stack
  const made = await Promise.all(
    [1, 2].map((i) => operator.makeIntegration(`https://unreadable-${i}.test`)),
  )
  const [one = '', other = ''] = made.map(({ integration_id }) => integration_id)
  const redis = connectRedis(stack.redisUrl, { name: 'test', role: 'queue' })
  const stored = REDIS_KEYS.integrations('org_default')
  const records = await redis.hmget(stored, one, other)
  const [damaged, { auth }] = records.map((text) => JSON.parse(text ?? ''))
  // A credential opens only for the integration for which it was encrypted.
  await redis.hset(stored, one, JSON.stringify({ ...damaged, auth }))
  redis.disconnect()
  const { code, text } = await rotate(here, 600)
  assert.equal(code, 1)
  assert.match(text, new RegExp(`integration ${one} of organization org_default\n`))
  assert.doesNotMatch(text, new RegExp(other))
  assert.match(text, /PUT the integration with auth.*Then run this again/s)
  assert.equal(keys().length, 2)
  await operator.send('PUT', `/admin/integrations/${one}`, {
    auth: { type: 'bearer', token: 'entered-again' },
  })
  const again = await rotate()
  assert.equal(again.code, 0, again.text)
  assert.equal(keys().length, 1)
})

test('agw doctor counts what each key encrypts', async () => {
  const { text } = await runCommand((out) => runDoctor({ output: 'json' }, here, out))
  const { checks } = JSON.parse(text) as { checks: { check: string; says: string }[] }
  const [key = ''] = keys()
  const finding = checks.find(({ check }) => check === `encryption key ${idOf(key)}`)
  assert.match(finding?.says ?? '', /^active, encrypts \d+ credential/)
})

test('where the key comes from the environment, the steps are printed and nothing changes', async () => {
  const [key = ''] = keys()
  const env = { ...here, AGW_ENCRYPTION_KEY: key, REDIS_URL: stack.redisUrl }
  const { code, text } = await rotate(env)
  assert.equal(code, 1)
  assert.match(text, /openssl rand -base64 32/)
  assert.deepEqual(keys(), [key])
})

test('with a key that is not of this deployment nothing changes', async () => {
  const AGW_ENCRYPTION_KEY = randomBytes(32).toString('base64')
  const env = { ...here, AGW_ENCRYPTION_KEY, REDIS_URL: stack.redisUrl }
  await assert.rejects(rotate(env), /is encrypted with key .* Nothing was changed/)
})

test('while a process lacks the new key, it says which, and nothing is lost', async () => {
  const [key = ''] = keys()
  const AGW_ENCRYPTION_KEY = `${randomBytes(32).toString('base64')},${key}`
  const env = { ...here, AGW_ENCRYPTION_KEY, REDIS_URL: stack.redisUrl }
  const { code, text } = await rotate(env, 1)
  assert.equal(code, 1)
  assert.match(text, /Waiting for processes that lack the key: edge .*admin-/)
  assert.match(text, /Not all processes have the new key/)
})
