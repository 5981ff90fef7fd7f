import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Operator, operatorAt } from '../kit/operator.ts'
import { type KitAdmin, startAdmin } from '../kit/start-admin.ts'
import { type KitSentinels, startSentinels } from '../kit/start-sentinels.ts'
import { until } from '../kit/until.ts'

/** A Sentinel on a busy machine does nothing for half a minute (its TILT mode). */
const STORE_LIMIT_MS = 120_000
const REPLICAS = 2

let store: KitSentinels
let admin: KitAdmin
let operator: Operator

before(async () => {
  store = await startSentinels()
  admin = await startAdmin(store.url)
  operator = operatorAt(admin.url, admin.token)
})
after(async () => {
  await admin?.stop()
  await store?.stop()
})

/** The primary crashes; the replicas have nothing of what `change` does. */
async function loseIn(change: () => Promise<unknown>): Promise<void> {
  const { redis } = await store.primary()
  assert.equal(await redis.wait(REPLICAS, STORE_LIMIT_MS), REPLICAS)
  // They are disconnected, and may not come back.
  await redis.acl('SETUSER', 'default', '-psync', '-sync')
  await redis.call('CLIENT', 'KILL', 'TYPE', 'replica')
  await change()
  const { begin, isOver, repair } = await store.failure(0)
  await begin()
  await until('another primary', () => isOver().catch(() => false), STORE_LIMIT_MS)
  await repair()
  await until('the store is whole', () => store.isWhole().catch(() => false), STORE_LIMIT_MS)
}

const named = ({ changes }: any): unknown =>
  changes.map(({ action, target }: any) => [action, target])

test('changes that a failover has lost are named in an alert and in the log, each once, and those that it has kept are not', async () => {
  const kept = await operator.makeAgent()
  const first: (readonly [string, string])[] = []
  await loseIn(async () => {
    first.push(['agent.create', (await operator.makeAgent()).agent_id])
    const { integration_id } = await operator.makeIntegration('https://lost.example/v1')
    first.push(['integration.create', integration_id])
  })
  const alertAt = (count: number): Promise<any> =>
    until('the operator is warned', async () => {
      const { data } = await operator.send('GET', '/admin/alerts?status=open')
      return data.find((alert: any) => alert.kind === 'changes_lost' && alert.count === count)
    })
  const alert = await alertAt(1)
  assert.equal(alert.severity, 'critical')
  assert.match(alert.title, /lost 2 changes.* agent\.create of agt_/)
  assert.deepEqual(named(alert.last), first)
  await operator.send('GET', `/admin/agents/${first[0]?.[1]}`, undefined, 404)

  const second: (readonly [string, string])[] = []
  await loseIn(async () => {
    await operator.send('PATCH', `/admin/agents/${kept.agent_id}`, { agent_name: 'renamed' })
    second.push(['agent.update', kept.agent_id])
  })
  assert.deepEqual(named((await alertAt(2)).last), second)
  assert.equal(
    (await operator.send('GET', `/admin/agents/${kept.agent_id}`)).agent_name,
    kept.agent_name,
  )
  const { data } = await operator.send('GET', '/admin/activity?event=changes_lost')
  assert.deepEqual(
    data.map((entry: any) => named(entry.data)),
    [second, first],
  )
})
