import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import type { ControlTarget, EdgeRecord } from '../../core/control/control-message.ts'
import { CHANNELS } from '../../core/redis/redis-keys.ts'
import { EdgeLink } from '../../ext-proc/fleet/edge-link.ts'
import { LivenessLease } from '../../ext-proc/fleet/liveness-lease.ts'
import {
  type Cut,
  type CutCounts,
  type CallInFlight,
  CallsInFlight,
  NONE_CUT,
} from '../../ext-proc/kill/calls-in-flight.ts'
import { FakeControlChannel, settle } from '../kit/fake-control-channel.ts'
import { repetitions } from '../kit/repetitions.ts'

const LEASE_MS = 3000
const KEY: ControlTarget = { what: 'key', hash: 'h' }
const kill = (again_of?: number): ControlTarget => ({
  what: 'kill',
  organization_id: 'o',
  agent_id: 'a',
  revision: 1,
  killed_at: '2026-01-01T00:00:00.000Z',
  ...(again_of === undefined ? {} : { again_of }),
})

/** Something that ends when the test says so. */
interface Pending<T> {
  readonly end: (value: T) => void
  readonly fail: () => void
}
function pendings<T>() {
  const open: Pending<T>[] = []
  const begin = (): Promise<T> =>
    new Promise((resolve, reject) => {
      open.push({ end: resolve, fail: () => reject(new Error('on purpose')) })
    })
  return { open, begin }
}

/** An edge whose channel, store and clock are the test's; it ends with it. Its resyncs succeed at once unless they are held. */
function anEdge(t: TestContext, channel: FakeControlChannel) {
  const lease = new LivenessLease(LEASE_MS, () => channel.now_ms)
  const inFlight = new CallsInFlight()
  const dropped: ControlTarget[] = []
  const cutOrganizations: string[] = []
  const warnings: string[] = []
  const resyncs = pendings<void>()
  const enforcing = pendings<CutCounts>()
  const authorities = pendings<void>()
  const state = {
    holdsResyncs: false,
    holdsKills: false,
    resyncs: 0,
    reconnected: 0,
    ticks: 0,
    heard: 0,
  }
  /** What the next resync finds to acknowledge. */
  let waited: readonly number[] = []
  const link = new EdgeLink({
    commands: channel.commands,
    urgent: channel.urgent,
    subscription: channel.subscription as never,
    edge: { edge_id: 'edge-1', region: 'r', started_at: '2026-01-01T00:00:00.000Z' },
    lease_ms: LEASE_MS,
    lease,
    inFlight,
    drop: (target) => void dropped.push(target),
    enforce: (target) => {
      dropped.push(target)
      return state.holdsKills
        ? enforcing.begin()
        : Promise.resolve({ terminated: 2, unconfirmed: 1 })
    },
    tick: () => void state.ticks++,
    beaconSent: () => void state.heard++,
    replaceAuthority: () => authorities.begin(),
    cutDeleted: async (organization_id) => {
      cutOrganizations.push(organization_id)
      return { terminated: 3, unconfirmed: 0 }
    },
    resync: async (acknowledge) => {
      state.resyncs++
      if (state.holdsResyncs) await resyncs.begin()
      for (const epoch of waited) acknowledge(epoch, NONE_CUT)
    },
    reconnected: () => void state.reconnected++,
    nowMs: () => channel.now_ms,
    clock: { learn: () => undefined },
    log: { warn: (_data, message) => void warnings.push(message) },
  })
  t.after(() => link.stop())
  const waitFor = (epochs: readonly number[]): void => {
    waited = epochs
  }
  return {
    link,
    lease,
    inFlight,
    dropped,
    cutOrganizations,
    warnings,
    resyncs,
    enforcing,
    authorities,
    state,
    waitFor,
  }
}

function aChannel({ mock: { timers } }: TestContext): FakeControlChannel {
  timers.enable({ apis: ['setInterval', 'setTimeout'] })
  return new FakeControlChannel(timers)
}

