import type { InjectionSettings } from '../../core/catalogue/model.ts'
import type { AdminOptions } from '../deployment/admin-access.ts'
import { callAdmin, issuesOf, messageOf } from '../deployment/call-admin.ts'
import type { FileProblem } from './config-text.ts'
import type { ConfigPlan } from './plan-changes.ts'
import type { Config } from './read-config.ts'

/**
 * What the gateway finds wrong with the patterns of changed scopes, by its own scanner: this process loads none. Each distinct
 * set is sent once.
 * @throws with a message for the operator when the gateway cannot check them
 */
export async function askPatterns(
  { text }: Config,
  { changes }: ConfigPlan,
  options: AdminOptions,
): Promise<readonly FileProblem[]> {
  const problems: FileProblem[] = []
  const known = new Map<string, ReturnType<typeof issuesOf>>()
  for (const change of changes) {
    if (change.action === 'delete' || change.entry.kind !== 'scopes') continue
    const { at, wanted } = change.entry
    const settings = wanted['injection_detection'] as InjectionSettings
    const { custom_patterns, whitelist_patterns, disabled_patterns } = settings
    const patterns = { custom_patterns, whitelist_patterns, disabled_patterns }
    if (Object.values(patterns).every(({ length }) => length === 0)) continue
    const key = JSON.stringify(patterns)
    const issues = known.get(key) ?? (await issuesAt(patterns, options))
    known.set(key, issues)
    for (const { path, message } of issues) problems.push(text.problemAt(at + path, message))
  }
  return problems
}

async function issuesAt(
  patterns: Partial<InjectionSettings>,
  options: AdminOptions,
): Promise<ReturnType<typeof issuesOf>> {
  const question = { body: '', injection_detection: patterns }
  const answer = await callAdmin(options, 'POST', '/admin/scan', question)
  const issues = issuesOf(answer)
  if (answer.status !== 200 && issues.length === 0) throw new Error(messageOf(answer))
  return issues
}
