import type { Writable } from 'node:stream'
import type { Explanation } from '../../admin/try/explanation.ts'
import { literalAddress } from '../../core/egress/address-policy.ts'
import type { AdminOptions } from '../deployment/admin-access.ts'
import { callAdmin, messageOf } from '../deployment/call-admin.ts'
import { idOf } from '../resources/find-resource.ts'
import { terminalJson, terminalLines } from '../terminal/terminal-text.ts'

export interface ExplainOptions extends AdminOptions {
  readonly exitCode?: boolean
  /** The time at which scopes have to be in force; default: now. */
  readonly at?: string
  /** Through the forward proxy. */
  readonly forward?: boolean
}

/**
 * `agw explain`: prints which integration, scope and rule decide a call, without making it.
 * @returns the exit code: 0; with `--exit-code` 1 for a call that would be refused; 1 when the admin API refuses
 * @throws with a message for the operator when the admin API does not answer
 */
export async function runExplain(
  agent: string,
  method: string,
  url: string,
  options: ExplainOptions,
  stdout: Writable,
  stderr: Writable,
): Promise<number> {
  const agent_id = await idOf(options, 'agents', agent)
  const answer = await callAdmin(options, 'POST', '/admin/explain', {
    agent_id,
    method,
    url,
    ...(options.at === undefined ? {} : { at: options.at }),
    ...(options.forward === true ? { via: 'forward' } : {}),
  })
  if (answer.status !== 200) {
    stderr.write(`${messageOf(answer)}\n`)
    return 1
  }
  const explanation = answer.body as Explanation
  if (options.output === 'json') stdout.write(`${terminalJson(explanation, 2)}\n`)
  else stdout.write(terminalLines(describe(explanation)))
  return options.exitCode === true && explanation.answer === 'refused' ? 1 : 0
}

function describe(explanation: Explanation): string {
  const { error, details, integration, scope, rule, nearest, settings_from, approval } = explanation
  const others = settings_from.filter((scope_id) => scope_id !== scope?.scope_id)
  return [
    error === null ? 'allowed' : `refused: ${error}`,
    ...Object.entries(details).map(([name, value]) => `  ${name}: ${textOf(value)}`),
    ...(integration === null
      ? []
      : [
          `integration: ${integration.name} (${integration.integration_id}), ${integration.base_url}`,
        ]),
    ...(scope === null ? [] : [`scope: ${scope.name} (${scope.scope_id}), rules[${rule ?? 0}]`]),
    ...(nearest === null
      ? []
      : [
          `nearest rule: ${nearest.name} (${nearest.scope_id}), rules[${nearest.rule}] allows the path with ${nearest.methods.join(', ')}`,
        ]),
    ...(approval == null
      ? []
      : [`approval: needed of ${approval.needed}, with the role ${approval.approvers} or higher`]),
    ...(others.length > 0 ? [`settings also from: ${others.join(', ')}`] : []),
    ...(error === null && integration !== null
      ? [`checked when the call is made: ${laterChecks(integration.base_url)}`]
      : []),
    '',
  ].join('\n')
}

function laterChecks(base_url: string): string {
  const { hostname } = new URL(base_url)
  const address = literalAddress(hostname) === null ? `, the address of ${hostname}` : ''
  return `rate limits, tools, the scan${address}`
}

const textOf = (value: unknown): string =>
  typeof value === 'string'
    ? value
    : Array.isArray(value)
      ? value.join(', ')
      : JSON.stringify(value)
