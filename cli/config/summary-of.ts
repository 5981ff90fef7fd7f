import { counted } from '../terminal/counted.ts'
import type { ConfigChange, ConfigPlan } from './plan-changes.ts'

/** The summary line: the number of changes of each kind, and what stays. */
export function summaryOf(
  { unchanged, unnamed }: ConfigPlan,
  changes: readonly ConfigChange[],
  tense: 'to ' | '',
): string {
  const d = tense === '' ? 'd' : ''
  const counts = (['create', 'update', 'delete'] as const).flatMap((action) => {
    const count = changes.filter((change) => change.action === action).length
    return count === 0 ? [] : [`${count} ${tense}${action}${d}`]
  })
  const kept =
    unnamed === 0
      ? ''
      : ` ${counted(unnamed, 'not in the file was kept; --prune deletes it', 'not in the file were kept; --prune deletes them')}.`
  return `${counts.length === 0 ? 'Nothing to do' : counts.join(', ')}; ${unchanged} unchanged.${kept}\n`
}
