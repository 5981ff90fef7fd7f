import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { connectRedis } from '../../core/redis/connect-redis.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { freePort } from '../kit/free-port.ts'
import { closeOpenCalls, openCall } from '../kit/open-call.ts'
import { type Access, operatorAt } from '../kit/operator.ts'
import { startAdmin } from '../kit/start-admin.ts'
import { type Fleet, startFleet } from '../kit/start-fleet.ts'
import { type KitRelay, startRelay } from '../kit/start-relay.ts'
import { type KitValkey, startValkey } from '../kit/start-valkey.ts'
import { until } from '../kit/until.ts'

let primary: KitValkey
let replica: KitValkey
let onPrimary: RedisClient
let onReplica: RedisClient
let relays: readonly KitRelay[]
let fleet: Fleet
const env = { AGW_KILL_LEASE_MS: '1500' }

before(async () => {
  const port = await freePort()
  primary = await startValkey(['--port', String(port), '--bind', '127.0.0.1'])
  replica = await startValkey(['--replicaof', '127.0.0.1', String(port)])
  onPrimary = connectRedis(primary.url, { name: 'test', role: 'queue' })
  onReplica = connectRedis(replica.url, { name: 'test', role: 'queue' })
  await until('the replica follows', async () =>
    (await onReplica.info('replication')).includes('master_link_status:up'),
  )
  await onPrimary.config('SET', 'min-replicas-to-write', '1')
  relays = await Promise.all([startRelay(primary.url), startRelay(primary.url)])
  fleet = await startFleet({
    valkey: primary,
    envoys: 'each',
    edges: relays.map(({ url }) => ({ redis_url: url })),
    env,
  })
})

after(async () => {
  closeOpenCalls()
  onPrimary.disconnect()
  onReplica.disconnect()
  await fleet.stop()
  await Promise.all(relays.map((relay) => relay.stop()))
  await replica.stop()
})

const call = (edge: number, access: Access, path: string) =>
  openCall(fleet.edges[edge]?.url ?? '', `${access.base_url}${path}`, access.headers)

test('a kill waits for the replicas and says that they have it', async () => {
  const access = await fleet.operator.makeAccess(`${fleet.upstream.origin}/replicas`)
  const receipt = await fleet.operator.send('POST', `/admin/agents/${access.agent.agent_id}/kill`)
  assert.deepEqual(receipt.replicas, { connected: 1, acknowledged: 1 })
})

test('threat 20: an edge left behind on an isolated old primary stops, and holds what was decided without it', async () => {
  const [killed, living] = await Promise.all(
    ['killed', 'living'].map((name) =>
      fleet.operator.makeAccess(`${fleet.upstream.origin}/${name}`),
    ),
  )
  assert.ok(killed && living)
  const stream = call(0, killed, '/sse')
  assert.equal(await stream.answered, 200)
  await onReplica.replicaof('NO', 'ONE')
  relays[1]?.leadTo(replica.url)
  relays[1]?.closeAll()
  const admin = await startAdmin(replica.url, fleet.identity, env)
  const operator = operatorAt(admin.url, admin.token)
  const receipt = await operator.send('POST', `/admin/agents/${killed.agent.agent_id}/kill`)
  assert.equal(receipt.status, 'killed')
  assert.equal((await stream.ended).is_whole, false)
  assert.equal((await call(0, killed, '/left-behind').ended).reason, 'gateway_unavailable')
  // The old primary takes no kill that nobody else would hear of.
  await fleet.operator.send('POST', `/admin/agents/${living.agent.agent_id}/kill`, {}, 503)
  await until('the edge on the new primary serves', async () => {
    return (await call(1, living, '/new').ended).status === 200
  })
  assert.equal((await call(1, killed, '/new').ended).reason, 'agent_killed')
  relays[0]?.leadTo(replica.url)
  relays[0]?.closeAll()
  await until('the edge that was left behind serves', async () => {
    return (await call(0, living, '/back').ended).status === 200
  })
  assert.equal((await call(0, killed, '/back').ended).reason, 'agent_killed')
  await admin.kill()
})
