import type { Writable } from 'node:stream'
import { Document } from 'yaml'
import type { AdminOptions } from '../deployment/admin-access.ts'
import { terminalJson } from '../terminal/terminal-text.ts'
import { yamlText } from '../terminal/yaml-text.ts'
import { findResource } from './find-resource.ts'
import type { ResourceName } from './resource-kinds.ts'

/**
 * `agw agents show` and its relatives: prints one resource with all members, as YAML or as JSON.
 * @returns the exit code
 * @throws with a message for the operator when there is none, or the admin API does not answer or refuses
 */
export async function showResource(
  name: ResourceName,
  idOrName: string,
  options: AdminOptions,
  stdout: Writable,
): Promise<number> {
  const { output } = options
  const resource = await findResource(options, name, idOrName)
  if (output === 'json') stdout.write(`${terminalJson(resource, 2)}\n`)
  else stdout.write(yamlText(new Document(resource, { aliasDuplicateObjects: false })))
  return 0
}
