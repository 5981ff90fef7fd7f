import type { Writable } from 'node:stream'
import type { Environment } from '../core/settings.ts'
import { changeLines, changeObject } from './config/describe-change.ts'
import { loadPlan, type PlanFileOptions } from './config/load-plan.ts'
import { summaryOf } from './config/summary-of.ts'
import { terminalJson } from './terminal-text.ts'

export interface DiffOptions extends PlanFileOptions {
  readonly exitCode?: boolean
}

/**
 * `agw diff`: prints what `agw apply` would do, and changes nothing.
 * @returns the exit code: 0, with `--exit-code` 1 where there are differences; 1 when the file has errors
 * @throws with a message for the operator when the file or the admin API cannot be read
 */
export async function runDiff(
  options: DiffOptions,
  env: Environment,
  stdout: Writable,
  stderr: Writable,
): Promise<number> {
  const loaded = await loadPlan(options, env, stderr)
  if (loaded === null) return 1
  const { plan } = loaded
  for (const change of plan.changes)
    stdout.write(
      options.output === 'json' ? `${terminalJson(changeObject(change))}\n` : changeLines(change),
    )
  stderr.write(summaryOf(plan, plan.changes, 'to '))
  return options.exitCode === true && plan.changes.length > 0 ? 1 : 0
}
