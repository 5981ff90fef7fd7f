import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { logEntries } from '../kit/log-entries.ts'
import { closeOpenCalls, openCall } from '../kit/open-call.ts'
import { type Access, type Operator, operatorAt } from '../kit/operator.ts'
import { LOCKS, lockOf } from '../kit/restrictions.ts'
import { type Fleet, startFleet } from '../kit/start-fleet.ts'
import { until } from '../kit/until.ts'

let fleet: Fleet
/** Of another organization. */
let bystander: { readonly operator: Operator; readonly access: Access }

before(async () => {
  fleet = await startFleet({ edges: [{ region: 'north' }, { region: 'south' }] })
  const other = await fleet.operator.send('POST', '/admin/organizations', { name: 'other' })
  const operator = operatorAt(fleet.admin.url, other.admin_token)
  bystander = { operator, access: await operator.makeAccess(`${fleet.upstream.origin}/bystander`) }
})

after(async () => {
  closeOpenCalls()
  await fleet.stop()
})

let count = 0
const makeAccess = (scope = {}): Promise<Access> =>
  fleet.operator.makeAccess(`${fleet.upstream.origin}/l${++count}`, { scope })

const url = (): string => fleet.envoys[0]?.url ?? ''
/** With a body it is a POST. */
const callOf = (access: Access, path: string, body?: string, more = {}) =>
  openCall(url(), `${access.base_url}${path}`, { ...access.headers, ...more }, body)
const lock = (body: object, expect?: number): Promise<any> =>
  fleet.operator.send('POST', '/admin/locks', body, expect)
const unlock = (lock_id: string): Promise<unknown> =>
  fleet.operator.send('DELETE', `/admin/locks/${lock_id}`, { reason: 'test' })

for (const { name, impose, lift } of LOCKS)
  test(`${name}: cuts what it refuses, answers a receipt, and lets all pass when it is lifted`, async () => {
    const access = await makeAccess()
    const reads = [callOf(access, '/sse'), callOf(access, '/wait')]
    const writes = [callOf(access, '/sse', 'x'), callOf(access, '/wait', 'x')]
    const others = name.includes('everything') ? [] : [callOf(bystander.access, '/sse', 'x')]
    for (const stream of [reads[0], writes[0], ...others]) assert.equal(await stream?.answered, 200)
    const from = `/l${count}/wait`
    await until('all calls have begun', () => {
      return fleet.upstream.begun.filter(({ path }) => path === from).length === 2
    })
    const isReadOnly = name.includes('read_only')
    const receipt = await impose(fleet.operator, access)
    assert.deepEqual([receipt.complete, receipt.ignored], [true, []])
    assert.equal(receipt.in_flight_requests_terminated, isReadOnly ? 2 : 4)
    assert.deepEqual(receipt.edges.map(({ region }: any) => region).sort(), ['north', 'south'])
    const cut = isReadOnly ? writes : [...reads, ...writes]
    const ends = await Promise.all(cut.map(({ ended }) => ended))
    const [streamed, waited] = ends.slice(-2)
    assert.equal(streamed?.is_whole, false)
    assert.deepEqual([waited?.status, waited?.reason], [503, 'locked'])
    assert.equal(JSON.parse(waited?.text ?? '').details.lock_id, receipt.lock_id)
    assert.deepEqual(
      [...reads, ...others].map(({ isOpen }) => isOpen()),
      [isReadOnly, isReadOnly, ...others.map(() => true)],
    )
    for (const one of [...reads, ...others]) one.abort()
    const write = await callOf(access, '/dead', 'x').ended
    assert.deepEqual([write.status, write.reason], [403, 'locked'])
    const read = await callOf(access, isReadOnly ? '/read' : '/dead').ended
    assert.equal(read.status, isReadOnly ? 200 : 403)
    assert.ok(!fleet.upstream.begun.some(({ path }) => path.includes('/dead')))
    await lift(fleet.operator, access)
    assert.equal((await callOf(access, '/after', 'x').ended).status, 200)
    await until('nothing is left to do', async () => {
      return (await fleet.redis.hlen(REDIS_KEYS.lockings)) === 0
    })
  })

test('what a lock says is shown to the caller, with its end, and it ends by itself', async () => {
  const access = await makeAccess()
  const expires_at = new Date(Date.now() + 3_000).toISOString()
  const target = { agent_id: access.agent.agent_id }
  const made = await lock({
    target,
    message: 'Maintenance of the ledger',
    expires_at,
    reference: 'INC-1',
  })
  const refused = await fetch(`${url()}/${access.base_url}/x`, { headers: access.headers })
  assert.equal(refused.status, 403)
  const { details } = (await refused.json()) as any
  const { lock_id, message } = made
  assert.deepEqual(details, { lock_id, message, expires_at })
  assert.equal(message, 'Maintenance of the ledger')
  const after_s = Number(refused.headers.get('retry-after'))
  assert.ok(after_s >= 1 && after_s <= 3, String(after_s))
  const listed = await fleet.operator.send('GET', '/admin/locks')
  const { ignored: _, ...view } = made
  assert.deepEqual(
    listed.data.find((one: any) => one.lock_id === lock_id),
    view,
  )
  // Also while no admin service runs: each edge decides by the clock of the store.
  await fleet.admin.kill()
  try {
    await until('the lock is over', async () => (await callOf(access, '/x').ended).status === 200)
    assert.ok(Date.now() >= Date.parse(expires_at) - 1_000)
  } finally {
    await fleet.restartAdmin()
  }
})
