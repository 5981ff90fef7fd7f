import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { requireEdges } from '../../admin/changes/require-edges.ts'
import { openStore } from '../../cli/deployment/open-store.ts'
import { commit } from '../../core/change/commit.ts'
import { connectRedis } from '../../core/redis/connect-redis.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { fromRoot } from '../../core/system/root.ts'
import { parseKeyRing } from '../../core/keys/seal.ts'
import { readSeenStore, writeSeenStore } from '../../core/store/deployment-file.ts'
import { EDGE_MEMBERS } from '../../core/store/edge-members.ts'
import { MINIMUM_VERSION, readMinimumVersion } from '../../core/store/minimum-version.ts'
import { StoreCheck } from '../../ext-proc/fleet/store-check.ts'
import { type AdminInProcess, adminInProcess, type Json } from '../kit/admin-in-process.ts'
import { freePort } from '../kit/free-port.ts'
import { startStack } from '../kit/start-stack.ts'
import { startTestEdge } from '../kit/test-edge.ts'
import { type KitValkey, startValkey } from '../kit/start-valkey.ts'
import { tempFolder } from '../kit/temp-folder.ts'
import { until } from '../kit/until.ts'

const KEY = randomBytes(32).toString('base64')
const TOKEN = randomBytes(32).toString('hex')
const ORG = 'org_default'

