import type { Writable } from 'node:stream'
import type { KillReceipt } from '../../core/kill/kill-agent.ts'
import type { AdminOptions } from '../deployment/admin-access.ts'
import { messageOf } from '../deployment/call-admin.ts'
import { counted } from '../terminal/counted.ts'
import { describeEdges } from '../terminal/describe-edges.ts'
import { postToAgent } from '../resources/post-to-agent.ts'
import { terminalJson, terminalLines, terminalText } from '../terminal/terminal-text.ts'

export interface KillOptions extends AdminOptions {
  readonly reason?: string
  readonly notify?: readonly string[]
}

interface Untold {
  readonly notify_ignored: readonly string[]
  readonly notify_unavailable: readonly string[]
}

/**
 * `agw kill`: kills an agent and prints the result on every edge.
 * @returns the exit code: 0 the agent is killed, 1 it is not
 * @throws with a message for the operator when the admin API does not answer
 */
export async function runKill(
  agent: string,
  options: KillOptions,
  stdout: Writable,
  stderr: Writable,
): Promise<number> {
  const { reason, notify } = options
  const answer = await postToAgent(options, agent, 'kill', {
    ...(reason === undefined ? {} : { reason }),
    ...(notify === undefined ? {} : { notify }),
  })
  if (answer.status !== 200) {
    stderr.write(`${messageOf(answer)}\n`)
    return 1
  }
  const receipt = answer.body as KillReceipt & Untold
  if (options.output === 'json') stdout.write(`${terminalJson(receipt)}\n`)
  else stdout.write(terminalLines(describe(receipt)))
  const untold = [...receipt.notify_ignored, ...receipt.notify_unavailable]
  if (untold.length > 0)
    stderr.write(
      `Not notified: ${terminalText(untold.join(', '))} (unknown channel, or not configured: AGW_SMTP_URL).\n`,
    )
  if (!receipt.complete)
    stderr.write(
      'Not every edge has acknowledged. A silent edge stops serving when its lease expires.\n',
    )
  return 0
}

const tunnelsClosed = (count: number): string =>
  count > 0 ? `${counted(count, 'tunnel')} closed, ` : ''

function describe(receipt: KillReceipt): string {
  const { agent_id, killed_at, credentials_revoked, still_usable_keys, tunnels_terminated } =
    receipt
  return [
    `${agent_id} killed at ${killed_at}.`,
    `${counted(receipt.in_flight_requests_terminated, 'call')} in flight ended, ${tunnelsClosed(tunnels_terminated)}${counted(credentials_revoked, 'key')} revoked, ` +
      `last acknowledgement after ${receipt.propagation_ms} ms.`,
    ...describeEdges(receipt.edges),
    ...(still_usable_keys.length > 0
      ? [`Organization keys it used, still valid for other agents: ${still_usable_keys.join(', ')}`]
      : []),
    ...(receipt.kill_id === null ? [] : [`Receipt: agw kills show ${receipt.kill_id}`]),
    '',
  ].join('\n')
}
