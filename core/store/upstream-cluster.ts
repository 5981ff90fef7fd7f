import { createHash } from 'node:crypto'
import type { Integration } from '../model.ts'

/** Envoy's route takes only names with this prefix from the processor. */
const PREFIX = 'own.'
const DIGEST_CHARACTERS = 32

/**
 * The name of the Envoy cluster that connects with the settings of an integration; null if the shared cluster will do. The
 * name contains a hash of the settings and the base URL, so a cluster never changes: once a change is in force, calls name a
 * new cluster, and none can be sent with a certificate of an older version.
 */
export function upstreamCluster({
  organization_id,
  integration_id,
  base_url,
  upstream,
}: Integration): string | null {
  if (upstream === undefined) return null
  const { connect_timeout_ms, pool_idle_timeout_ms, ca_certificates, client_certificate } = upstream
  const own = [connect_timeout_ms, pool_idle_timeout_ms, ca_certificates, client_certificate]
  if (own.every((value) => value === null)) return null
  const content = JSON.stringify([base_url, ...own, upstream.client_key ?? null])
  const digest = createHash('sha256').update(content).digest('hex').slice(0, DIGEST_CHARACTERS)
  return `${PREFIX}${organization_id}.${integration_id}.${digest}`
}

/** Connects in the same way, but always with HTTP/1.1, as most APIs need it for WebSockets. */
const FOR_SOCKETS = '.ws'

export const socketCluster = (name: string): string => name + FOR_SOCKETS

/** The cluster with the same settings, and whether this one is for WebSockets. */
export const withoutSocket = (
  name: string,
): { readonly name: string; readonly is_socket: boolean } =>
  name.endsWith(FOR_SOCKETS)
    ? { name: name.slice(0, -FOR_SOCKETS.length), is_socket: true }
    : { name, is_socket: false }

/** Whose cluster it is; null for a text that is no such name. */
export function ownerOfCluster(
  name: string,
): { readonly organization_id: string; readonly integration_id: string } | null {
  const match = /^own\.([\w-]+)\.([\w-]+)\.[0-9a-f]{32}$/.exec(name)
  if (match === null) return null
  const [, organization_id = '', integration_id = ''] = match
  return { organization_id, integration_id }
}
