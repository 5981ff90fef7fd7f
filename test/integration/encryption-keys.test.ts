import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { countSealed } from '../../admin/encryption/count-sealed.ts'
import { openSecrets, openUrl } from '../../admin/webhooks/webhook-secret.ts'
import type { Webhook } from '../../admin/webhooks/webhook.ts'
import { verifyArchive } from '../../core/activity/verify-archive.ts'
import type { Integration } from '../../core/catalogue/model.ts'
import { connectRedis } from '../../core/redis/connect-redis.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { fromRoot } from '../../core/system/root.ts'
import { sealedExcerpt } from '../../core/approval/sealed-excerpt.ts'
import { parseKeyRing, SEALED_KINDS } from '../../core/keys/seal.ts'
import { Secret } from '../../core/keys/secret.ts'
import { grantOf, openToken } from '../../core/oauth/grant.ts'
import { readArchiveKeys } from '../../core/store/archive-keys-file.ts'
import { openAuth, ownerOfConnection } from '../../core/store/credential-binding.ts'
import { readStoredKeys } from '../../core/store/stored-keys.ts'
import { keepMinted, openMinted, readMinted, sealMinted } from '../../core/token/minted-token.ts'
import { type AdminInProcess, adminInProcess } from '../kit/admin-in-process.ts'
import { startAdmin } from '../kit/start-admin.ts'
import { type KitValkey, startValkey } from '../kit/start-valkey.ts'
import { tempFolder } from '../kit/temp-folder.ts'
import { startTestEdge } from '../kit/test-edge.ts'
import { makeAccessRequest } from '../kit/make-access-request.ts'
import { until } from '../kit/until.ts'

const ORG = 'org_default'
const LEASE = { AGW_KILL_LEASE_MS: '600' }
const AUTHS = [
  { type: 'bearer', token: 'secret-bearer' },
  { type: 'header', name: 'X-Api-Key', value: 'secret-header' },
  { type: 'basic', username: 'secret-user', password: 'secret-password' },
  { type: 'query', name: 'key', value: 'secret-query' },
  {
    type: 'oauth2_client_credentials',
    token_url: 'https://login.example.com/token',
    client_id: 'c',
    client_secret: 'secret-client',
  },
  {
    type: 'aws_sigv4',
    access_key_id: 'AKIA0123456789',
    secret_access_key: 'secret-access',
    session_token: 'secret-session',
    region: 'eu-central-1',
    service: 's3',
  },
]

const CONSENTED = {
  type: 'oauth2_authorization_code',
  authorization_url: 'https://login.example.com/authorize',
  token_url: 'https://login.example.com/token',
  client_id: 'c',
}

const newKey = (): string => randomBytes(32).toString('base64')
const idOf = (key: string): string => parseKeyRing(key).primary_id

let valkey: KitValkey
let redis: RedisClient
before(async () => {
  valkey = await startValkey()
  redis = connectRedis(valkey.url, { name: 'test', role: 'queue' })
})
after(async () => {
  redis.disconnect()
  await valkey.stop()
})

const TOKEN = randomBytes(32).toString('hex')
const start = (keys: string, more: Record<string, string> = {}): Promise<AdminInProcess> =>
  adminInProcess(valkey.url, {
    ...LEASE,
    AGW_ADMIN_TOKEN: TOKEN,
    AGW_ENCRYPTION_KEY: keys,
    ...more,
  })

