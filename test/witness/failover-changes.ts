import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { operatorAt } from '../kit/operator.ts'
import { startAdmin } from '../kit/start-admin.ts'
import type { StoreFailure } from '../kit/failover-rounds.ts'
import { type KitSentinels, startSentinels } from '../kit/start-sentinels.ts'
import { until } from '../kit/until.ts'

/**
 * Counts admin changes that were answered and are lost after a failover, by `min-replicas-to-write` of the store: a primary with
 * two replicas and three Sentinels, one operator who creates agents without pause.
 *
 *     node cli/prepare.mjs build
 *     node dist/test/witness/failover-changes.js [--rounds 4] [--first 0] [--replicas 0,1,2]
 *
 * In turn: kill -9, SENTINEL FAILOVER and SIGSTOP of the primary, and SENTINEL FAILOVER COORDINATED.
 *
 * The exit code is 1 if a change was lost although every replica had to be connected.
 */
const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '4' },
    first: { type: 'string', default: '0' },
    replicas: { type: 'string', default: '0,1,2' },
  },
})
const REPLICAS = 2
const MAX_LAG_S = 1
const PAUSE_MS = 5
/** Changes go on for this long before and after each failover. */
const AROUND_MS = 1_500
/** A Sentinel on a busy machine does nothing for half a minute (its TILT mode). */
const STORE_LIMIT_MS = 120_000

/** Those of the kit, and a handover that waits until the replica has everything. */
const KIT_FAILURES = 3
async function failureOf(store: KitSentinels, round: number): Promise<StoreFailure> {
  const kind = round % (KIT_FAILURES + 1)
  if (kind < KIT_FAILURES) return await store.failure(kind)
  const name = 'SENTINEL FAILOVER COORDINATED'
  const handover = await store.failure(1)
  const begin = async (): Promise<unknown> =>
    await store.sentinels[0]?.redis.call('SENTINEL', 'FAILOVER', 'main', 'COORDINATED')
  return { ...handover, name, begin }
}

interface Figures {
  readonly made: number
  readonly refused: number
  /** By the name of the failure. */
  readonly lost: ReadonlyMap<string, number>
}

async function lostWith(min_replicas: number): Promise<Figures> {
  const store = await startSentinels({
    config: [`min-replicas-to-write ${min_replicas}`, `min-replicas-max-lag ${MAX_LAG_S}`],
  })
  const admin = await startAdmin(store.url)
  const operator = operatorAt(admin.url, admin.token)
  const made: { readonly agent_id: string; readonly failure: string }[] = []
  const lost = new Map<string, number>()
  let failure = ''
  let refused = 0
  let isOver = false
  const changing = (async () => {
    while (!isOver) {
      const agent_name = `agent ${made.length + refused}`
      await operator.send('POST', '/admin/agents', { agent_name }).then(
        ({ agent_id }) => void made.push({ agent_id, failure }),
        () => void refused++,
      )
      await wait(PAUSE_MS)
    }
  })()
  const first = Number(values.first)
  for (let round = first; round < first + Number(values.rounds); round++) {
    const { name, begin, isOver: hasPrimary, repair } = await failureOf(store, round)
    failure = name
    lost.set(name, lost.get(name) ?? 0)
    await wait(AROUND_MS)
    await begin()
    await until(`a primary after: ${name}`, () => hasPrimary().catch(() => false), STORE_LIMIT_MS)
    await wait(AROUND_MS)
    await repair()
    await until('the store is whole', () => store.isWhole().catch(() => false), STORE_LIMIT_MS)
  }
  isOver = true
  await changing
  for (const { agent_id, failure: during } of made)
    await until('the agent is looked for', () =>
      operator.send('GET', `/admin/agents/${agent_id}`).then(
        () => true,
        (error: Error) => {
          if (!error.message.includes('404')) return false
          lost.set(during, (lost.get(during) ?? 0) + 1)
          return true
        },
      ),
    )
  await admin.stop()
  await store.stop()
  return { made: made.length, refused, lost }
}

let isWrong = false
for (const text of values.replicas.split(',')) {
  const min_replicas = Number(text)
  const { made, refused, lost } = await lostWith(min_replicas)
  if (min_replicas >= REPLICAS && [...lost.values()].some((count) => count > 0)) isWrong = true
  process.stdout.write(
    `min-replicas-to-write ${min_replicas} of ${REPLICAS}: ${made} changes answered, ${refused} refused, lost ${JSON.stringify(Object.fromEntries(lost))}\n`,
  )
}
process.exit(isWrong ? 1 : 0)
