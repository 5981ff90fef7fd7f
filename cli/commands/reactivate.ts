import type { Writable } from 'node:stream'
import type { AdminOptions } from '../deployment/admin-access.ts'
import { messageOf } from '../deployment/call-admin.ts'
import { counted } from '../terminal/counted.ts'
import { postToAgent } from '../resources/post-to-agent.ts'
import { terminalJson } from '../terminal/terminal-text.ts'

export interface ReactivateOptions extends AdminOptions {
  readonly reason: string
  readonly rotateKeys?: boolean
}

interface Reactivated {
  readonly agent_id: string
  readonly credentials_restored: number
  readonly api_key?: string
}

/**
 * `agw reactivate`: switches a killed agent on again.
 * @returns the exit code: 0 the agent is active, 1 it is not
 * @throws with a message for the operator when the admin API cannot be asked
 */
export async function runReactivate(
  agent: string,
  options: ReactivateOptions,
  stdout: Writable,
  stderr: Writable,
): Promise<number> {
  const answer = await postToAgent(options, agent, 'reactivate', {
    reason: options.reason,
    ...(options.rotateKeys ? { rotate_keys: true } : {}),
  })
  if (answer.status !== 200) {
    stderr.write(`${messageOf(answer)}\n`)
    return 1
  }
  const { agent_id, credentials_restored, api_key } = answer.body as Reactivated
  if (options.output === 'json') stdout.write(`${terminalJson(answer.body)}\n`)
  else
    stdout.write(
      [
        `${agent_id} is active. ${counted(credentials_restored, 'key works', 'keys work')} again.`,
        ...(api_key === undefined ? [] : [`New key (shown only once): ${api_key}`]),
        '',
      ].join('\n'),
    )
  return 0
}
