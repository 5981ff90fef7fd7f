import type { Writable } from 'node:stream'
import type { AdminOptions } from '../deployment/admin-access.ts'
import { callAdmin, messageOf } from '../deployment/call-admin.ts'
import { counted } from '../terminal/counted.ts'
import { findResource } from '../resources/find-resource.ts'
import { terminalJson, terminalLines, terminalText } from '../terminal/terminal-text.ts'
import { UsageError } from '../terminal/usage-error.ts'

const PATH = '/admin/restore-gap'

interface Gap {
  readonly open: boolean
  readonly known_until: string | null
  readonly reasons: readonly string[]
}

/**
 * `agw restore-gap show`: what a restore does not know.
 * @returns the exit code: 0 nothing is unknown, 1 agents are refused for it
 * @throws with a message for the operator when the admin API cannot be asked
 */
export async function runGapShow(options: AdminOptions, stdout: Writable): Promise<number> {
  const answer = await callAdmin(options, 'GET', PATH)
  if (answer.status !== 200) throw new Error(messageOf(answer))
  const { open, known_until, reasons } = answer.body as Gap
  if (options.output === 'json') stdout.write(`${terminalJson(answer.body)}\n`)
  else if (!open) stdout.write('No change is unknown.\n')
  else
    stdout.write(
      [
        `Changes after ${terminalText(known_until ?? '')} are unknown. The agents of the backup are refused.`,
        ...reasons.map((reason) => `- ${terminalLines(reason)}`),
        'Kill or revoke what is missing, then run agw restore-gap accept --all, or with the agents that may call.',
        '',
      ].join('\n'),
    )
  return open ? 1 : 0
}

export interface AcceptOptions extends AdminOptions {
  readonly all?: boolean
  readonly comment?: string
}

/**
 * `agw restore-gap accept`: agents of the backup may call although changes after it are unknown.
 * @returns the exit code
 * @throws with a message for the operator when an agent does not exist or the admin API refuses
 */
export async function runGapAccept(
  agents: readonly string[],
  options: AcceptOptions,
  stdout: Writable,
): Promise<number> {
  const { all = false, comment } = options
  if (all === agents.length > 0) throw new UsageError('Name the agents that may call, or --all.')
  const found = await Promise.all(agents.map((agent) => findResource(options, 'agents', agent)))
  const agent_ids = all ? null : found.map(({ agent_id }) => String(agent_id))
  const body = { agent_ids, ...(comment === undefined ? {} : { comment }) }
  const answer = await callAdmin(options, 'POST', `${PATH}/acknowledge`, body)
  if (answer.status !== 200) throw new Error(messageOf(answer))
  const { acknowledged, open } = answer.body as { acknowledged: number; open: boolean }
  if (options.output === 'json') stdout.write(`${terminalJson(answer.body)}\n`)
  else
    stdout.write(
      `${counted(acknowledged, 'agent')} may call again.${open ? ' Others are still refused.' : ''}\n`,
    )
  return 0
}
