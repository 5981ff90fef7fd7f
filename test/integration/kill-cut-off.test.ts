import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { CHANNELS, REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { logEntries } from '../kit/log-entries.ts'
import { cutOff } from '../kit/cut-off.ts'
import { closeOpenCalls, openCall } from '../kit/open-call.ts'
import { type Access, operatorAt } from '../kit/operator.ts'
import { triesAll } from '../kit/repetitions.ts'
import { completed, KILL, LOCKS, lockOf, restrictionsOf } from '../kit/restrictions.ts'
import { startAdmin } from '../kit/start-admin.ts'
import { type Fleet, startFleet } from '../kit/start-fleet.ts'
import { type KitRelay, type RelayMode, startRelay } from '../kit/start-relay.ts'
import { type KitValkey, startValkey } from '../kit/start-valkey.ts'
import { until } from '../kit/until.ts'

/** The first edge has a relay between itself and the store, the second has not. */
let fleet: Fleet
let valkey: KitValkey
let relay: KitRelay
const ORG = 'org_default'
const LEASE_MS = 3_000

before(async () => {
  valkey = await startValkey()
  relay = await startRelay(valkey.url)
  fleet = await startFleet({
    valkey,
    envoys: 'each',
    edges: [{ redis_url: relay.url }, {}],
    env: { AGW_KILL_LEASE_MS: String(LEASE_MS) },
  })
})

after(async () => {
  closeOpenCalls()
  await fleet.stop()
  await relay.stop()
})

let count = 0
const makeAccess = (): Promise<Access> =>
  fleet.operator.makeAccess(`${fleet.upstream.origin}/c${++count}`)

const call = (edge: number, access: Access, path: string, body?: string) =>
  openCall(fleet.edges[edge]?.url ?? '', `${access.base_url}${path}`, access.headers, body)

const kill = (access: Access): Promise<any> =>
  fleet.operator.send('POST', `/admin/agents/${access.agent.agent_id}/kill`)

const reactivate = (access: Access): Promise<any> =>
  fleet.operator.send('POST', `/admin/agents/${access.agent.agent_id}/reactivate`, {
    reason: 'test',
  })

const storedAgent = async (access: Access): Promise<any> =>
  JSON.parse((await fleet.redis.hget(REDIS_KEYS.agents(ORG), access.agent.agent_id)) ?? 'null')

test('a kill takes one way to the store and from there to the edges, however far the admin service is', async () => {
  const far = await startRelay(valkey.url)
  const admin = await startAdmin(far.url, fleet.identity, { AGW_KILL_LEASE_MS: String(LEASE_MS) })
  try {
    const access = await makeAccess()
    const streams = [0, 1].map((edge) => call(edge, access, '/quiet'))
    for (const { answered } of streams) assert.equal(await answered, 200)
    // This admin process has not seen the token before, and hears nothing from the store until the streams have ended.
    far.set('no_answers')
    const killing = operatorAt(admin.url, admin.token).send(
      'POST',
      `/admin/agents/${access.agent.agent_id}/kill`,
    )
    for (const { ended } of streams) assert.equal((await ended).is_whole, false)
    assert.equal((await storedAgent(access)).status, 'killed')
    far.set('passes')
    const receipt = await killing
    assert.deepEqual([receipt.in_flight_requests_terminated, receipt.complete], [2, true])
  } finally {
    await admin.stop()
    await far.stop()
  }
})

const MODES = ['closed', 'silent', 'no_messages'] as const satisfies readonly RelayMode[]
/** Each of those that do not concern the other agents, in one of the modes. */
const NARROW = LOCKS.filter(({ is_wide }) => !is_wide)

for (const [turn, mode] of MODES.entries())
  test(`threat 20: an edge whose connection to the store is ${mode} refuses, cuts, recovers, and keeps the kill`, async () => {
    const accesses = { living: await makeAccess(), killed: await makeAccess() }
    const locks = await Promise.all(
      NARROW.filter((_, i) => triesAll || i % MODES.length === turn).map(async (lock) => {
        const access = await makeAccess()
        await lock.prepare(fleet.operator, access)
        return { lock, access }
      }),
    )
    const { receipt, receipt_after_ms, killed_answer, locked } = await cutOff(
      fleet,
      0,
      accesses,
      () => relay.set(mode),
      () => relay.set('passes'),
      locks,
    )
    for (const one of locked) {
      assert.equal(one.answer, '403 locked')
      const row = one.receipt.edges.find(({ edge_id }: any) => edge_id === 'edge-1')
      if (mode !== 'no_messages') assert.equal(row?.acknowledged_ms ?? null, null)
    }
    const [silent] = receipt.edges.filter(({ edge_id }: any) => edge_id === 'edge-1')
    assert.equal(silent.region, 'local')
    // Where commands come through, the edge makes its subscription again and finds the kill in the store.
    const isAcknowledged = silent.acknowledged_ms !== null
    if (mode !== 'no_messages') assert.equal(isAcknowledged, false)
    // On a busy machine the lease of the edge may have expired before the answer, which completes the kill too.
    if (receipt.complete !== isAcknowledged)
      assert.ok(receipt.complete && receipt_after_ms > LEASE_MS, `${receipt_after_ms} ms`)
    // On a busy machine after the answer.
    await until('the other edge has acknowledged', async () => {
      const { edges } = await fleet.operator.send('GET', `/admin/kills/${receipt.kill_id}`)
      return edges.some((one: any) => one.edge_id === 'edge-2' && one.acknowledged_ms !== null)
    })
    assert.deepEqual(killed_answer, { status: 403, reason: 'agent_killed' })
    await until('nothing of them is left to do', async () => {
      const { kills, lockings } = REDIS_KEYS
      return (await fleet.redis.hlen(kills)) + (await fleet.redis.hlen(lockings)) === 0
    })
  })

test('threat 20: a forged kill cuts, does not stick, and writes nothing back', async () => {
  const access = await makeAccess()
  const { agent_id } = access.agent
  const stream = call(1, access, '/sse')
  assert.equal(await stream.answered, 200)
  const before = await storedAgent(access)
  const epoch = Number(await fleet.redis.get(REDIS_KEYS.epoch)) + 1
  const target = { what: 'kill', organization_id: ORG, agent_id, revision: 9e12, killed_at: 'now' }
  const forged = JSON.stringify({ kind: 'control', epoch, targets: [target] })
  await fleet.redis.publish(CHANNELS.control, forged)
  assert.equal((await stream.ended).is_whole, false)
  await until('the agent may call again', async () => {
    return (await call(1, access, '/forged').ended).status === 200
  })
  assert.deepEqual(await storedAgent(access), before)
})

test('threat 20: a forged lock cuts, does not stick, and writes nothing back; a forged end lifts none', async () => {
  const access = await makeAccess()
  const stream = call(1, access, '/sse')
  assert.equal(await stream.answered, 200)
  const publish = async (target: object): Promise<void> => {
    const epoch = Number(await fleet.redis.get(REDIS_KEYS.epoch)) + 1
    await fleet.redis.publish(
      CHANNELS.control,
      JSON.stringify({ kind: 'control', epoch, targets: [target] }),
    )
  }
  const { agent_id } = access.agent
  const lock = {
    lock_id: 'lck_forged',
    organization_id: ORG,
    target: { agent_id },
    expires_at: null,
  }
  await publish({ what: 'lock', organization_id: ORG, lock })
  assert.equal((await stream.ended).is_whole, false)
  await until('the agent may call again', async () => {
    return (await call(1, access, '/forged').ended).status === 200
  })
  assert.equal(await fleet.redis.hexists(REDIS_KEYS.locks(ORG), 'lck_forged'), 0)
  // Its epoch is not that of a forged message, which the edges have acknowledged.
  await makeAccess()
  const real = lockOf('agent', 'deny')
  const { lock_id } = await real.impose(fleet.operator, access)
  await publish({ what: 'unlock', organization_id: ORG, lock_id })
  for (let i = 0; i < 5; i++)
    assert.notEqual((await call(1, access, '/forged-end').ended).status, 200)
  await real.lift(fleet.operator, access)
})

for (const { name, impose, lift } of restrictionsOf([KILL, lockOf('scope', 'read_only')]))
  test(`threat 20: a lost message of ${name} is made good by the next beacon`, async () => {
    const access = await makeAccess()
    const stream = call(0, access, '/sse', '')
    assert.equal(await stream.answered, 200)
    relay.set('no_messages')
    const before = Number(await fleet.redis.get(REDIS_KEYS.epoch))
    const imposing = impose(fleet.operator, access)
    await until('it is published', async () => {
      return Number(await fleet.redis.get(REDIS_KEYS.epoch)) > before
    })
    relay.set('passes')
    const receipt = await imposing
    assert.equal((await stream.ended).is_whole, false)
    assert.equal(receipt.complete, true)
    assert.equal(receipt.in_flight_requests_terminated, 1)
    await lift(fleet.operator, access)
  })

for (const lock of restrictionsOf([lockOf('selector', 'deny')], NARROW))
  test(`a store that has lost ${lock.name} gets it back from the edges, and one that was lifted stays lifted`, async () => {
    const [lost, other] = [await makeAccess(), await makeAccess()]
    const lifted = lockOf('key', 'deny')
    await lifted.impose(fleet.operator, other)
    await lifted.lift(fleet.operator, other)
    const { lock_id } = await lock.impose(fleet.operator, lost)
    // The edges read it with the integrations, so that they know that the store had it.
    const reading = await makeAccess()
    for (const edge of [0, 1]) assert.equal((await call(edge, reading, '/ok').ended).status, 200)
    const locks = REDIS_KEYS.locks(ORG)
    const text = await fleet.redis.hget(locks, lock_id)
    await fleet.redis.hdel(locks, lock_id)
    await fleet.redis.client('KILL', 'TYPE', 'PUBSUB')
    await until('the lock is written back', async () => {
      return (await fleet.redis.hget(locks, lock_id)) === text
    })
    await until('both edges serve', async () => {
      const answers = await Promise.all([0, 1].map((edge) => call(edge, other, '/ok').ended))
      return answers.every(({ status }) => status === 200)
    })
    for (const edge of [0, 1])
      assert.equal((await call(edge, lost, '/still-locked', '').ended).reason, 'locked')
    assert.ok(!fleet.upstream.begun.some(({ path }) => path.includes('/still-locked')))
    await until('the operator is warned', async () => {
      const { data } = await fleet.operator.send('GET', '/admin/alerts?status=open')
      return data.some(({ last }: any) => last.action === 'lock.restored')
    })
    await lock.lift(fleet.operator, lost)
    assert.equal((await call(0, lost, '/after').ended).status, 200)
  })

test('a store that has lost a kill gets it back from the edges, and the agent never acts', async () => {
  const [lost, other] = [await makeAccess(), await makeAccess()]
  const { agent_id } = lost.agent
  const before = await storedAgent(lost)
  const keyBefore = await fleet.redis.hgetall(REDIS_KEYS.apiKeys(ORG))
  await kill(lost)
  assert.equal((await call(1, lost, '/dead').ended).reason, 'agent_killed')
  const killed = await storedAgent(lost)
  // As after a failover to a replica that lacked the kill: the old state, and new connections.
  const loseIt = async (): Promise<void> => {
    await fleet.redis.hset(REDIS_KEYS.agents(ORG), agent_id, JSON.stringify(before))
    await fleet.redis.hset(REDIS_KEYS.apiKeys(ORG), keyBefore)
    await fleet.redis.client('KILL', 'TYPE', 'PUBSUB')
    await until('the kill is written back', async () => {
      const agent = await storedAgent(lost)
      return agent.status === 'killed' && agent.revision === killed.revision
    })
  }
  await loseIt()
  const found = await storedAgent(lost)
  assert.equal(found.killed_at, killed.killed_at)
  await until('both edges serve', async () => {
    const answers = await Promise.all([0, 1].map((edge) => call(edge, other, '/ok').ended))
    return answers.every(({ status }) => status === 200)
  })
  for (const edge of [0, 1])
    assert.equal((await call(edge, lost, '/still-dead').ended).reason, 'agent_killed')
  assert.ok(!fleet.upstream.begun.some(({ path }) => /dead/.test(path)))
  const entries = await logEntries(fleet.redis, ORG)
  const warnings = entries.filter(({ data }) => data['action'] === 'agent.kill_restored')
  assert.deepEqual(
    warnings.map((entry) => entry.agent_id),
    [agent_id],
  )
  const alert = await until('the operator is warned', () => stateLost(agent_id))
  assert.equal(alert.severity, 'critical')
  assert.match(alert.title, /had lost the kill of .*restored/)
  assert.equal(alert.count, 1)
  await loseIt()
  const counted = await until('the next time is counted', async () => {
    const found = await stateLost(agent_id)
    return found?.count === 2 && found
  })
  assert.equal(counted.alert_id, alert.alert_id)
})

test('a store that has lost a reactivation gets it back, and keys that it replaced stay revoked', async () => {
  for (const rotate_keys of [false, true]) {
    const access = await makeAccess()
    const { agent_id } = access.agent
    await kill(access)
    const before = await storedAgent(access)
    const keysBefore = await fleet.redis.hgetall(REDIS_KEYS.apiKeys(ORG))
    await fleet.operator.send('POST', `/admin/agents/${agent_id}/reactivate`, {
      reason: 'test',
      rotate_keys,
    })
    const active = await storedAgent(access)
    await fleet.redis.hset(REDIS_KEYS.agents(ORG), agent_id, JSON.stringify(before))
    await fleet.redis.hset(REDIS_KEYS.apiKeys(ORG), keysBefore)
    await fleet.redis.client('KILL', 'TYPE', 'PUBSUB')
    await until('the reactivation is written back', async () => {
      return (await storedAgent(access)).revision === active.revision
    })
    assert.equal((await storedAgent(access)).status, 'active')
    const end = await until('the edge serves', async () => {
      const answered = await call(0, access, '/back').ended
      return answered.reason !== 'gateway_unavailable' && answered
    })
    assert.equal(end.status, rotate_keys ? 401 : 200)
    const alert = await until('the operator is warned', () => stateLost(agent_id))
    assert.equal(alert.last.action, 'agent.reactivation_restored')
  }
})

const stateLost = async (agent_id: string): Promise<any> => {
  const { data } = await fleet.operator.send('GET', '/admin/alerts?status=open')
  return data.find(({ kind, last }: any) => kind === 'state_lost' && last.agent_id === agent_id)
}

test('threat 18: a processor stopped by a signal is named, its streams are cut, and it enforces kill and lock when it continues', async () => {
  const restrictions = restrictionsOf(
    [KILL, lockOf('integration', 'deny'), lockOf('agent', 'read_only')],
    [KILL, ...NARROW],
  )
  const accesses = await Promise.all(restrictions.map(() => makeAccess()))
  for (const [i, { prepare }] of restrictions.entries())
    await prepare(fleet.operator, accesses[i] as Access)
  const streams = accesses.map((access) => call(1, access, '/sse', ''))
  for (const { answered } of streams) assert.equal(await answered, 200)
  fleet.edges[1]?.signal('SIGSTOP')
  const receipts = await Promise.all(
    restrictions.map(({ impose }, i) => impose(fleet.operator, accesses[i] as Access)),
  )
  for (const receipt of receipts) assert.equal(receipt.complete, false)
  for (const { ended } of streams) assert.equal((await ended).is_whole, false)
  fleet.edges[1]?.signal('SIGCONT')
  for (const [i, { reason }] of restrictions.entries()) {
    const answer = await until('the processor answers', async () => {
      const end = await call(1, accesses[i] as Access, '/after-stop', '').ended
      return end.reason === reason && end
    })
    assert.equal(answer.status, 403)
  }
  assert.ok(!fleet.upstream.begun.some(({ path }) => path.includes('/after-stop')))
})

for (const lock of restrictionsOf(
  [],
  LOCKS.filter(({ is_wide }) => is_wide),
))
  test(`threats 18 and 20: an edge that is cut off or stopped while there comes ${lock.name} refuses, cuts, and keeps it`, async () => {
    const access = await makeAccess()
    const isServed = async () => (await call(0, access, '/ok', '').ended).status === 200
    for (const mode of [...MODES, 'SIGSTOP'] as const) {
      await until('the edge serves', isServed)
      const stream = call(0, access, '/sse', '')
      assert.equal(await stream.answered, 200)
      if (mode === 'SIGSTOP') fleet.edges[0]?.signal('SIGSTOP')
      else relay.set(mode)
      const receipt = await lock.impose(fleet.operator, access)
      const row = receipt.edges.find(({ edge_id }: any) => edge_id === 'edge-1')
      if (mode !== 'no_messages')
        assert.deepEqual([row.acknowledged_ms, receipt.complete], [null, false], mode)
      assert.equal((await stream.ended).is_whole, false)
      if (mode === 'SIGSTOP') fleet.edges[0]?.signal('SIGCONT')
      else relay.set('passes')
      const { status, reason } = await until('the edge decides', async () => {
        const end = await call(0, access, '/wide-dead', '').ended
        return (end.status === 200 || end.reason === 'locked') && end
      })
      assert.deepEqual([status, reason], [403, 'locked'], mode)
      await lock.lift(fleet.operator, access)
    }
    assert.ok(!fleet.upstream.begun.some(({ path }) => path.includes('/wide-dead')))
  })

test('threat 17: a draining processor still receives kills and locks, and ends its streams', async () => {
  const restrictions = restrictionsOf([KILL, lockOf('key', 'read_only')], [KILL, ...NARROW])
  const accesses = await Promise.all(restrictions.map(() => makeAccess()))
  const [access] = accesses as [Access]
  await until('the edge serves', async () => (await call(1, access, '/ok').ended).status === 200)
  const streams = accesses.map((one) => call(1, one, '/quiet', ''))
  for (const { answered } of streams) assert.equal(await answered, 200)
  fleet.edges[1]?.signal('SIGTERM')
  await until('the edge says that it drains', async () => {
    const text = await fleet.redis.hget(REDIS_KEYS.edges, 'edge-2/fleet')
    return text !== null && JSON.parse(text).draining
  })
  assert.ok(streams.every(({ isOpen }) => isOpen()))
  for (const [i, { name, impose }] of restrictions.entries()) {
    const receipt = await impose(fleet.operator, accesses[i] as Access)
    const kept = await completed(fleet.operator, receipt)
    assert.equal(kept.in_flight_requests_terminated, 1, name)
    assert.equal((await streams[i]?.ended)?.is_whole, false)
  }
  await fleet.edges[1]?.exited()
  await fleet.edges[1]?.restart()
  await until('the edge serves', async () => {
    return (await call(1, access, '/restarted').ended).reason === 'agent_killed'
  })
  await reactivate(access)
  assert.equal((await call(1, access, '/alive').ended).status, 200)
})

test('threat 21: a store that is full still kills and reactivates, locks and unlocks, and the edges keep their lease', async () => {
  const access = await makeAccess()
  // Less than any store uses: memory that is freed meanwhile does not make room.
  await fleet.redis.config('SET', 'maxmemory', '1')
  try {
    await assert.rejects(fleet.redis.set('{agw}:filler', 'x'), /OOM/)
    const stream = call(0, access, '/sse')
    assert.equal(await stream.answered, 200, fleet.edges[0]?.log())
    const receipt = await kill(access)
    assert.equal(receipt.complete, true)
    assert.equal(receipt.in_flight_requests_terminated, 1)
    assert.equal((await stream.ended).is_whole, false)
    assert.equal((await reactivate(access)).credentials_restored, 1)
    const lock = lockOf('organization', 'read_only')
    const writing = call(0, access, '/sse', '')
    assert.equal(await writing.answered, 200)
    const locked = await lock.impose(fleet.operator, access)
    assert.deepEqual([locked.complete, (await writing.ended).is_whole], [true, false])
    await lock.lift(fleet.operator, access)
    assert.equal((await call(1, access, '/full', '').ended).status, 200)
  } finally {
    await fleet.redis.config('SET', 'maxmemory', '0')
  }
})

test('admin killed between the publish and the counts: the event comes once, with its counts', async () => {
  const access = await makeAccess()
  const streams = [call(0, access, '/sse'), call(1, access, '/sse')]
  for (const stream of streams) assert.equal(await stream.answered, 200)
  // One edge cannot acknowledge for as long as it is stopped, so the kill waits for it: also on a busy machine, where a
  // beat is late now and then, since the last one is fresh.
  const [seconds] = await fleet.redis.time()
  await until('the edge has beaten since', async () => {
    const beat_ms = await fleet.redis.zscore(REDIS_KEYS.edgeBeats, 'edge-2/fleet')
    return Number(beat_ms) >= (Number(seconds) + 1) * 1000
  })
  fleet.edges[1]?.signal('SIGSTOP')
  const killing = kill(access).catch(() => 'gone')
  await until('the kill is stored', async () => (await storedAgent(access)).status === 'killed')
  await fleet.admin.kill()
  fleet.edges[1]?.signal('SIGCONT')
  assert.equal(await killing, 'gone')
  const events = async (): Promise<any[]> => {
    const entries = await logEntries(fleet.redis, ORG)
    return entries.filter(
      ({ event, agent_id }) => event === 'agent_killed' && agent_id === access.agent.agent_id,
    )
  }
  assert.deepEqual(await events(), [])
  await Promise.all([fleet.restartAdmin(), fleet.restartAdmin()])
  await until('the kill is finished', async () => (await fleet.redis.hlen(REDIS_KEYS.kills)) === 0)
  const [event, ...more] = await events()
  assert.deepEqual(more, [])
  assert.equal(event.data.requests_terminated, 2)
  assert.ok(event.data.propagation_ms > 0 && Number.isInteger(event.data.propagation_ms))
})