/** One of everything that is encrypted. */
async function storeEverything(admin: AdminInProcess, name: string, key: string) {
  const make = async (path: string, body: object, headers = {}) => {
    // On a busy machine the store may not answer in time.
    const made = await until(`POST ${path}`, async () => {
      const answer = await admin.call('POST', path, { body, headers })
      return answer.status !== 503 && answer
    })
    assert.equal(made.status, 201, made.text)
    return made.body
  }
  const integrations: string[] = []
  const connections: string[] = []
  for (const auth of AUTHS) {
    const base_url = `https://${auth.type.replaceAll('_', '-')}.${name}.example.com/v1`
    const made = await make('/admin/integrations', { name: `${auth.type} ${name}`, base_url, auth })
    integrations.push(made.integration_id)
    const own = `/admin/integrations/${made.integration_id}/connections`
    connections.push((await make(own, { name: 'own', auth })).connection_id)
  }
  const ring = parseKeyRing(key)
  const first = `/admin/integrations/${integrations[0]}/connections`
  const { connection_id } = await make(first, { name: 'consented', auth: CONSENTED })
  const tokens = {
    token: new Secret('secret-of-grant'),
    refresh_token: new Secret('secret-to-refresh'),
    lifetime_s: 3_600,
    style: 'basic',
    started_ms: Date.now(),
  } as const
  const granted = grantOf(ring, await ownerOf(integrations[0] ?? '', connection_id), null, tokens)
  await redis.hset(REDIS_KEYS.grants(ORG), connection_id, JSON.stringify(granted))
  const { webhook_id } = await make('/webhooks', {
    name: 'signed',
    url: 'https://hooks.example.com/secret',
    events: ['agent_killed'],
    secret: 'first-secret',
  })
  const path = `/webhooks/${webhook_id}/rotate-secret`
  assert.equal((await admin.call('POST', path, { body: { secret: 'second-secret' } })).status, 200)
  const agent = { agent_name: `kept-${name}` }
  const headers = { 'idempotency-key': `kept-${name}` }
  const { api_key, agent_id } = await make('/admin/agents', agent, headers)
  const of = { organization_id: ORG, agent_id }
  const minted = { url: 'https://github.example/x', style: 'basic', hint: 'access_token' } as const
  const revocation = sealMinted(ring, of, { ...minted, token: new Secret('secret-of-agent') })
  const own = { type: 'github_app', integration_id: '', connection_id: null, revocation }
  await keepMinted(redis, of, own, 3_600)
  const request_id = await makeAccessRequest(redis, ORG, agent_id, 'secret-excerpt', ring)
  return {
    integrations,
    connections,
    connection_id,
    webhook_id,
    of,
    agent,
    headers,
    api_key,
    request_id,
  }
}

async function ownerOf(integration_id: string, connection_id: string) {
  const [of, text] = await Promise.all([
    redis.hget(REDIS_KEYS.integrations(ORG), integration_id),
    redis.hget(REDIS_KEYS.connections(ORG), connection_id),
  ])
  return ownerOfConnection(JSON.parse(of ?? ''), JSON.parse(text ?? ''))
}

/** What of it opens with a ring: the plain texts. */
async function opened(
  key: string,
  {
    integrations,
    connections,
    connection_id,
    webhook_id,
    of,
    request_id,
  }: Awaited<ReturnType<typeof storeEverything>>,
) {
  const ring = parseKeyRing(key)
  const texts: string[] = []
  for (const id of integrations) {
    const stored = await redis.hget(REDIS_KEYS.integrations(ORG), id)
    const integration = JSON.parse(stored ?? '') as Integration
    texts.push(...textsIn(openAuth(ring, integration)))
    // In the same order.
    const own = connections[integrations.indexOf(id)] ?? ''
    texts.push(...textsIn(openAuth(ring, await ownerOf(id, own))))
  }
  const grant = (await redis.hget(REDIS_KEYS.grants(ORG), connection_id)) ?? ''
  for (const member of ['access_token', 'refresh_token'] as const) {
    const granted = await ownerOf(integrations[0] ?? '', connection_id)
    texts.push(openToken(ring, granted, JSON.parse(grant), member)?.reveal() ?? '')
  }
  for (const { token } of await readMinted(redis, of))
    texts.push((token.revocation && openMinted(ring, of, token.revocation)?.reveal()) ?? '')
  const webhook = JSON.parse(
    (await redis.hget(REDIS_KEYS.webhooks(ORG), webhook_id)) ?? '',
  ) as Webhook
  for (const secret of openSecrets(ring, webhook, new Date()) ?? []) texts.push(secret.reveal())
  texts.push(openUrl(ring, webhook) ?? '')
  const excerpt = (await redis.hget(REDIS_KEYS.accessRequest(ORG, request_id), 'excerpt')) ?? ''
  const owner = { organization_id: ORG, request_id }
  texts.push(sealedExcerpt.open(ring, owner, excerpt)?.body ?? '')
  return texts.filter((text) => text.includes('secret')).sort()
}
const textsIn = (auth: object | null): string[] =>
  Object.values((auth ?? {}) as Record<string, { reveal?: () => string }>).flatMap((value) =>
    value.reveal === undefined ? [] : [value.reveal()],
  )

const OF_AUTHS = [...JSON.stringify(AUTHS).matchAll(/"(secret-[a-z]+)"/g)].map(
  ([, text = '']) => text,
)
// Each is a credential of an integration, and one of a connection.
const ALL = [
  ...OF_AUTHS,
  ...OF_AUTHS,
  'https://hooks.example.com/secret',
  'first-secret',
  'second-secret',
  'secret-excerpt',
  'secret-of-agent',
  'secret-of-grant',
  'secret-to-refresh',
].sort()

