import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { watchDisk } from '../../admin/gate/watch-disk.ts'
import { withRoom } from '../../core/kill/with-room.ts'
import { connectRedis } from '../../core/redis/connect-redis.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { type AdminInProcess, adminInProcess } from '../kit/admin-in-process.ts'
import { type SmallDisk, startSmallDisk } from '../kit/start-small-disk.ts'
import { until } from '../kit/until.ts'

const MIB = 1 << 20
const ORG = 'org_default'
let disk: SmallDisk
let admin: AdminInProcess
let redis: RedisClient

before(async () => {
  disk = await startSmallDisk(8 * MIB)
  redis = connectRedis(disk.valkey.url, { name: 'test', role: 'queue' })
  admin = await adminInProcess(disk.valkey.url)
})
after(async () => {
  disk.setFree(1_000 * MIB)
  await admin.stop()
  redis.disconnect()
  await disk.valkey.stop()
})
beforeEach(async () => {
  disk.steal(0)
  disk.setFree(1_000 * MIB)
  await accepts()
  await disk.reserve.fill()
})

const isFull = async (): Promise<boolean> =>
  await redis.set('{agw}:test', 'x'.repeat(5_000)).then(
    () => false,
    (error: Error) => error.message.startsWith('MISCONF'),
  )
const accepts = (): Promise<unknown> =>
  until('the store accepts writes', async () => !(await isFull()))
async function fillDisk(): Promise<void> {
  disk.setFree(0)
  await until('the store accepts no writes', isFull)
}

async function makeAgent(): Promise<string> {
  const { body, text } = await admin.call('POST', '/admin/agents', {
    body: { agent_name: `agent ${Math.random()}` },
  })
  assert.ok(body.agent_id, text)
  return body.agent_id
}

/** What the routes of the gate do, with the reserve of this disk. */
const operate = (agent_id: string, what: 'kill' | 'reactivate') =>
  withRoom({ redis, reserve: disk.reserve }, async () => {
    const { status, text, body } = await admin.call('POST', `/admin/agents/${agent_id}/${what}`, {
      body: { reason: 'the disk is full' },
    })
    if (status === 503) throw new Error(`MISCONF ${text}`)
    return { status, body }
  })
const statusOf = async (agent_id: string): Promise<string> =>
  JSON.parse((await redis.hget(REDIS_KEYS.agents(ORG), agent_id)) ?? '{}').status

test('without a reserve, a kill on a full disk fails and changes nothing', async () => {
  const agent_id = await makeAgent()
  await fillDisk()
  const { status, body } = await admin.call('POST', `/admin/agents/${agent_id}/kill`, { body: {} })
  assert.equal(status, 503)
  assert.match(body.message, /disk of the store is full|cannot save its data/)
  assert.equal(await statusOf(agent_id), 'active')
})

test('a console whose session is open shows what there is while the disk is full', async () => {
  const ours = { 'sec-fetch-site': 'same-origin', 'x-agw-client': 'dashboard' }
  const { headers, body } = await admin.call('POST', '/session', { headers: ours })
  const cookie = String(headers['set-cookie']).split(';')[0] ?? ''
  const session = { ...ours, cookie, 'x-agw-page-secret': body.page_secret }
  await fillDisk()
  const read = async (mine: Readonly<Record<string, string>>): Promise<number> =>
    (await admin.call('GET', '/admin/alerts/causes', { token: null, headers: mine })).status
  assert.equal(await read(session), 200)
  assert.equal(await read({ ...session, 'x-agw-page-secret': 'of another page' }), 401)
})

test('a kill and a reactivation on a full disk use a piece of the reserve', async () => {
  const agent_id = await makeAgent()
  await fillDisk()
  assert.equal((await operate(agent_id, 'kill')).status, 200)
  assert.equal(await statusOf(agent_id), 'killed')
  assert.equal(await disk.reserve.sizeBytes(), 7 * MIB)
  await fillDisk()
  assert.equal((await operate(agent_id, 'reactivate')).status, 200)
  assert.equal(await statusOf(agent_id), 'active')
  assert.equal(await disk.reserve.sizeBytes(), 6 * MIB)
})

test('kills at the same time share what one of them gives up', async () => {
  const agents = await Promise.all(Array.from({ length: 5 }, makeAgent))
  await fillDisk()
  const done = await Promise.all(agents.map((agent_id) => operate(agent_id, 'kill')))
  assert.deepEqual(
    done.map(({ status }) => status),
    [200, 200, 200, 200, 200],
  )
  assert.equal(await disk.reserve.sizeBytes(), 7 * MIB)
})

test('what another program takes first is given up again; with nothing left, a kill fails and changes nothing', async () => {
  const [one, two] = [await makeAgent(), await makeAgent()]
  disk.steal(MIB)
  await fillDisk()
  assert.equal((await operate(one, 'kill')).status, 200)
  assert.equal(await disk.reserve.sizeBytes(), 6 * MIB)
  await disk.reserve.shrinkTo(2 * MIB)
  disk.steal(100 * MIB)
  await fillDisk()
  await assert.rejects(operate(two, 'kill'), /MISCONF/)
  assert.equal(await disk.reserve.sizeBytes(), 0)
  assert.equal(await statusOf(two), 'active')
})

test('when the disk is full, half of the reserve is given up, an alert is raised, and it is filled again when there is space', async () => {
  const said: string[] = []
  const log = (...[, message]: unknown[]): void => void said.push(String(message))
  const stop = watchDisk({
    redis,
    reserve: disk.reserve,
    organization_id: ORG,
    log: { error: log, warn: log, info: log },
    interval_ms: 20,
  })
  try {
    await fillDisk()
    await accepts()
    assert.equal(await disk.reserve.sizeBytes(), 4 * MIB)
    const alert = await until('the alert is raised', async () => {
      const ids = await redis.zrange(REDIS_KEYS.alertIndex(ORG), '0', '-1')
      const all = await Promise.all(ids.map((id) => redis.hgetall(REDIS_KEYS.alert(ORG, id))))
      return all.find(({ kind }) => kind === 'store_disk')
    })
    assert.equal(alert['severity'], 'critical')
    assert.match(alert['title'] ?? '', /The disk of the store was full.*4 MiB left for kills/)
    // As much as the reserve lacks is not enough: it would fill the disk itself.
    disk.setFree(8 * MIB)
    await until('it says why it is not filled', () =>
      said.some((line) => /no space for the whole/.test(line)),
    )
    assert.equal(await disk.reserve.sizeBytes(), 4 * MIB)
    disk.setFree(100 * MIB)
    await until('it is filled', async () => (await disk.reserve.sizeBytes()) === 8 * MIB)
  } finally {
    stop()
  }
})