/** One that serves: it has subscribed, sent a heartbeat, and received a beacon. */
async function aServingEdge(t: TestContext) {
  const channel = aChannel(t)
  const edge = anEdge(t, channel)
  await edge.link.start()
  channel.beacon()
  await settle()
  assert.ok(edge.lease.isHeld)
  return { channel, ...edge }
}

const aCall = (agent_id: string): { call: CallInFlight; cuts: Cut[] } => {
  const cuts: Cut[] = []
  const call: CallInFlight = {
    organization_id: 'o',
    agent_id,
    passed_ms: null,
    ended: new Promise(() => undefined),
    cut: (why) => cuts.push(why) === 1,
  }
  return { call, cuts }
}

test('an edge serves once it has subscribed, beaten, heard a beacon, and read the store', async (t) => {
  const channel = aChannel(t)
  const { link, lease, resyncs, state } = anEdge(t, channel)
  state.holdsResyncs = true
  await link.start()
  assert.equal(lease.isHeld, false, 'no beacon yet')
  assert.equal(channel.subscription.subscribed.length, 1)
  channel.beacon()
  await settle()
  assert.equal(lease.isHeld, false, 'the store is not read')
  resyncs.open[0]?.end()
  await settle()
  assert.equal(lease.isHeld, true)
  assert.equal(state.resyncs, 1)
})

test('beacons, answered pings and beats keep the lease for as long as they come', async (t) => {
  const { channel, lease, state } = await aServingEdge(t)
  await channel.pass(10 * LEASE_MS)
  assert.ok(lease.left_ms > LEASE_MS / 2)
  assert.equal(state.resyncs, 1, 'no gap was seen')
  assert.equal(state.heard, 121, 'beacons of another process')
  assert.equal(
    state.ticks,
    181,
    'with beats and beacons, each is looked at whether it came after a pause',
  )
  assert.equal(channel.subscription.destroyed, 0)
})

test('without calls every second heartbeat and ping is sent, until one of them fails or a call has come', async (t) => {
  const { channel, lease, inFlight } = await aServingEdge(t)
  const beatsIn = async (ms: number): Promise<number> => {
    const before = channel.beats.length
    await channel.pass(ms)
    return channel.beats.length - before
  }
  let least_ms = LEASE_MS
  for (let i = 0; i < 100; i++) {
    await channel.pass(50)
    least_ms = Math.min(least_ms, lease.left_ms)
  }
  assert.ok(least_ms >= (2 / 3) * LEASE_MS, 'two thirds of the lease are left')
  assert.equal(await beatsIn(4_000), 4)
  const { call } = aCall('a')
  inFlight.add(call)
  assert.equal(await beatsIn(4_000), 8)
  inFlight.remove(call)
  assert.equal(await beatsIn(4_000), 4)
  for (let i = 0; i < 8; i++) {
    inFlight.add(call)
    inFlight.remove(call)
    assert.equal(await beatsIn(500), 1, 'a call between two heartbeats counts')
  }
  await channel.pass(1_000)
  channel.isStoreUp = false
  await channel.pass(1_000)
  channel.isStoreUp = true
  assert.equal(await beatsIn(500), 1, 'one that failed is sent again at the next turn')
})

/** What fails, and how long after it the edge may still serve at most. */
const LOSSES: Readonly<Record<string, (channel: FakeControlChannel) => void>> = {
  'beacons are lost': (channel) => {
    channel.isSendingBeacons = false
  },
  'the store takes no beats': (channel) => {
    channel.isStoreUp = false
  },
  'pings are not answered': ({ subscription }) => {
    subscription.isAnswering = false
  },
  'the subscription is lost': ({ subscription }) => subscription.lose(),
  'beats find an epoch whose message never came, and beacons do not either': (channel) => {
    channel.change([KEY], 'lost')
    channel.isSendingBeacons = false
  },
}

