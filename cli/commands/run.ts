import { spawn } from 'node:child_process'
import type { Environment } from '../../core/settings/settings.ts'
import { type AdminOptions, adminAccess } from '../deployment/admin-access.ts'
import { callAdmin, messageOf } from '../deployment/call-admin.ts'
import { fetchCaFiles } from '../forward/fetch-ca-files.ts'
import { forwardAddress } from '../forward/forward-address.ts'
import { forwardVariables } from '../forward/forward-variables.ts'
import { findResource } from '../resources/find-resource.ts'

export interface RunOptions extends AdminOptions {
  /** Address of the forward proxy. */
  readonly proxy?: string
}

const FORWARDED = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const
/** A key that could not be deleted, because this process was killed, ends by itself. */
const KEY_LIFE_MS = 7 * 86_400_000
/** As a shell has it: 128 and the number of the signal. */
const SIGNAL_CODES: Readonly<Partial<Record<NodeJS.Signals, number>>> = {
  SIGHUP: 129,
  SIGINT: 130,
  SIGKILL: 137,
  SIGTERM: 143,
}

/**
 * `agw run`: runs a command whose calls go through the forward proxy as an agent: with the key in AGW_KEY, else with one that is
 * deleted when the command has ended. The command gets no setting of the gateway, so no admin token.
 * @returns the exit code of the command
 * @throws with a message for the operator
 */
export async function runAs(
  agent: string,
  command: readonly string[],
  options: RunOptions,
  env: Environment,
): Promise<number> {
  const { url } = adminAccess(options, env)
  const agent_id = String((await findResource(options, 'agents', agent))['agent_id'])
  const files = await fetchCaFiles(url, env)
  const own = env['AGW_KEY']?.trim() || null
  const made = own === null ? await makeKey(options, agent_id) : null
  const key = own ?? made?.key ?? ''
  const proxy_url = forwardAddress(options.proxy ?? null, url, env, { agent_id, key })
  try {
    return await runCommand(command, {
      ...withoutSettings(env),
      ...forwardVariables({ proxy_url, ...files }, env),
    })
  } finally {
    if (made !== null) await deleteKey(options, agent_id, made.key_id)
  }
}

const keysOf = (agent_id: string): string => `/admin/agents/${encodeURIComponent(agent_id)}/keys`

async function makeKey(
  options: RunOptions,
  agent_id: string,
): Promise<{ readonly key: string; readonly key_id: string }> {
  const expires_at = new Date(Date.now() + KEY_LIFE_MS).toISOString()
  const answer = await callAdmin(options, 'POST', keysOf(agent_id), { name: 'agw run', expires_at })
  if (answer.status !== 201) throw new Error(messageOf(answer))
  return answer.body as { key: string; key_id: string }
}

async function deleteKey(options: RunOptions, agent_id: string, key_id: string): Promise<void> {
  const answer = await callAdmin(options, 'DELETE', `${keysOf(agent_id)}/${key_id}`)
  if (answer.status >= 300 && answer.status !== 404)
    throw new Error(`The key ${key_id} could not be deleted: ${messageOf(answer)}`)
}

const withoutSettings = (env: Environment): Environment =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('AGW_')))

function runCommand([program = '', ...args]: readonly string[], env: Environment): Promise<number> {
  const child = spawn(program, args, { stdio: 'inherit', env })
  const handlers = FORWARDED.map((signal) => [signal, () => child.kill(signal)] as const)
  for (const [signal, pass] of handlers) process.on(signal, pass)
  return new Promise<number>((resolve, reject) => {
    child.once('error', (error) => reject(new Error(`${program} cannot be run: ${error.message}`)))
    child.once('exit', (code, signal) =>
      resolve(code ?? (signal === null ? 1 : (SIGNAL_CODES[signal] ?? 1))),
    )
  }).finally(() => {
    for (const [signal, pass] of handlers) process.removeListener(signal, pass)
  })
}