const settled = (keys: string) =>
  until(`nothing is encrypted with another key than the first of ${keys}`, async () => {
    const counts = await countSealed(redis, 'all')
    return counts.size === 1 && counts.has(idOf(keys))
  })

describe('a rotation of the encryption key', () => {
  const [first, second, third] = [newKey(), newKey(), newKey()]
  let things: Awaited<ReturnType<typeof storeEverything>>

  test('moves everything that is encrypted, and the old key can go', async () => {
    let admin = await start(first)
    things = await storeEverything(admin, 'one', first)
    assert.deepEqual(await opened(first, things), ALL)
    const before_ = await countSealed(redis, 'all')
    assert.deepEqual([...before_.keys()], [idOf(first)])
    // One of each kind, or the test proves nothing about it.
    for (const kind of SEALED_KINDS) assert.ok((before_.get(idOf(first))?.[kind] ?? 0) > 0, kind)
    await admin.stop()
    admin = await start(`${second},${first}`)
    await settled(second)
    await admin.stop()
    assert.deepEqual(await opened(second, things), ALL)
    assert.deepEqual(await opened(first, things), [])
    const states = [...(await readStoredKeys(redis))].map(([id, { state }]) => [id, state])
    assert.deepEqual(Object.fromEntries(states), {
      [idOf(first)]: 'retired',
      [idOf(second)]: 'active',
    })
    admin = await start(second)
    const { agent, headers } = things
    const again = await admin.call('POST', '/admin/agents', { body: agent, headers })
    assert.equal(again.body.api_key, things.api_key, 'the kept answer of a repeated request opens')
    await admin.stop()
  })

  for (const [what, keys] of [
    ['the key before', first],
    ['a key that is not one of this deployment', newKey()],
    ['two such keys', `${newKey()},${first}`],
  ] as const)
    test(`the service does not start with ${what}, and writes nothing`, async () => {
      const before_ = await redis.hgetall(REDIS_KEYS.encryptionKeys)
      await assert.rejects(start(keys), (error: Error) => {
        assert.match(
          error.message,
          new RegExp(`encrypted with key ${idOf(second)}, which AGW_ENCRYPTION_KEY lacks`),
        )
        return true
      })
      assert.deepEqual(await redis.hgetall(REDIS_KEYS.encryptionKeys), before_)
      assert.deepEqual(await opened(second, things), ALL)
    })

  test('a record that comes back under an old key keeps the service from starting without it', async () => {
    const other = parseKeyRing(third)
    const [id = ''] = things.integrations
    const text = (await redis.hget(REDIS_KEYS.integrations(ORG), id)) ?? ''
    const moved = text.replaceAll(idOf(second), other.primary_id)
    await redis.hset(REDIS_KEYS.integrations(ORG), id, moved)
    await assert.rejects(
      start(second),
      new RegExp(`lacks key ${other.primary_id}, which still encrypts 1 credential. Add it behind`),
    )
    await redis.hset(REDIS_KEYS.integrations(ORG), id, text)
  })

  test('a retired key in front does not become active again', async () => {
    const admin = await start(`${first},${second}`)
    await admin.stop()
    assert.deepEqual([...(await countSealed(redis, 'all')).keys()], [idOf(second)])
  })

  test('waits for edges and admin processes that do not have the new key', async () => {
    const edge = await startTestEdge(valkey.url, 'edge-before', {
      key_ids: [idOf(second)],
      knows: ['connections'],
    })
    // As a live edge does; on a busy machine more than a lease may pass before it is looked for.
    const beating = setInterval(() => void edge.beat(), 100)
    const old = await start(second)
    const admin = await start(`${third},${second}`)
    const log = () => admin.log()
    await until('it says what it waits for', () =>
      log().includes('is not used before these processes have it'),
    )
    assert.match(log(), /edge edge-before/)
    assert.deepEqual([...(await countSealed(redis, 'all')).keys()], [idOf(second)])
    // Values stored in the meantime can be opened everywhere.
    const made = await storeEverything(admin, 'two', second)
    assert.deepEqual(await opened(second, made), ALL)
    clearInterval(beating)
    await old.stop()
    await edge.stop()
    const after_ = await startTestEdge(valkey.url, 'edge-after', {
      key_ids: [idOf(second), idOf(third)],
    })
    await until('the key changes', async () => {
      await after_.beat()
      return (await countSealed(redis, 'all')).get(idOf(second)) === undefined
    })
    await after_.stop()
    assert.deepEqual(await opened(third, made), ALL)
    await admin.stop()
  })

  test('a key file is followed: the key rotates and the old one goes without a restart', async () => {
    const file = join(tempFolder('keys'), 'encryption-key')
    const write = (text: string): void => {
      writeFileSync(`${file}.new`, `${text}\n`, { mode: 0o600 })
      renameSync(`${file}.new`, file)
    }
    const fourth = newKey()
    write(third)
    const admin = await startAdmin(
      valkey.url,
      { token: TOKEN, encryption_key: '' },
      { ...LEASE, AGW_ENCRYPTION_KEY: undefined, AGW_ENCRYPTION_KEY_FILE: file },
    )
    const { stop } = admin
    write(`${fourth},${third}`)
    await settled(fourth)
    assert.deepEqual(await opened(fourth, things), ALL)
    // Replaced without the old one: this process still has it in memory, and moves everything.
    const fifth = newKey()
    write(fifth)
    await settled(fifth)
    assert.deepEqual(await opened(fifth, things), ALL)
    await stop()
    const next = await start(fifth)
    await next.stop()
  })
})