for (const [name, fail] of Object.entries(LOSSES))
  test(`${name}: the lease ends in time, and every call is cut`, async (t) => {
    const { channel, lease, inFlight, warnings } = await aServingEdge(t)
    const { call, cuts } = aCall('a')
    inFlight.add(call)
    await channel.pass(1000)
    fail(channel)
    await channel.pass(LEASE_MS - 500)
    const before = lease.isHeld
    await channel.pass(500)
    assert.equal(lease.isHeld, false)
    await channel.pass(50)
    assert.deepEqual(cuts[0], { reason: 'gateway_unavailable' })
    assert.ok(before, 'not much earlier than it must')
    await channel.pass(LEASE_MS)
    assert.equal(warnings.filter((text) => text.includes('lease has expired')).length, 1)
  })

test('a subscription without beacons for half a lease is closed, and reopened', async (t) => {
  const { channel } = await aServingEdge(t)
  channel.isSendingBeacons = false
  await channel.pass(LEASE_MS / 2 - 50)
  assert.equal(channel.subscription.destroyed, 0)
  await channel.pass(550)
  assert.equal(channel.subscription.destroyed, 1)
})

test('a ping that is not answered for half a lease closes the subscription; there is one at a time', async (t) => {
  const { channel } = await aServingEdge(t)
  channel.subscription.isAnswering = false
  await channel.pass(LEASE_MS / 2)
  assert.equal(channel.subscription.unanswered, 1)
  assert.equal(channel.subscription.destroyed, 0)
  await channel.pass(1000)
  assert.equal(channel.subscription.destroyed, 1)
})

test('a late answer to a ping counts from when it was sent', async (t) => {
  const { channel, lease, inFlight } = await aServingEdge(t)
  inFlight.add(aCall('a').call)
  channel.subscription.isAnswering = false
  await channel.pass(500)
  const sent_ms = channel.now_ms
  await channel.pass(1000)
  channel.subscription.answerPings()
  await settle()
  assert.equal(lease.left_ms, sent_ms + LEASE_MS - channel.now_ms)
})

test('an edge that stood still does not close its subscription for the silence', async (t) => {
  const { channel, link } = await aServingEdge(t)
  channel.subscription.isAnswering = false
  await channel.pass(500)
  channel.now_ms += 2 * LEASE_MS
  link.stalled()
  channel.subscription.answerPings()
  channel.subscription.isAnswering = true
  await channel.pass(500)
  assert.equal(channel.subscription.destroyed, 0)
})

test('an edge that stood still while a ping was on its way goes on pinging', async (t) => {
  const { channel, lease, link } = await aServingEdge(t)
  channel.subscription.isAnswering = false
  await channel.pass(500)
  channel.now_ms += 200
  link.stalled()
  channel.subscription.answerPings()
  channel.subscription.isAnswering = true
  await channel.pass(1000)
  assert.ok(lease.left_ms > LEASE_MS - 600, `${lease.left_ms} ms are left`)
  assert.equal(channel.subscription.destroyed, 0)
})

test('the next message is applied, then acknowledged', async (t) => {
  const { channel, dropped, state } = await aServingEdge(t)
  channel.change([KEY, { what: 'integrations', organization_id: 'o' }])
  assert.equal(dropped.length, 2, 'dropped before anything else runs')
  await settle()
  assert.deepEqual(channel.acknowledged, ['6 0/0'])
  assert.equal(state.resyncs, 1)
})

test('a kill is acknowledged when its calls have ended, with their counts', async (t) => {
  const { channel, enforcing, state } = await aServingEdge(t)
  state.holdsKills = true
  channel.change([kill(), KEY])
  await settle()
  assert.deepEqual(channel.acknowledged, [])
  channel.change([KEY])
  await settle()
  assert.deepEqual(channel.acknowledged, ['7 0/0'], 'later messages do not wait for it')
  enforcing.open[0]?.end({ terminated: 4, unconfirmed: 1 })
  await settle()
  assert.deepEqual(channel.acknowledged, ['7 0/0', '6 4/1'])
})

