import { writeFileSync } from 'node:fs'
import type { Writable } from 'node:stream'
import type { AdminOptions } from '../deployment/admin-access.ts'
import { configAsYaml, dumpConfig } from '../config/dump-config.ts'
import { readCurrentConfig } from '../config/read-current-config.ts'
import { terminalJson, terminalText } from '../terminal/terminal-text.ts'

export interface DumpOptions extends AdminOptions {
  readonly file: string
}

/**
 * `agw dump`: writes the deployment as a file for `agw apply`. It holds no secrets, only references.
 * @returns the exit code
 * @throws with a message for the operator when the admin API cannot be asked or the file not be written
 */
export async function runDump(
  options: DumpOptions,
  stdout: Writable,
  stderr: Writable,
): Promise<number> {
  const deployment = await readCurrentConfig(options)
  for (const { agent_name, name = agent_name, status } of [
    ...deployment.agents,
    ...deployment.connections,
  ])
    if (status === 'killed' || status === 'revoked')
      stderr.write(
        `${terminalText(String(name))} is ${status}. The file does not record this: in another deployment, apply would create it as active.\n`,
      )
  const config = dumpConfig(deployment)
  const text = options.output === 'json' ? `${terminalJson(config, 2)}\n` : configAsYaml(config)
  if (options.file === '-') stdout.write(text)
  else writeFileSync(options.file, text)
  return 0
}
