import type { Writable } from 'node:stream'
import type { Environment } from '../../core/settings/settings.ts'
import { issuesOf } from '../deployment/call-admin.ts'
import { carryOutChanges, type CreateAgents, NotMade } from '../config/carry-out-changes.ts'
import { createWithKeysShown } from '../config/create-with-keys-shown.ts'
import { changeLines, changeObject } from '../config/describe-change.ts'
import { formatHint } from '../config/format-hint.ts'
import { KeyBook, type AgentWithKey } from '../config/key-book.ts'
import { problemLine, loadPlan, type PlanFileOptions } from '../config/load-plan.ts'
import type { ConfigChange } from '../config/plan-changes.ts'
import type { Config } from '../config/read-config.ts'
import { summaryOf } from '../config/summary-of.ts'
import { counted } from '../terminal/counted.ts'
import { terminalJson, terminalLines } from '../terminal/terminal-text.ts'

export interface ApplyOptions extends PlanFileOptions {
  /** Where the keys of new agents go; `-` is standard output. */
  readonly keysOut?: string
}

/**
 * `agw apply`: brings the deployment into the state that the file declares, and prints each change once it is in force.
 * @returns the exit code: 0 the deployment matches the file, 1 it does not
 * @throws with a message for the operator when the file, the file of keys or the admin API cannot be used
 */
export async function runApply(
  options: ApplyOptions,
  env: Environment,
  stdout: Writable,
  stderr: Writable,
): Promise<number> {
  const { keysOut, output } = options
  const book = keysOut === undefined || keysOut === '-' ? null : new KeyBook(options, keysOut)
  const recovered = (await book?.recover()) ?? []
  if (recovered.length > 0)
    stderr.write(
      terminalLines(
        `An interrupted run had started to create ${recovered.length === 1 ? `${recovered[0]}; its key is` : `${recovered.length} agents; their keys are`} in ${keysOut}.\n`,
      ),
    )
  const loaded = await loadPlan(options, env, stderr)
  if (loaded === null) return 1
  const { config, plan } = loaded
  const news = plan.changes.filter(
    (change) => change.action === 'create' && change.entry.kind === 'agents',
  )
  if (news.length > 0 && keysOut === undefined) {
    stderr.write(
      `New agents: ${news.length}. Their keys are shown only once, so a destination is required: --keys-out FILE, or --keys-out - for standard output. Nothing was changed.\n`,
    )
    return 1
  }
  const showKey = (key: AgentWithKey): void =>
    void stdout.write(
      output === 'json'
        ? `${terminalJson(key)}\n`
        : `  key of ${key.agent_id} (shown only once): ${key.api_key}\n`,
    )
  const createAgents: CreateAgents =
    book === null
      ? (wanted) => createWithKeysShown(options, wanted, showKey)
      : (wanted) => book.createAgents(wanted)
  const made: ConfigChange[] = []
  try {
    for await (const { change, warnings } of carryOutChanges(plan, options, createAgents)) {
      made.push(change)
      stdout.write(
        output === 'json'
          ? `${terminalJson({ ...changeObject(change), ...(warnings.length > 0 ? { warnings } : {}) })}\n`
          : changeLines(change),
      )
      if (output === 'json') continue
      for (const warning of warnings)
        stderr.write(terminalLines(`Warning: ${change.title}: ${warning}\n`))
      const isNewApi = change.action === 'create' && change.entry.kind === 'integrations'
      const hint = isNewApi ? formatHint(change.entry.given) : null
      if (hint !== null) stderr.write(terminalLines(`Hint: ${change.title}: ${hint}\n`))
    }
  } catch (error) {
    stderr.write(
      `${made.length} of ${counted(plan.changes.length, 'change was', 'changes were')} made. `,
    )
    if (!(error instanceof NotMade)) throw error
    stderr.write(`Not made:\n${changeLines(error.change)}`)
    for (const line of whyNot(error, options.file, config)) stderr.write(terminalLines(line))
    return 1
  }
  stderr.write(summaryOf(plan, made, ''))
  if (news.length > 0 && book !== null)
    stderr.write(`The keys of the new agents are in ${keysOut}.\n`)
  return 0
}

/** Problems that the gateway reports are shown with their position in the file. */
function whyNot({ change, answer, message }: NotMade, file: string, config: Config): string[] {
  const issues = answer === null ? [] : issuesOf(answer)
  if (change.action === 'delete' || issues.length === 0) return [`    ${message}\n`]
  return issues.map((issue) =>
    problemLine(file, config.text.problemAt(change.entry.at + issue.path, issue.message)),
  )
}