test('a kill is acknowledged again when its last call has ended, as soon as the store takes it', async (t) => {
  const { channel, enforcing, state } = await aServingEdge(t)
  state.holdsKills = true
  channel.change([kill(3), KEY])
  let endLast: (counts: CutCounts) => void = () => undefined
  const rest = new Promise<CutCounts>((resolve) => {
    endLast = resolve
  })
  enforcing.open[0]?.end({ terminated: 4, unconfirmed: 2, ending: 2, rest })
  await settle()
  assert.deepEqual(channel.acknowledged, ['6 4/2', '3? 4/2'])
  channel.refusesWrites = 'away'
  endLast({ terminated: 6, unconfirmed: 0 })
  await channel.pass(3_000)
  channel.refusesWrites = null
  await channel.pass(1_000)
  assert.deepEqual(channel.acknowledged.slice(2).sort(), ['3? 6/0', '6 6/0'])
  await channel.pass(2_000)
  assert.equal(channel.acknowledged.length, 4)
})

test('a kill that is published again is acknowledged under both epochs', async (t) => {
  const { channel } = await aServingEdge(t)
  channel.change([kill(3)])
  await settle()
  assert.deepEqual(channel.acknowledged, ['6 2/1', '3? 2/1'])
})

test('a kill or a reactivation that cannot be enforced is not acknowledged, and the store is read again', async (t) => {
  const { channel, enforcing, state, warnings } = await aServingEdge(t)
  state.holdsKills = true
  channel.change([kill()])
  enforcing.open[0]?.fail()
  await settle()
  assert.deepEqual(channel.acknowledged, [])
  assert.equal(warnings.length, 1)
  const { resyncs } = state
  channel.beacon()
  await settle()
  assert.equal(state.resyncs, resyncs + 1, 'nothing else repeats the message')
})

test('the deletion of an organization cuts the calls of its agents, and counts them', async (t) => {
  const { channel, cutOrganizations, dropped } = await aServingEdge(t)
  channel.change([{ what: 'organization', organization_id: 'o' }])
  await settle()
  assert.deepEqual(cutOrganizations, ['o'])
  assert.equal(dropped.length, 1)
  assert.deepEqual(channel.acknowledged, ['6 3/0'])
})

test('a new CA is acknowledged when all certificates were issued with it', async (t) => {
  const { channel, authorities } = await aServingEdge(t)
  channel.change([{ what: 'forward_ca' }])
  await settle()
  assert.deepEqual(channel.acknowledged, [])
  authorities.open[0]?.end()
  await settle()
  assert.deepEqual(channel.acknowledged, ['6 0/0'])
})

test('after a gap the message is applied at once, and acknowledged once the store has been read', async (t) => {
  const { channel, dropped, resyncs, state } = await aServingEdge(t)
  state.holdsResyncs = true
  channel.change([KEY], 'lost')
  channel.change([kill()])
  assert.equal(dropped.length, 1)
  await settle()
  assert.deepEqual(channel.acknowledged, [])
  resyncs.open[0]?.end()
  await settle()
  assert.deepEqual(channel.acknowledged, ['7 2/1'])
  channel.change([KEY])
  await settle()
  assert.equal(state.resyncs, 2, 'in order again')
  assert.deepEqual(channel.acknowledged, ['7 2/1', '8 0/0'])
})

test('a beacon tells of a gap as well, and no beacon renews the lease until the store has been read', async (t) => {
  const { channel, lease, resyncs, state } = await aServingEdge(t)
  state.holdsResyncs = true
  channel.change([KEY], 'lost')
  await channel.pass(LEASE_MS)
  assert.equal(state.resyncs, 2)
  assert.equal(lease.isHeld, false)
  resyncs.open[0]?.end()
  await channel.pass(500)
  assert.ok(lease.isHeld)
  assert.equal(state.resyncs, 2, 'one read is enough')
})

