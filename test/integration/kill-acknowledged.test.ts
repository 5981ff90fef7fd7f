import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { fromRoot } from '../../core/system/root.ts'
import { closeOpenCalls, openCall } from '../kit/open-call.ts'
import { triesAll } from '../kit/repetitions.ts'
import { completed, KILL, LOCKS, restrictionsOf } from '../kit/restrictions.ts'
import { type Fleet, startFleet } from '../kit/start-fleet.ts'
import { until } from '../kit/until.ts'

/**
 * A kill, and a lock of each target in one of its modes. Every other comes while the edges still read what the end of the one
 * before has changed.
 */
const RESTRICTIONS = restrictionsOf(
  [KILL, ...LOCKS.filter((_, i) => i % 2 === 0), KILL],
  [KILL, ...LOCKS, KILL],
)
const CALLERS_EACH = 3
/** So many calls are answered in each phase of a round before the next begins: 4,000 against restrictions where all are tried. */
const ANSWERS = triesAll ? Math.ceil(4_000 / RESTRICTIONS.length) : 12

let fleet: Fleet

before(async () => {
  fleet = await startFleet({
    edges: [{}, {}],
    envoys: 'each',
    // On a busy machine an edge may be late for the lease that is usual, and then refuses; this is not about leases.
    env: { AGW_KILL_LEASE_MS: '30000' },
    program: fromRoot('test', 'kit', 'slow-fills.mjs'),
  })
})

after(async () => {
  closeOpenCalls()
  await fleet.stop()
})

test('threat 19: no call that was sent after an acknowledged kill or lock reaches the API, though reads of the store are slow', async (context) => {
  const access = await fleet.operator.makeAccess(`${fleet.upstream.origin}/hammer`)
  // An Envoy that nothing is known of could not show that it keeps streams if its first calls were cut.
  for (const { url } of fleet.edges)
    await openCall(url, `${access.base_url}/first`, access.headers, '').ended
  let phase = 'active-0'
  let isOver = false
  let answers = 0
  let refused = 0
  const underWay = new Map<string, number>()
  const reasons = new Set<string>()
  const callers = fleet.edges.flatMap(({ url }) =>
    Array.from({ length: CALLERS_EACH }, async () => {
      while (!isOver) {
        const sent = phase
        underWay.set(sent, (underWay.get(sent) ?? 0) + 1)
        const end = await openCall(url, `${access.base_url}/${sent}`, access.headers, '').ended
        underWay.set(sent, (underWay.get(sent) ?? 0) - 1)
        if (sent.startsWith('dead')) {
          refused++
          reasons.add(`${end.status} ${end.reason}`)
        }
        answers++
      }
    }),
  )
  const enter = async (next: string): Promise<void> => {
    phase = next
    const from = answers
    await until(`calls are answered in ${next}`, () => answers >= from + ANSWERS)
  }
  for (const [round, { name, reason, impose, lift }] of RESTRICTIONS.entries()) {
    if (round % 2 === 0) await enter(`active-${round}`)
    await completed(fleet.operator, await impose(fleet.operator, access))
    reasons.clear()
    await enter(`dead-${round}`)
    assert.deepEqual([...reasons], [`403 ${reason}`], name)
    phase = `reactivating-${round}`
    // A call that was sent while the agent was dead must not be decided after its reactivation.
    await until('no call of the dead is under way', () => !underWay.get(`dead-${round}`))
    await lift(fleet.operator, access)
  }
  isOver = true
  await Promise.all(callers)
  context.diagnostic(`${refused} calls against ${RESTRICTIONS.length} restrictions`)
  const arrived = fleet.upstream.begun.map(({ path: sent }) => sent)
  assert.ok(arrived.some((sent) => sent.includes('/active-')))
  assert.deepEqual(
    arrived.filter((sent) => sent.includes('/dead-')),
    [],
  )
})
