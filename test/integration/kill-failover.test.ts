import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { connectRedis } from '../../core/redis/connect-redis.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { freePort } from '../kit/free-port.ts'
import { closeOpenCalls, openCall } from '../kit/open-call.ts'
import { type Access, operatorAt } from '../kit/operator.ts'
import { type KitAdmin, startAdmin } from '../kit/start-admin.ts'
import { type Fleet, startFleet } from '../kit/start-fleet.ts'
import { type KitRelay, startRelay } from '../kit/start-relay.ts'
import { type KitValkey, startValkey } from '../kit/start-valkey.ts'
import { until } from '../kit/until.ts'

let port: number
let primary: KitValkey
let replica: KitValkey
let onPrimary: RedisClient
let onReplica: RedisClient
let relays: readonly KitRelay[]
let fleet: Fleet
const env = { AGW_KILL_LEASE_MS: '1500' }

before(async () => {
  port = await freePort()
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

const admins: KitAdmin[] = []
async function startAdminOnReplica(): Promise<KitAdmin> {
  const admin = await startAdmin(replica.url, fleet.identity, env)
  admins.push(admin)
  return admin
}

after(async () => {
  closeOpenCalls()
  await Promise.all(admins.map((admin) => admin.kill()))
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
  const admin = await startAdminOnReplica()
  const operator = operatorAt(admin.url, admin.token)
  const receipt = await operator.send('POST', `/admin/agents/${killed.agent.agent_id}/kill`)
  assert.equal(receipt.status, 'killed')
  assert.equal((await stream.ended).is_whole, false)
  assert.equal((await call(0, killed, '/left-behind').ended).reason, 'gateway_unavailable')
  // The old primary accepts no kill that no other process would receive.
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
})

test('after a failover to a replica that lacks a kill, and to a store that is empty, the agent stays dead and an alert says so', async () => {
  await onPrimary.config('SET', 'min-replicas-to-write', '0')
  const leadEdgesTo = ({ url }: KitValkey): void => {
    for (const relay of relays) relay.leadTo(url)
    for (const relay of relays) relay.closeAll()
  }
  leadEdgesTo(primary)
  const access = await fleet.operator.makeAccess(`${fleet.upstream.origin}/lost`)
  const { agent_id } = access.agent
  for (const edge of [0, 1])
    await until(
      'the edge serves',
      async () => (await call(edge, access, '/ok').ended).status === 200,
    )
  await onReplica.replicaof('127.0.0.1', port)
  await until('the replica has the agent', async () => {
    return (await onReplica.hexists(REDIS_KEYS.agents('org_default'), agent_id)) === 1
  })
  await onReplica.replicaof('NO', 'ONE')
  const receipt = await fleet.operator.send('POST', `/admin/agents/${agent_id}/kill`)
  assert.equal(receipt.complete, true)
  const admin = await startAdminOnReplica()
  const operator = operatorAt(admin.url, admin.token)
  leadEdgesTo(replica)
  const written = await until('the kill is written back', async () => {
    const agent = await operator.send('GET', `/admin/agents/${agent_id}`)
    return agent.status === 'killed' && agent
  })
  assert.equal(written.killed_at, receipt.killed_at)
  const alertOf = async (): Promise<any> => {
    const { data } = await operator.send('GET', '/admin/alerts?status=open')
    return data.find(({ kind, last }: any) => kind === 'state_lost' && last.agent_id === agent_id)
  }
  const restored = await until('the operator is warned', alertOf)
  assert.equal(restored.last.action, 'agent.kill_restored')
  for (const edge of [0, 1]) {
    const { reason } = await until('the edge serves', async () => {
      const end = await call(edge, access, '/dead').ended
      return end.reason !== 'gateway_unavailable' && end
    })
    assert.equal(reason, 'agent_killed')
  }

  await onReplica.flushall()
  leadEdgesTo(replica)
  const lost = await until('the operator is warned', () => alertOf().catch(() => null))
  assert.equal(lost.last.action, 'agent.kill_lost')
  // If it is created again under its id, it has its former state.
  await operator.send('POST', '/admin/agents', { agent_name: 'again', agent_id }, 201)
  const headers = { authorization: `Bearer ${(await operator.makeOrganizationKey()).key}` }
  const { base_url } = await operator.makeIntegration(access.base_url)
  const answers = await until('the edges serve', async () => {
    const ends = [0, 1].map(
      (edge) =>
        openCall(fleet.edges[edge]?.url ?? '', `${base_url}/dead`, {
          ...headers,
          'x-agw-agent-id': agent_id,
        }).ended,
    )
    const reasons = (await Promise.all(ends)).map(({ reason }) => reason)
    return !reasons.includes('gateway_unavailable') && reasons
  })
  assert.deepEqual(answers, ['agent_killed', 'agent_killed'])
  await until('it is killed in the store too', async () => {
    return (await operator.send('GET', `/admin/agents/${agent_id}`)).status === 'killed'
  })
  assert.ok(!fleet.upstream.begun.some(({ path }) => path.includes('/dead')))
})
