import type { Writable } from 'node:stream'
import { setTimeout as wait } from 'node:timers/promises'
import type { KillReceipt } from '../../core/kill/kill-agent.ts'
import type { RevocationResult } from '../../core/kill/revocations.ts'
import type { AdminOptions } from '../deployment/admin-access.ts'
import { callAdmin, messageOf } from '../deployment/call-admin.ts'
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
  else {
    stdout.write(terminalLines(describe(receipt)))
    if (receipt.kill_id !== null)
      stdout.write(terminalLines(await revocations(options, receipt.kill_id)))
  }
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

interface Credential {
  readonly integration_id: string
  readonly connection_id: string | null
  readonly type: string
  readonly result: RevocationResult
  readonly tokens: number
  readonly expires_at: string | null
}

/** The kill is done; how long this command waits for what its providers say about the tokens of the agent. */
const PROVIDERS_WAIT_MS = 3_000
const LOOK_INTERVAL_MS = 250

/** What became of the credentials of the agent alone, a line each. */
async function revocations(options: AdminOptions, kill_id: string): Promise<string> {
  const until_ms = performance.now() + PROVIDERS_WAIT_MS
  for (;;) {
    await wait(LOOK_INTERVAL_MS)
    const answer = await callAdmin(options, 'GET', `/admin/kills/${kill_id}`).catch(() => null)
    const { credentials = null } = (answer?.status === 200 ? answer.body : {}) as {
      readonly credentials?: readonly Credential[] | null
    }
    if (credentials !== null) return credentials.map(describeCredential).join('')
    if (performance.now() > until_ms)
      return `Its tokens at providers are not revoked yet: agw kills show ${kill_id}\n`
  }
}

const describeCredential = ({
  integration_id,
  connection_id,
  type,
  result,
  tokens,
  expires_at,
}: Credential): string =>
  `  ${connection_id ?? integration_id} (${type})  ${counted(tokens, 'token')} ${WORDS[result]}${expires_at === null ? '' : `, valid until ${expires_at}`}\n`

const WORDS: Readonly<Record<RevocationResult, string>> = {
  revoked: 'revoked at the provider',
  failed: 'not revoked yet; it is tried again',
  unsupported: 'that the provider cannot revoke',
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
