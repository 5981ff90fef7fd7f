import { mintId } from '../../core/keys/api-key.ts'
import type { AdminCall } from '../http/define-route.ts'
import {
  type Issue,
  type Outcome,
  type Plan,
  type Refusal,
  answer,
  invalid,
} from '../http/outcome.ts'
import { isDryRun } from './dry-run.ts'
import { planMade } from './plan-made.ts'
import type { AnyResource, Bulk, Made, Params } from './resource.ts'

/**
 * Creates several records in one change: all of them, or none. Records of one change are listed in the order of their ids, and
 * scopes of equal age and priority apply in that order. Thus it is that of the request, except for ids that the caller chooses.
 */
export async function planCreateMany<R>(
  resource: AnyResource<R>,
  { prefix }: Bulk,
  call: AdminCall<Params, unknown, { readonly data: readonly unknown[] }>,
): Promise<Outcome> {
  const { data } = call.body
  const ids = data.map(() => mintId(prefix)).sort()
  const all: Made<R>[] = []
  const refused: { readonly index: number; readonly refusal: Refusal }[] = []
  // One after the other, so that other requests are answered in between: a scope can have many patterns to compile.
  for (const [index, body] of data.entries()) {
    const outcome = await resource.create.make({ ...call, body }, ids[index])
    if (outcome.kind === 'refusal') refused.push({ index, refusal: outcome })
    else all.push(outcome)
  }
  if (refused.length > 0) return refusalOfAll(refused)
  const records = all.map(({ record }) => record)
  const used = records.map((record) => record[resource.id])
  const issues = used.flatMap((id, i): Issue[] =>
    used.indexOf(id) === i
      ? []
      : [{ path: `/data/${i}/${resource.id}`, message: 'repeats the id of an earlier item' }],
  )
  if (issues.length > 0) return invalid(issues)
  const excess = await resource.create.check?.(call, records)
  if (excess) return excess
  const plans = await Promise.all(all.map((made) => planMade(resource, call, made)))
  return {
    kind: 'plan',
    guards: plans.flatMap(({ guards }) => guards),
    writes: plans.flatMap(({ writes }) => writes),
    targets: plans.flatMap(({ targets }) => targets),
    needs: plans.flatMap(({ needs = [] }) => needs),
    audits: plans.flatMap(({ audits }) => audits) as unknown as Plan['audits'],
    answer: answer(isDryRun(call) ? 200 : 201, { data: plans.map((plan) => plan.answer.body) }),
  }
}

/** The issues of all items, each with its path; else the first refusal, with the index of its item. */
function refusalOfAll(
  refused: readonly { readonly index: number; readonly refusal: Refusal }[],
): Refusal {
  const first = refused.find(({ refusal }) => refusal.error !== 'validation_failed')
  if (first !== undefined)
    return { ...first.refusal, details: { ...first.refusal.details, index: first.index } }
  return invalid(
    refused.flatMap(({ index, refusal }) =>
      ((refusal.details?.['issues'] ?? []) as readonly Issue[]).map(({ path, message }) => ({
        path: `/data/${index}${path}`,
        message,
      })),
    ),
  )
}
