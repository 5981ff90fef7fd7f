import type { Writable } from 'node:stream'
import type { Environment } from '../../core/settings/settings.ts'
import { changeLines, changeObject } from '../config/describe-change.ts'
import { loadPlan, type PlanFileOptions } from '../config/load-plan.ts'
import { summaryOf } from '../config/summary-of.ts'
import { partialEnvironment } from '../config/unknown-secrets.ts'
import { terminalJson } from '../terminal/terminal-text.ts'

export interface DiffOptions extends PlanFileOptions {
  readonly exitCode?: boolean
}

/**
 * `agw diff`: prints what `agw apply` would do, and changes nothing. Secrets that the environment lacks are not compared.
 * @returns the exit code: 0, with `--exit-code` 1 where there are differences; 1 when the file has errors
 * @throws with a message for the operator when the file or the admin API cannot be read
 */
export async function runDiff(
  options: DiffOptions,
  env: Environment,
  stdout: Writable,
  stderr: Writable,
): Promise<number> {
  const { env: partial, missing } = partialEnvironment(env)
  const loaded = await loadPlan(options, partial, stderr)
  if (loaded === null) return 1
  const { plan } = loaded
  for (const change of plan.changes)
    stdout.write(
      options.output === 'json' ? `${terminalJson(changeObject(change))}\n` : changeLines(change),
    )
  if (missing.size > 0)
    stderr.write(
      `Not compared, because the environment does not have them: ${[...missing].sort().join(', ')}.\n`,
    )
  stderr.write(summaryOf(plan, plan.changes, 'to '))
  return options.exitCode === true && plan.changes.length > 0 ? 1 : 0
}
