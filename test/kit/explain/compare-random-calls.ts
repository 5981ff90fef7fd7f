import assert from 'node:assert/strict'
import { SeededRandom } from '../seeded-random.ts'
import type { SharedStack } from '../shared-stack.ts'
import { until } from '../until.ts'
import { type Agreement, compareCall } from './compare-call.ts'
import { randomCall } from './random-call.ts'
import { makeWorld, type World } from './random-world.ts'

export interface Comparison {
  /** How many calls ended in which way: `refused permission_denied`. */
  readonly counts: ReadonlyMap<string, number>
  /** A message per call that `explain` and the edge decide differently. */
  readonly differences: readonly string[]
}

const AT_A_TIME = 4
const PAGE = 200

/** Sends random calls of one random organization to `explain` and through Envoy, and compares verdict, reason, details, scope and rule. */
export async function compareRandomCalls(
  stack: SharedStack,
  { calls, seed }: { readonly calls: number; readonly seed: number },
): Promise<Comparison> {
  const random = new SeededRandom(seed)
  const world = await makeWorld(stack, random)
  const all = Array.from({ length: calls }, () => randomCall(world, random))
  const agreements: Agreement[] = []
  const differences: string[] = []
  let next = 0
  const work = async (): Promise<void> => {
    for (let i = next++; i < all.length; i = next++) {
      const one = all[i]
      if (one === undefined) return
      try {
        agreements.push(await compareCall({ ...stack, world }, one, `${seed}-${i}`))
      } catch (error) {
        const { agent, key: _, ...shown } = one
        differences.push(
          `seed ${seed}, call ${i}, ${agent.state} agent, ${JSON.stringify(shown)}: ${(error as Error).message}`,
        )
      }
    }
  }
  await Promise.all(Array.from({ length: AT_A_TIME }, work))
  differences.push(...(await compareLog(world, agreements)))
  const counts = new Map<string, number>()
  for (const { kind, reason } of agreements) {
    const name = `${kind} ${reason}`.trim()
    counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  return { counts, differences }
}

/** The entry of each allowed call names the integration, scope and rule that `explain` names. */
async function compareLog(world: World, agreements: readonly Agreement[]): Promise<string[]> {
  const allowed = agreements.filter(({ kind }) => kind === 'allowed')
  const entries = new Map<string, any>()
  await until('the calls are in the log', async () => {
    for (let cursor = ''; ; ) {
      const page = await world.operator.send(
        'GET',
        `/admin/activity?event=request_allowed&limit=${PAGE}&cursor=${encodeURIComponent(cursor)}`.replace(
          /&cursor=$/,
          '',
        ),
      )
      for (const entry of page.data) entries.set(entry.request_id, entry)
      if (page.next_cursor === null) break
      cursor = page.next_cursor
    }
    return allowed.every(({ request_id }) => entries.has(request_id ?? ''))
  })
  const differences: string[] = []
  for (const { request_id, explained } of allowed) {
    const { integration_id, scope_id, rule } = entries.get(request_id ?? '')
    const { integration, scope } = explained
    try {
      assert.deepEqual(
        { integration_id, scope_id, rule },
        {
          integration_id: integration?.integration_id,
          scope_id: scope?.scope_id,
          rule: explained.rule,
        },
      )
    } catch (error) {
      differences.push(`request ${request_id}: ${(error as Error).message}`)
    }
  }
  return differences
}
