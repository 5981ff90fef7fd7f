import assert from 'node:assert/strict'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { recordEntries } from '../../core/change/record-entries.ts'
import { connectRedis } from '../../core/redis/connect-redis.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { activityEntry } from '../kit/activity-entry.ts'
import { logEntries } from '../kit/log-entries.ts'
import { type KitAdmin, newAdminIdentity, startAdmin } from '../kit/start-admin.ts'
import { type KitValkey, startValkey } from '../kit/start-valkey.ts'
import { tempFolder } from '../kit/temp-folder.ts'
import { until } from '../kit/until.ts'

const ORG = 'org_default'
const identity = newAdminIdentity()
const headersFile = join(tempFolder('log-export'), 'headers')
/** Ids of the entries in the order in which they arrived. */
const arrived: string[] = []
const authorizations = new Set<string | undefined>()
const receiver = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    authorizations.add(request.headers.authorization)
    const text = gunzipSync(Buffer.concat(chunks)).toString()
    for (const [, body] of text.matchAll(/"body":\{"stringValue":("(?:[^"\\]|\\.)*")\}/g))
      arrived.push(JSON.parse(JSON.parse(body ?? '""')).id)
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  })
})
let valkey: KitValkey
let redis: RedisClient

before(async () => {
  valkey = await startValkey()
  redis = connectRedis(valkey.url, { name: 'test', role: 'queue' })
  receiver.listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  writeFileSync(headersFile, 'Authorization=Bearer%20of-the-receiver\n')
})
after(async () => {
  receiver.closeAllConnections()
  receiver.close()
  redis.disconnect()
  await valkey.stop()
})

/** In a process of its own, to be killed. */
const startExporter = (): Promise<KitAdmin> =>
  startAdmin(valkey.url, identity, {
    AGW_LOG_EXPORT_URL: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/v1/logs`,
    AGW_LOG_EXPORT_HEADERS_FILE: headersFile,
  })

/** A change by an operator arrives too. */
async function hasChange({ url, token }: KitAdmin): Promise<void> {
  const authorization = `Bearer ${token}`
  const response = await fetch(`${url}/admin/agents`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ agent_name: 'exported agent' }),
  })
  assert.equal(response.status, 201)
  const [change] = (await logEntries(redis, ORG)).filter(({ event }) => event === 'admin_action')
  await until('the change', () => arrived.includes(change?.id ?? 'none'))
  const metrics = await fetch(`${url}/metrics`, { headers: { authorization } })
  assert.match(await metrics.text(), /^agw_log_export_entries_total\{outcome="accepted"\} [1-9]/m)
}

test('every entry is exported, in order, although the exporter is repeatedly killed with -9', async () => {
  const written: string[] = []
  for (let round = 0; round < 2; round++) {
    const admin = await startExporter()
    for (let i = 0; i < 20; i++) {
      const entries = Array.from({ length: 50 }, () => activityEntry('permission_denied'))
      await recordEntries(redis, ORG, entries)
      written.push(...entries.map(({ id }) => id))
    }
    await until('it exports', () => arrived.includes(written[round * 1_000] ?? ''))
    await admin.kill()
    // As if the lease of the killed process had run out.
    await redis.del(REDIS_KEYS.logExporter)
  }
  const last = await startExporter()
  await until('everything has arrived', () => arrived.includes(written.at(-1) ?? ''))
  await hasChange(last)
  await last.stop()
  const isWritten = new Set(written)
  const first = [...new Set(arrived)].filter((id) => isWritten.has(id))
  assert.deepEqual(first, written)
  assert.deepEqual([...authorizations], ['Bearer of-the-receiver'])
  // What a killed process had sent and not noted is sent once more: one request each.
  assert.ok(arrived.length - new Set(arrived).size <= 2 * 250, String(arrived.length))
})