describe('an admin service that remembers its store', () => {
  let valkey: KitValkey
  let redis: RedisClient
  const file = join(tempFolder('seen'), 'deployment-id')
  const start = (): Promise<AdminInProcess> =>
    adminInProcess(valkey.url, {
      AGW_ADMIN_TOKEN: TOKEN,
      AGW_ENCRYPTION_KEY: KEY,
      AGW_DEPLOYMENT_ID_FILE: file,
    })
  const alertOf = async (admin: AdminInProcess): Promise<Json> => {
    const { body } = await admin.call('GET', '/admin/alerts?status=open')
    return body?.data?.find(({ kind }: Json) => kind === 'store_lost')
  }
  const storePart = async (admin: AdminInProcess): Promise<string> =>
    (await admin.call('GET', '/readyz', { token: null })).body.parts.store

  before(async () => {
    valkey = await startValkey()
    redis = connectRedis(valkey.url, { name: 'test', role: 'queue' })
  })
  after(async () => {
    redis.disconnect()
    await valkey.stop()
  })

  test('reports a store that is emptied while it runs, until an operator acknowledges it', async () => {
    const admin = await start()
    assert.equal(await storePart(admin), 'ok')
    await redis.flushall()
    const alert = await until('the alert', () => alertOf(admin).catch(() => null))
    assert.equal(alert.severity, 'critical')
    assert.match(alert.title, /^The store was emptied/)
    assert.match(admin.log(), /The store was emptied/)
    await until('the service is set up again', async () => {
      return (await redis.exists(REDIS_KEYS.adminTokens(ORG))) === 1
    })
    await until('it is not ready', async () =>
      (await storePart(admin)).includes('the store has lost data'),
    )
    const path = `/admin/alerts/${alert.alert_id}/acknowledge`
    assert.equal((await admin.call('POST', path)).status, 200)
    await until('it is ready again', async () => (await storePart(admin)) === 'ok')
    await admin.stop()
  })

  test('does not start on an emptied store, and leaves it empty', async () => {
    await redis.flushall()
    await assert.rejects(
      start(),
      /^Error: The store is empty, but this machine has used .* --new-store/,
    )
    assert.equal(await redis.dbsize(), 0)
  })

  test('does not start on the store of another deployment, and changes nothing there', async () => {
    const seen = readSeenStore(file)
    await redis.set(REDIS_KEYS.installation, 'ins_other')
    await assert.rejects(start(), /belongs to deployment ins_other, but this machine has used/)
    assert.deepEqual(await redis.keys('*'), [REDIS_KEYS.installation])
    assert.deepEqual(readSeenStore(file), seen)
    await redis.flushall()
  })

  test('starts over when its operator deletes the file, and remembers the new store', async () => {
    const before_ = readSeenStore(file)
    rmSync(file)
    const admin = await start()
    assert.notEqual(readSeenStore(file)?.deployment_id, before_?.deployment_id)
    assert.equal(await alertOf(admin), undefined)
    await admin.stop()
  })

  test('reports a store that is older than the one it has seen', async () => {
    const seen = readSeenStore(file)
    assert.ok(seen !== null)
    writeSeenStore(file, { ...seen, epoch: seen.epoch + 5_000_000 })
    const admin = await start()
    const { body } = await admin.call('GET', '/admin/alerts?status=open')
    const alert = body.data.find(({ kind }: Json) => kind === 'restore_gap')
    assert.equal(alert.severity, 'critical')
    assert.match(alert.last.reasons[0], /^The store is older than before/)
    assert.match(await storePart(admin), /^Changes made after .* are unknown/)
    // Whoever acknowledges all alerts has not looked at what may be missing.
    const { alert_id } = alert
    const one = await admin.call('POST', `/admin/alerts/${alert_id}/acknowledge`)
    assert.deepEqual([one.status, one.body.details.reason], [409, 'restore_gap'])
    const many = { body: { alert_ids: [alert_id] } }
    const { body: bulk } = await admin.call('POST', '/admin/alerts/acknowledge', many)
    assert.equal(bulk.acknowledged, 0)
    const gap = await admin.call('GET', '/admin/restore-gap')
    assert.equal(gap.body.open, true)
    const path = '/admin/restore-gap/acknowledge'
    assert.equal((await admin.call('POST', path, { body: { agent_ids: null } })).body.open, false)
    await until('it is ready again', async () => (await storePart(admin)) === 'ok')
    await admin.stop()
  })

  test('a change whose member an edge does not know names that edge; once none is left, older versions cannot start', async () => {
    const admin = await start()
    const parts = { redis, settings: { killLease_ms: 3_000 } }
    const require = () => requireEdges(parts, ['restore_gap'])
    const change = async () => {
      const required = await require()
      assert.ok(required.kind === 'required')
      return await commit(redis, { ...required, targets: [] }, 3_000)
    }
    const old = await startTestEdge(valkey.url, 'edge-of-old', { version: '0.2.0' })
    const today = await startTestEdge(valkey.url, 'edge-of-today', { knows: ['restore_gap'] })
    const refused = await require()
    assert.ok(refused.kind === 'refusal')
    assert.deepEqual(refused.details, {
      reason: 'edges_too_old',
      members: ['restore_gap'],
      edges: [{ edge_id: 'edge-of-old', version: '0.2.0' }],
    })
    await old.stop()
    // An edge that joins between the check and the write makes the change be decided again.
    const decided = await require()
    const late = await startTestEdge(valkey.url, 'edge-of-late')
    assert.ok(decided.kind === 'required')
    assert.equal((await commit(redis, { ...decided, targets: [] }, 3_000)).kind, 'refused')
    await late.stop()
    assert.equal((await change()).kind, 'committed')
    assert.equal(await readMinimumVersion(redis), EDGE_MEMBERS.restore_gap)
    assert.equal((await change()).kind, 'committed')
    await today.stop()
    await admin.stop()
    await redis.hset(REDIS_KEYS.requirements, MINIMUM_VERSION, '99.1.0')
    const why = /The store needs version 99\.1\.0 or later, and this is/
    await assert.rejects(start(), why)
    const check = new StoreCheck(redis, parseKeyRing(KEY))
    await assert.rejects(check.atStart(), why)
    await assert.rejects(check.refuseOther(), why)
    await assert.rejects(openStore(valkey.url, 'test'), why)
    await redis.hdel(REDIS_KEYS.requirements, MINIMUM_VERSION)
  })

  test('does not start with a file that is damaged', async () => {
    writeFileSync(file, '{}')
    await assert.rejects(start(), /is damaged/)
  })
})

describe('a token that agw start has generated for a store that may be shared', () => {
  let valkey: KitValkey
  const started: AdminInProcess[] = []
  const tokens = Array.from({ length: 4 }, () => randomBytes(32).toString('hex'))
  const start = async (env: Record<string, string | undefined>): Promise<AdminInProcess> => {
    const admin = await adminInProcess(valkey.url, {
      AGW_ADMIN_TOKEN: '',
      AGW_ENCRYPTION_KEY: KEY,
      ...env,
    })
    started.push(admin)
    return admin
  }
  const accepted = async (admin: AdminInProcess): Promise<readonly number[]> => {
    const valid: number[] = []
    for (const [i, token] of tokens.entries()) {
      const { status } = await admin.call('GET', '/admin/agents?limit=1', { token })
      if (status === 200) valid.push(i)
    }
    return valid
  }

  before(async () => {
    valkey = await startValkey()
  })
  after(async () => {
    await Promise.all(started.map((admin) => admin.stop()))
    await valkey.stop()
  })

  test('is used only if the store has no admin token, also if two start at once', async () => {
    const [one] = await Promise.all(
      [0, 1].map((i) => start({ AGW_GENERATED_ADMIN_TOKEN: tokens[i] })),
    )
    assert.ok(one !== undefined)
    const first = await accepted(one)
    assert.equal(first.length, 1, 'one of the two')
    const later = await start({ AGW_GENERATED_ADMIN_TOKEN: tokens[2] })
    assert.deepEqual(await accepted(later), first)
  })

  test('is replaced by a setting, and does not come back', async () => {
    const admin = await start({ AGW_ADMIN_TOKEN: tokens[3] })
    assert.deepEqual(await accepted(admin), [3])
    const again = await start({ AGW_GENERATED_ADMIN_TOKEN: tokens[0] })
    assert.deepEqual(await accepted(again), [3])
  })
})

