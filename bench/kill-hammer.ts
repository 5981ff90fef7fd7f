import { setTimeout as wait } from 'node:timers/promises'
import { fromRoot } from '../core/root.ts'
import { openCall } from '../test/kit/open-call.ts'
import { startFleet } from '../test/kit/start-fleet.ts'
import { until } from '../test/kit/until.ts'
import { endCalls } from './kill-fixture.ts'

const EDGES = 4
const CALLERS_EACH = 3
const ROUNDS = Number(process.env['BENCH_KILLS'] ?? 200)
const PHASE_MS = 25

/**
 * One agent calls through four edges without a pause while it is killed and reactivated again and again; the edges get
 * what they ask the store for late, so that fills race the kills. Each call says in its path what its caller knew when
 * it was sent; one that was sent after an acknowledged kill must never arrive.
 */
const fleet = await startFleet({
  envoys: 'each',
  edges: Array.from({ length: EDGES }, () => ({})),
  program: fromRoot('test', 'kit', 'slow-fills.mjs'),
})
try {
  const access = await fleet.operator.makeAccess(`${fleet.upstream.origin}/hammer`)
  const path = `/admin/agents/${access.agent.agent_id}`
  let known = 'active-0'
  let isOver = false
  const answers = new Map<string, number>()
  const underWay = new Map<string, number>()
  const callers = fleet.edges.flatMap(({ url }) =>
    Array.from({ length: CALLERS_EACH }, async () => {
      while (!isOver) {
        const phase = known
        underWay.set(phase, (underWay.get(phase) ?? 0) + 1)
        const { status, reason } = await openCall(
          url,
          `${access.base_url}/${phase}`,
          access.headers,
        ).ended
        underWay.set(phase, (underWay.get(phase) ?? 0) - 1)
        const what = `${phase.split('-')[0]}: ${status ?? 'cut'} ${reason ?? ''}`
        answers.set(what, (answers.get(what) ?? 0) + 1)
      }
    }),
  )
  let incomplete = 0
  const late: number[] = []
  for (let round = 1; round <= ROUNDS; round++) {
    await wait(PHASE_MS)
    known = `killing-${round}`
    const receipt = await fleet.operator.send('POST', `${path}/kill`)
    const acknowledged_ms = performance.now()
    known = `dead-${round}`
    if (!receipt.complete) incomplete++
    await wait(PHASE_MS)
    // What was sent before the kill was acknowledged may be read by this process a little later than it arrived.
    for (const { at_ms } of fleet.upstream.begun)
      if (at_ms > acknowledged_ms) late.push(at_ms - acknowledged_ms)
    known = `reactivating-${round}`
    // A call that was sent while the agent was dead must not be decided after its reactivation.
    await until('no call of the dead is under way', () => !underWay.get(`dead-${round}`))
    await fleet.operator.send('POST', `${path}/reactivate`, { reason: 'hammer' })
    known = `active-${round}`
  }
  isOver = true
  await Promise.all(callers)
  const arrived = fleet.upstream.begun.filter(({ path: sent }) => sent.includes('/dead-'))
  process.stdout.write(
    [
      `${ROUNDS} kills and reactivations of one agent, ${EDGES} edges, ${EDGES * CALLERS_EACH} callers, slow fills`,
      `answers by what the caller knew when it sent the call: ${JSON.stringify(Object.fromEntries([...answers].sort(([a], [b]) => a.localeCompare(b))))}`,
      `calls that arrived though they were sent after an acknowledged kill: ${arrived.length}`,
      `calls sent before and read by the API after the acknowledgement: ${late.length}, at most ${Math.max(0, ...late).toFixed(1)} ms late`,
      `incomplete receipts: ${incomplete}`,
      '',
    ].join('\n'),
  )
  process.exitCode = arrived.length === 0 ? 0 : 1
} finally {
  endCalls()
  await fleet.stop()
}
process.exit()