test('while the store cannot be read after a gap nothing is acknowledged, and each beacon tries again', async (t) => {
  const { channel, lease, resyncs, state, warnings } = await aServingEdge(t)
  state.holdsResyncs = true
  channel.change([KEY], 'lost')
  channel.change([KEY])
  await settle()
  resyncs.open[0]?.fail()
  await settle()
  assert.deepEqual(channel.acknowledged, [])
  assert.equal(warnings.length, 1)
  channel.beacon()
  await settle()
  resyncs.open[1]?.fail()
  await settle()
  channel.beacon()
  await settle()
  assert.equal(state.resyncs, 4)
  channel.now_ms += LEASE_MS
  assert.equal(lease.isHeld, false)
  resyncs.open[2]?.end()
  await settle()
  assert.deepEqual(
    channel.acknowledged,
    [],
    'the message is done; a waiting kill ends with the lease',
  )
})

test('a message of an epoch that was there before makes the edge read the store again', async (t) => {
  const { channel, state } = await aServingEdge(t)
  channel.change([KEY])
  channel.message({ kind: 'control', epoch: 6, targets: [KEY] })
  await settle()
  assert.equal(state.resyncs, 2)
  channel.beacon(99)
  await settle()
  assert.equal(state.resyncs, 3, 'so does a forged epoch')
  channel.beacon()
  await settle()
  assert.equal(state.resyncs, 4)
})

test('a running resync may have read too early: requests made in the meantime share the next one', async (t) => {
  const { channel, resyncs, state } = await aServingEdge(t)
  state.holdsResyncs = true
  channel.change([KEY], 'lost')
  channel.change([KEY])
  await settle()
  channel.change([KEY], 'lost')
  channel.change([KEY])
  channel.change([KEY], 'lost')
  channel.change([KEY])
  await settle()
  assert.equal(state.resyncs, 2)
  resyncs.open[0]?.end()
  await settle()
  assert.deepEqual(channel.acknowledged, ['7 0/0'])
  assert.equal(state.resyncs, 3)
  resyncs.open[1]?.end()
  await settle()
  assert.deepEqual(channel.acknowledged, ['7 0/0', '9 0/0', '11 0/0'])
  assert.equal(state.resyncs, 3)
})

test('kills that a resync finds waiting are acknowledged, unless they were', async (t) => {
  const { channel, waitFor } = await aServingEdge(t)
  waitFor([4])
  channel.change([KEY], 'lost')
  channel.beacon()
  await settle()
  assert.deepEqual(channel.acknowledged, ['4? 0/0'])
})

test('an edge subscribes again itself at each reconnection', async (t) => {
  const { channel } = await aServingEdge(t)
  for (const times of [2, 3]) {
    channel.subscription.lose()
    channel.subscription.reopen()
    await settle()
    assert.deepEqual(channel.subscription.subscribed, Array(times).fill(CHANNELS.control))
  }
})

test('after a reconnect nothing is trusted: the store is read, and every message before is a gap', async (t) => {
  const { channel, resyncs, state } = await aServingEdge(t)
  state.holdsResyncs = true
  channel.subscription.lose()
  channel.change([kill()], 'lost')
  channel.subscription.reopen()
  await settle()
  assert.equal(state.reconnected, 1)
  assert.equal(state.resyncs, 2)
  resyncs.open[0]?.end()
  // The next in order to what was received before; the one in between was lost with the connection.
  channel.epoch = 5
  channel.change([KEY])
  await settle()
  assert.equal(state.resyncs, 3, 'not taken for the next one')
  assert.deepEqual(channel.acknowledged, [])
  resyncs.open[1]?.end()
  await settle()
  assert.deepEqual(channel.acknowledged, ['6 0/0'])
})

