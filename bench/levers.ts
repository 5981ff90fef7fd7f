import { parseArgs } from 'node:util'
import { fromRoot } from '../core/system/root.ts'
import { runLoad } from './measure-cpu.ts'
import { GET_UNCHECKED } from './rows.ts'
import { startLoad } from './start-load.ts'
import { cpuMicros, startProduct } from './subjects.ts'

/**
 * `npm run bench -- levers [--rounds 20] [--calls 4000] [--levers 50]`: CPU time of ext-proc for a call whose scope has no selector and
 * no end and which no lock concerns, while its organization has none of these either, and while it has as many of each for others. They
 * are created and removed between rounds of one product, in the order none, some, some, none, so that nothing else differs.
 */
const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '20' },
    calls: { type: 'string', default: '4000' },
    levers: { type: 'string', default: '50' },
  },
})
const calls = Number(values.calls)
/** Batches of the access log that a round has caused are written within this time. */
const SETTLE_MS = 700
const FAR = '2100-01-01T00:00:00Z'

const { load, upstream_port, stop } = await startLoad()
const product = await startProduct('the product', fromRoot(), upstream_port, [GET_UNCHECKED])
const { operator } = product
const { agent_id } = await operator.makeAgent({ labels: { team: 'other' } })
const [integration] = (await operator.send('GET', '/admin/integrations')).data

/** Answers how to remove them. */
async function createLevers(): Promise<() => Promise<void>> {
  const paths: string[] = []
  for (let i = 0; i < Number(values.levers); i++) {
    const scope = await operator.makeScope('', '', {
      agent_id: undefined,
      integration_id: integration.integration_id,
      agent_selector: { match_labels: { team: `other-${i}` } },
      expires_at: FAR,
    })
    const lock = await operator.send('POST', '/admin/locks', {
      target: i % 2 === 0 ? { agent_id } : { agent_selector: { match_labels: { team: 'other' } } },
      expires_at: FAR,
    })
    paths.push(`scopes/${scope.scope_id}`, `locks/${lock.lock_id}`)
  }
  return async () => {
    for (const path of paths) await operator.send('DELETE', `/admin/${path}`)
  }
}

async function measure(): Promise<number> {
  // What the change of the policy has emptied is filled, and compiled, before.
  await runLoad(load, product, GET_UNCHECKED, { calls: Math.ceil(calls / 4) })
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS))
  const pids = product.pids()
  const before = cpuMicros(pids).get('ext-proc') ?? 0
  const { failed } = await runLoad(load, product, GET_UNCHECKED, { calls })
  if (failed > 0) throw new Error(`${failed} of ${calls} calls failed`)
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS))
  return ((cpuMicros(pids).get('ext-proc') ?? 0) - before) / calls
}

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length

try {
  await runLoad(load, product, GET_UNCHECKED, { calls: 8_000 })
  const ratios: number[] = []
  const spent: Record<'none' | 'some', number[]> = { none: [], some: [] }
  for (let round = 0; round < Number(values.rounds); round++) {
    const first = await measure()
    const remove = await createLevers()
    const some = [await measure(), await measure()]
    await remove()
    const none = [first, await measure()]
    spent.none.push(...none)
    spent.some.push(...some)
    ratios.push(mean(some) / mean(none))
  }
  const average = mean(ratios)
  const deviation = Math.sqrt(mean(ratios.map((ratio) => (ratio - average) ** 2)))
  const error = (1.96 * deviation) / Math.sqrt(ratios.length)
  process.stdout.write(
    `ext-proc, µs a call: without levers ${mean(spent.none).toFixed(1)}, with ${values.levers} scopes by labels that end and as many locks of others ${mean(spent.some).toFixed(1)}; × ${average.toFixed(4)} ± ${error.toFixed(4)} (95 %, ${ratios.length} rounds of 4 × ${calls} calls)\n`,
  )
} finally {
  await product.stop()
  stop()
}