describe('a pass that is interrupted', () => {
  test('is completed by the next start, however often it is ended with -9', async () => {
    const own = await startValkey()
    const client = connectRedis(own.url, { name: 'test', role: 'queue' })
    const [from, to] = [newKey(), newKey()]
    const identity = { token: TOKEN, encryption_key: from }
    const admin = await startAdmin(own.url, identity, LEASE)
    const COUNT = 400
    const made = await fetch(`${admin.url}/admin/integrations`, {
      method: 'POST',
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        name: 'n',
        base_url: 'https://a.example.com/v1',
        auth: { type: 'bearer', token: 'secret' },
      }),
    })
    const { integration_id } = (await made.json()) as { integration_id: string }
    await admin.stop()
    const text = (await client.hget(REDIS_KEYS.integrations(ORG), integration_id)) ?? ''
    const { sealAuth } = await import('../../core/store/credential-binding.ts')
    for (let i = 0; i < COUNT; i++) {
      const auth = { type: 'bearer', token: `secret ${i}` } as const
      const record = { ...(JSON.parse(text) as Integration), integration_id: `int_${i}` }
      const sealed = sealAuth(parseKeyRing(from), { ...record, auth })
      await client.hset(
        REDIS_KEYS.integrations(ORG),
        record.integration_id,
        JSON.stringify({ ...record, auth: sealed }),
      )
    }
    const counts = async () => {
      const found = await countSealed(client, 'lasting')
      return [from, to].map((key) => found.get(idOf(key))?.credential ?? 0)
    }
    const seen: number[] = []
    for (let kills = 0; kills < 2; kills++) {
      const child = spawn(process.execPath, [fromRoot('dist', 'admin', 'main.js')], {
        env: {
          PATH: process.env['PATH'],
          REDIS_URL: own.url,
          AGW_API_PORT: '0',
          AGW_ADMIN_TOKEN: TOKEN,
          AGW_ENCRYPTION_KEY: `${to},${from}`,
          ...LEASE,
        },
        stdio: 'ignore',
      })
      const exited = once(child, 'exit')
      const enough = Math.max(...seen, 0)
      await until('some are encrypted again', async () => ((await counts())[1] ?? 0) > enough)
      child.kill('SIGKILL')
      await exited
      const [left = 0, done = 0] = await counts()
      assert.equal(left + done, COUNT + 1)
      seen.push(done)
      if (left === 0) break
    }
    const last = await adminInProcess(own.url, {
      ...LEASE,
      AGW_ADMIN_TOKEN: TOKEN,
      AGW_ENCRYPTION_KEY: `${to},${from}`,
    })
    assert.deepEqual(await counts(), [0, COUNT + 1])
    await last.stop()
    const stored = await client.hvals(REDIS_KEYS.integrations(ORG))
    for (const one of stored) assert.ok(openAuth(parseKeyRing(to), JSON.parse(one) as Integration))
    client.disconnect()
    await own.stop()
  })
})

