import type { Writable } from 'node:stream'
import type { AdminOptions } from '../deployment/admin-access.ts'
import { callAdmin, messageOf } from '../deployment/call-admin.ts'
import { terminalJson, terminalLines } from '../terminal/terminal-text.ts'
import { findResource } from './find-resource.ts'

/**
 * `agw connections delete`.
 * @throws with a message for the operator when there is none, or the admin API refuses
 */
export async function deleteConnection(
  idOrName: string,
  options: AdminOptions,
  stdout: Writable,
): Promise<void> {
  const found = await findResource(options, 'connections', idOrName)
  const [integration_id, connection_id] = [found['integration_id'], found['connection_id']].map(
    String,
  )
  const path = `/admin/integrations/${integration_id}/connections/${connection_id}`
  const answer = await callAdmin(options, 'DELETE', path)
  if (answer.status !== 204) throw new Error(messageOf(answer))
  stdout.write(
    options.output === 'json'
      ? `${terminalJson({ connection_id, deleted: true })}\n`
      : terminalLines(`Connection ${String(found['name'])} deleted.\n`),
  )
}
