import { readFileSync } from 'node:fs'
import type { Writable } from 'node:stream'
import type { Environment } from '../../core/settings/settings.ts'
import type { AdminOptions } from '../deployment/admin-access.ts'
import { counted } from '../terminal/counted.ts'
import { askPatterns } from './ask-patterns.ts'
import type { FileProblem } from './config-text.ts'
import { type ConfigPlan, planChanges } from './plan-changes.ts'
import { type Config, readConfig } from './read-config.ts'
import { readCurrentConfig } from './read-current-config.ts'
import { terminalLines, terminalText } from '../terminal/terminal-text.ts'

export interface PlanFileOptions extends AdminOptions {
  readonly file: string
  readonly prune?: boolean
  readonly withSecrets?: boolean
}

/** The rest is counted: with so many errors, the first ones need correction first. */
const PROBLEMS_SHOWN = 100

/**
 * Reads a file and the deployment and compares them. All errors are printed with file and line.
 * @returns null when there is an error
 * @throws with a message for the operator when the file or the admin API cannot be read
 */
export async function loadPlan(
  options: PlanFileOptions,
  env: Environment,
  stderr: Writable,
): Promise<{ readonly config: Config; readonly plan: ConfigPlan } | null> {
  const { file, prune = false, withSecrets = false } = options
  const config = readConfig(readFileSync(file === '-' ? 0 : file, 'utf8'), env)
  if (config.text.problems.length > 0) return printProblems(file, config.problems, stderr)
  const deployment = await readCurrentConfig(options).catch((error: unknown) => {
    printProblems(file, config.problems, stderr)
    throw error
  })
  const plan = planChanges(config, deployment, { prune, all_secrets: withSecrets })
  if (plan.problems.length > 0) return printProblems(file, plan.problems, stderr)
  const patternProblems = await askPatterns(config, plan, options)
  if (patternProblems.length > 0) return printProblems(file, patternProblems, stderr)
  for (const name of plan.killed)
    stderr.write(
      `${terminalText(name)} is killed and stays killed. Use agw reactivate to reactivate it.\n`,
    )
  return { config, plan }
}

export function problemLine(file: string, { line, member, message }: FileProblem): string {
  return `${file === '-' ? 'standard input' : file}:${line}: ${[member, message].join(' ').trim()}\n`
}

function printProblems(file: string, problems: readonly FileProblem[], stderr: Writable): null {
  for (const problem of problems.slice(0, PROBLEMS_SHOWN))
    stderr.write(terminalLines(problemLine(file, problem)))
  if (problems.length > PROBLEMS_SHOWN)
    stderr.write(`and ${counted(problems.length - PROBLEMS_SHOWN, 'more error')}\n`)
  return null
}