test('a beat proves nothing until the messages up to the epoch that it found are here', async (t) => {
  const { channel, lease, inFlight } = await aServingEdge(t)
  inFlight.add(aCall('a').call)
  channel.isSendingBeacons = false
  channel.change([KEY], 'lost')
  await channel.pass(500)
  const sent_ms = channel.now_ms
  await channel.pass(200)
  lease.prove('beacon', channel.now_ms)
  assert.equal(lease.left_ms, LEASE_MS - 700, 'still from the beat before the change')
  channel.message({ kind: 'control', epoch: channel.epoch, targets: [KEY] })
  assert.equal(lease.left_ms, sent_ms + LEASE_MS - channel.now_ms, 'from when it was sent')
})

test('a store that is behind what was received is not the one that publishes: the subscription is reopened', async (t) => {
  const { channel, lease, inFlight, warnings } = await aServingEdge(t)
  inFlight.add(aCall('a').call)
  channel.isSendingBeacons = false
  channel.epoch = 4
  await channel.pass(500)
  assert.equal(channel.subscription.destroyed, 1)
  assert.equal(warnings.length, 1)
  assert.equal(lease.left_ms, LEASE_MS - 500, 'its beat proves nothing')
})

for (const [name, more, targets] of [
  ['a newer version', { version: 2 }, [KEY]],
  ['a target of a newer version', { version: 1 }, [{ what: 'new-thing', id: 'x' }, KEY]],
  ['a target without a name', {}, [KEY, null]],
] as const)
  test(`a message with ${name} is acknowledged once the store has been read again`, async (t) => {
    const { channel, state, resyncs, dropped } = await aServingEdge(t)
    const before = state.resyncs
    state.holdsResyncs = true
    channel.epoch++
    channel.message({ kind: 'control', epoch: channel.epoch, targets, ...more })
    await settle()
    assert.deepEqual(dropped, [KEY], 'what is known is done at once')
    assert.equal(state.resyncs, before + 1)
    assert.deepEqual(channel.acknowledged, [])
    resyncs.open[0]?.end()
    await settle()
    assert.deepEqual(channel.acknowledged, [`${channel.epoch} 0/0`])
  })

test('what is not a control message is ignored', async (t) => {
  const { channel, dropped, state, lease } = await aServingEdge(t)
  channel.isSendingBeacons = false
  await channel.pass(200)
  const left_ms = lease.left_ms
  const change = JSON.stringify({ kind: 'control', epoch: 9, targets: [KEY] })
  channel.text(change, 'another channel')
  for (const text of [
    '',
    'null',
    '[]',
    '{',
    '{"kind":"control","epoch":"6","targets":[]}',
    '{"kind":"control","epoch":6}',
    '{"kind":"beacon","epoch":5}',
    '{"kind":"other","epoch":6,"targets":[]}',
  ])
    channel.text(text)
  await settle()
  assert.deepEqual(dropped, [])
  assert.equal(state.resyncs, 1)
  assert.equal(lease.left_ms, left_ms)
})

test('a beat says what the edge holds, and whether it is draining; the end of it signs the edge off', async (t) => {
  const { channel, link, lease, inFlight } = await aServingEdge(t)
  inFlight.add(aCall('a').call)
  await channel.pass(500)
  link.drain()
  await channel.pass(500)
  const [, before, draining] = channel.beats as EdgeRecord[]
  assert.deepEqual([before?.in_flight, before?.draining], [1, false])
  assert.deepEqual([draining?.in_flight, draining?.draining], [1, true])
  assert.ok(lease.isHeld, 'a draining edge is still one')
  await link.stop()
  assert.equal(lease.isHeld, false)
  assert.equal(channel.beats.at(-1), 'signed off')
  const { length } = channel.beats
  await channel.pass(LEASE_MS)
  assert.equal(channel.beats.length, length)
})

type Step =
  | 'change'
  | 'lost change'
  | 'beacon'
  | 'repeated message'
  | 'forged epoch'
  | 'reconnect'
  | 'beat'
  | 'the store fails'
  | 'the store is back'