describe('agw start', () => {
  test('a further host on a store that has admin tokens says so, without a failed sign-in', async () => {
    const valkey = await startValkey()
    const env = { AGW_ENCRYPTION_KEY: KEY }
    const first = await adminInProcess(valkey.url, { ...env, AGW_ADMIN_TOKEN: TOKEN })
    const stack = await startStack({ ...env, REDIS_URL: valkey.url })
    await until('it is welcomed', () => stack.log().includes('so none was generated'))
    assert.equal(existsSync(join(stack.dataDir, 'admin-token')), false)
    const { body } = await first.call('GET', '/admin/activity?event=admin_action')
    const actions = body.data.map(({ data }: Json) => data.action)
    assert.deepEqual(
      actions.filter((action: string) => action.startsWith('sign_in')),
      [],
    )
    assert.equal(await stack.stop(), 0)
    await first.stop()
    await valkey.stop()
  })

  test('refuses a store that has lost everything with one message, and starts with --new-store', async () => {
    const dataDir = tempFolder('lost')
    const stack = await startStack({ AGW_DATA_DIR: dataDir })
    const file = join(dataDir, 'deployment-id')
    assert.equal(await stack.stop(), 0)
    const seen = readFileSync(file, 'utf8')
    rmSync(join(dataDir, 'valkey'), { recursive: true })
    const run = async (...args: string[]) => {
      const ports = await Promise.all([freePort(), freePort(), freePort()])
      const child = spawn(process.execPath, [fromRoot('dist', 'cli', 'bin.js'), 'start', ...args], {
        env: {
          PATH: process.env['PATH'],
          HOME: process.env['HOME'],
          ENVOY_BIN: process.env['ENVOY_BIN'],
          VALKEY_BIN: process.env['VALKEY_BIN'],
          AGW_CACHE_DIR: process.env['AGW_CACHE_DIR'],
          AGW_DATA_DIR: dataDir,
          AGW_EXT_PROC_WORKERS: '1',
          AGW_PROXY_PORT: String(ports[0]),
          AGW_API_PORT: String(ports[1]),
          AGW_ECHO_PORT: String(ports[2]),
          AGW_FORWARD_PORT: 'off',
        },
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      let out = ''
      let errors = ''
      child.stdout.setEncoding('utf8').on('data', (part: string) => (out += part))
      child.stderr.setEncoding('utf8').on('data', (part: string) => (errors += part))
      const ended = once(child, 'exit').then(([code]) => code as number)
      const isReady = (): boolean => out.includes('The gateway is ready')
      await until('it is ready or has ended', () => isReady() || child.exitCode !== null)
      child.kill('SIGTERM')
      const code = await ended
      return { result: isReady() ? ('ready' as const) : code, errors }
    }
    const refused = await run()
    assert.equal(refused.result, 1)
    assert.match(
      refused.errors,
      /The gateway cannot start: The store is empty, but this machine has used/,
    )
    // One message: no service has started and failed.
    const lines = refused.errors
      .trim()
      .split('\n')
      .filter((line) => !line.startsWith('valkey |'))
    assert.equal(lines.length, 1, refused.errors)
    assert.equal(readFileSync(file, 'utf8'), seen)
    const started = await run('--new-store')
    assert.equal(started.result, 'ready', started.errors)
    assert.notEqual(
      JSON.parse(readFileSync(file, 'utf8')).deployment_id,
      JSON.parse(seen).deployment_id,
    )
    const again = await run('--new-store')
    assert.equal(again.result, 1)
    assert.match(again.errors, /the store is not empty/)
    // A store without its key: nothing is generated.
    rmSync(join(dataDir, 'encryption-key'))
    const keyless = await run()
    assert.equal(keyless.result, 1)
    assert.match(
      keyless.errors,
      /encryption-key is missing, but .* contains a store that is encrypted with it/,
    )
    assert.equal(existsSync(join(dataDir, 'encryption-key')), false)
  })
})
