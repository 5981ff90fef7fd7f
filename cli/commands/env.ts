import type { Writable } from 'node:stream'
import type { Environment } from '../../core/settings/settings.ts'
import { type AdminOptions, adminAccess } from '../deployment/admin-access.ts'
import { fetchCaFiles } from '../forward/fetch-ca-files.ts'
import { forwardAddress } from '../forward/forward-address.ts'
import { forwardVariables } from '../forward/forward-variables.ts'
import { findResource } from '../resources/find-resource.ts'

export type EnvForm = 'shell' | 'docker' | 'systemd'

export interface EnvOptions extends AdminOptions {
  readonly format: EnvForm
  /** Address of the forward proxy. */
  readonly proxy?: string
}

/**
 * `agw env`: prints the variables by which an agent calls through the forward proxy. For a shell the key stays a reference to
 * AGW_KEY, so that none is printed; files for Docker and systemd have no references.
 * @throws with a message for the operator
 */
export async function runEnv(
  agent: string,
  options: EnvOptions,
  env: Environment,
  stdout: Writable,
): Promise<void> {
  const { format, proxy = null } = options
  const key = env['AGW_KEY']?.trim() || null
  if (format !== 'shell' && key === null)
    throw new Error('Set AGW_KEY to a key of the agent: files for Docker and systemd need it.')
  const { url } = adminAccess(options, env)
  const { agent_id } = await findResource(options, 'agents', agent)
  const named = { agent_id: String(agent_id), key: format === 'shell' ? null : key }
  const place = {
    proxy_url: forwardAddress(proxy, url, env, named),
    ...(await fetchCaFiles(url, env)),
  }
  const lines = Object.entries(forwardVariables(place, env)).map(([name, value]) =>
    LINES[format](name, value),
  )
  stdout.write(`${lines.join('\n')}\n`)
}

const LINES: Readonly<Record<EnvOptions['format'], (name: string, value: string) => string>> = {
  // Within double quotes, for the reference to the key.
  shell: (name, value) => `export ${name}="${value.replace(/["\\`]/g, '\\$&')}"`,
  docker: (name, value) => `${name}=${value}`,
  // A percent sign begins a specifier of a unit, also in `Environment=`.
  systemd: (name, value) =>
    `Environment="${name}=${value.replace(/%/g, '%%').replace(/["\\]/g, '\\$&')}"`,
}
