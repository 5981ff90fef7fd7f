import { parseArgs } from 'node:util'
import { failoverRounds } from '../kit/failover-rounds.ts'
import { startCluster } from '../kit/start-cluster.ts'
import { startSentinels } from '../kit/start-sentinels.ts'

/**
 * Fails the store over again and again while calls and kills go on, and prints what callers saw.
 *
 *     node cli/prepare.mjs build
 *     node dist/test/witness/store-failover.js [--store cluster|sentinel] [--rounds 20] [--edges 2]
 *
 * Every second call is one of an agent that was killed. The exit code is 1 if such a call was served, a killed agent was
 * active after a failover, or an edge did not recover without a restart.
 */
const { values } = parseArgs({
  options: {
    store: { type: 'string', default: 'cluster' },
    rounds: { type: 'string', default: '20' },
    edges: { type: 'string', default: '2' },
  },
})
const store = values.store === 'sentinel' ? await startSentinels() : await startCluster()
const figures = await failoverRounds({
  store,
  rounds: Math.min(Number(values.rounds), 200),
  edges: Math.min(Number(values.edges), 8),
  say: (line) => void process.stdout.write(`${line}\n`),
})
process.stdout.write(`${JSON.stringify(figures)}\n`)
process.exit(figures.late_calls + figures.revived_agents + figures.stuck_rounds === 0 ? 0 : 1)