describe('the archive', () => {
  test('is verified with the new key alone, before and after the rotation', async () => {
    const own = await startValkey()
    const folder = tempFolder('archive')
    const [from, to] = [newKey(), newKey()]
    const startOwn = (keys: string) =>
      adminInProcess(own.url, {
        ...LEASE,
        AGW_ADMIN_TOKEN: TOKEN,
        AGW_ENCRYPTION_KEY: keys,
        AGW_ARCHIVE_DIR: folder,
      })
    const client = connectRedis(own.url, { name: 'test', role: 'queue' })
    const installation = async () => (await client.get(REDIS_KEYS.installation)) ?? ''
    const archived = async (admin: AdminInProcess, name: string): Promise<void> => {
      const { body } = await admin.call('POST', '/admin/agents', { body: { agent_name: name } })
      await until('the entry is archived', async () => {
        const { status, text } = await admin.call('GET', '/admin/audit/head')
        assert.equal(status, 200, text)
        const length = await client.xlen(REDIS_KEYS.activity(ORG))
        return JSON.parse(text).n >= length && body.agent_id
      })
    }
    let admin = await startOwn(from)
    await archived(admin, 'before')
    await admin.stop()
    admin = await startOwn(`${to},${from}`)
    await archived(admin, 'during')
    await admin.stop()
    admin = await startOwn(to)
    await archived(admin, 'after')
    await admin.stop()
    const root = join(folder, await installation())
    const report = await verifyArchive(root, readArchiveKeys(root, parseKeyRing(to)))
    assert.deepEqual(report.problems, [])
    assert.ok(report.lines >= 3)
    // Neither the old key alone nor another one opens the kept keys.
    const other = await verifyArchive(root, readArchiveKeys(root, parseKeyRing(newKey())))
    assert.ok(other.problems.length >= report.lines)
    client.disconnect()
    await own.stop()
  })
})

describe('a lost key', () => {
  test('keeps the service from starting until it is declared; what it encrypted is named', async () => {
    const own = await startValkey()
    const client = connectRedis(own.url, { name: 'test', role: 'queue' })
    const [lost, fresh] = [newKey(), newKey()]
    const startOwn = (keys: string, more = {}) =>
      adminInProcess(own.url, {
        ...LEASE,
        AGW_ADMIN_TOKEN: TOKEN,
        AGW_ENCRYPTION_KEY: keys,
        ...more,
      })
    let admin = await startOwn(lost)
    const body = {
      name: 'n',
      base_url: 'https://a.example.com/v1',
      auth: { type: 'bearer', token: 'secret' },
    }
    const { integration_id } = (await admin.call('POST', '/admin/integrations', { body })).body
    await admin.stop()
    await assert.rejects(startOwn(fresh), /encrypted with key/)
    await assert.rejects(
      startOwn(fresh, { AGW_LOST_ENCRYPTION_KEYS: idOf(newKey()) }),
      /encrypted with key/,
    )
    admin = await startOwn(fresh, { AGW_LOST_ENCRYPTION_KEYS: idOf(lost) })
    const { data } = (await admin.call('GET', '/admin/alerts')).body
    const [alert] = data.filter(({ kind }: { kind: string }) => kind === 'encryption_key')
    assert.match(alert.title, new RegExp(`1 credential.* key ${idOf(lost)}, which is lost`))
    assert.equal(alert.severity, 'critical')
    assert.ok(admin.log().includes(integration_id), 'the log names it')
    const auth = { type: 'bearer', token: 'secret again' }
    const changed = await admin.call('PUT', `/admin/integrations/${integration_id}`, {
      body: { auth },
    })
    assert.equal(changed.status, 200, changed.text)
    await admin.stop()
    admin = await startOwn(fresh)
    await admin.stop()
    client.disconnect()
    await own.stop()
  })
})

describe('an edge', () => {
  test('with another key than the deployment does not start and says why', async () => {
    const key = newKey()
    const own = await startValkey()
    const admin = await adminInProcess(own.url, { ...LEASE, AGW_ENCRYPTION_KEY: key })
    const run = async (keys: string) => {
      const folder = tempFolder('edge')
      const child = spawn(process.execPath, [fromRoot('dist', 'ext-proc', 'main.js')], {
        env: {
          PATH: process.env['PATH'],
          REDIS_URL: own.url,
          AGW_ENCRYPTION_KEY: keys,
          AGW_VERDICT_SECRET: 'v'.repeat(64),
          AGW_EXT_PROC_ADDRESS: `unix:${join(folder, 's.sock')}`,
        },
        stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      })
      let text = ''
      for (const output of [child.stdout, child.stderr])
        output?.setEncoding('utf8').on('data', (part: string) => (text += part))
      const ended = await Promise.race([
        once(child, 'message').then(() => 'serves'),
        once(child, 'exit').then(([code]) => `ended with ${code}`),
      ])
      child.kill('SIGKILL')
      return { ended, text }
    }
    const wrong = await run(newKey())
    assert.equal(wrong.ended, 'ended with 1')
    assert.match(
      wrong.text,
      new RegExp(`encrypted with key ${idOf(key)}, which AGW_ENCRYPTION_KEY lacks`),
    )
    assert.equal((await run(key)).ended, 'serves')
    await admin.stop()
    await own.stop()
  })
})