test('whatever is lost: what is acknowledged was applied or read, and so was everything before it', async ({
  mock,
}) => {
  const steps = fc.array(
    fc.constantFrom<Step>(
      'change',
      'change',
      'lost change',
      'beacon',
      'repeated message',
      'forged epoch',
      'reconnect',
      'beat',
      'the store fails',
      'the store is back',
    ),
    { maxLength: 25 },
  )
  mock.timers.enable({ apis: ['setInterval', 'setTimeout'] })
  await fc.assert(
    fc.asyncProperty(steps, async (all) => {
      const channel = new FakeControlChannel(mock.timers)
      const first = channel.epoch
      /** Epochs whose targets were dropped, and the epoch up to which the store was read. */
      const applied = new Set<number>()
      let read = first
      let isStoreUp = true
      const lease = new LivenessLease(LEASE_MS, () => channel.now_ms)
      const link = new EdgeLink({
        commands: channel.commands,
        tick: () => undefined,
        beaconSent: () => undefined,
        urgent: channel.urgent,
        subscription: channel.subscription as never,
        edge: { edge_id: 'e', region: '', started_at: '' },
        lease_ms: LEASE_MS,
        lease,
        inFlight: new CallsInFlight(),
        drop: (target) => void (target.what === 'key' && applied.add(Number(target.hash))),
        enforce: async () => NONE_CUT,
        replaceAuthority: async () => undefined,
        cutDeleted: async () => NONE_CUT,
        resync: async () => {
          const from = channel.epoch
          await settle()
          if (!isStoreUp) throw new Error('on purpose')
          read = Math.max(read, from)
        },
        reconnected: () => undefined,
        nowMs: () => channel.now_ms,
        clock: { learn: () => undefined },
        log: { warn: () => undefined },
      })
      channel.onAcknowledged = (acknowledged) => {
        for (let epoch = first + 1; epoch <= Math.min(acknowledged, channel.epoch); epoch++)
          assert.ok(read >= epoch || applied.has(epoch), `${acknowledged} without ${epoch}`)
      }
      channel.isSendingBeacons = false
      const change = (lost: 'lost' | 'arrives') =>
        channel.change([{ what: 'key', hash: String(channel.epoch + 1) }], lost)
      await link.start()
      for (const step of all) {
        if (step === 'change') change('arrives')
        else if (step === 'lost change') change('lost')
        else if (step === 'beacon') channel.beacon()
        else if (step === 'forged epoch') channel.beacon(channel.epoch + 7)
        else if (step === 'beat') await channel.pass(50)
        else if (step === 'reconnect') {
          channel.subscription.lose()
          channel.subscription.reopen()
        } else if (step === 'repeated message') {
          const targets = [{ what: 'key', hash: String(channel.epoch) }]
          channel.message({ kind: 'control', epoch: channel.epoch, targets })
        } else isStoreUp = step === 'the store is back'
        if (all.length % 2 === 0) await settle()
      }
      isStoreUp = true
      if (channel.subscription.status !== 'ready') channel.subscription.reopen()
      channel.isSendingBeacons = true
      await channel.pass(1000)
      assert.ok(lease.isHeld, 'it serves again')
      for (let epoch = first + 1; epoch <= channel.epoch; epoch++)
        assert.ok(read >= epoch || applied.has(epoch), `${epoch} was missed`)
      await link.stop()
    }),
    { numRuns: repetitions(60) },
  )
})

const DISK_FULL =
  'MISCONF Valkey is configured to save RDB snapshots, but it is unable to persist to disk.'

test('an acknowledgement is published when the disk of the store is full, and not after another error', async (t) => {
  const { channel } = await aServingEdge(t)
  for (const [error, isPublished] of [
    [DISK_FULL, true],
    ['NOREPLICAS Not enough good replicas to write.', false],
    ['READONLY You can not write against a read only replica.', false],
  ] as const) {
    channel.refusesWrites = error
    channel.published.length = 0
    const epoch = channel.change([kill()])
    await settle()
    assert.deepEqual(channel.published, isPublished ? [epoch] : [], error)
  }
  assert.deepEqual(channel.acknowledged, [])
})
